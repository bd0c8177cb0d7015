"""The page, served from a shell."""

import os
import sys
import sysconfig
from pathlib import Path
from typing import Annotated

import typer

from sim.shell import whole


def register(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command()(serve)


def serve(
    port: Annotated[int, typer.Option(parser=whole(1, 65535), metavar="N", help="Port to listen on.")] = 5006,
    address: Annotated[str, typer.Option(help="Address to listen on.")] = "localhost",
    origin: Annotated[
        list[str] | None,
        typer.Option(metavar="HOST[:PORT]", help="Host name under which browsers may reach it; repeatable."),
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="Open the page in a browser.")] = False,
) -> None:
    """Serve the page; Ctrl-C stops it."""
    folder = Path(__file__).resolve().parent
    listening = f"[{address}]" if ":" in address else address
    hosts = dict.fromkeys([f"localhost:{port}", f"127.0.0.1:{port}", f"{listening}:{port}", *(origin or [])])
    # -P: a file called app.py or sim.py where the user stands is not what is meant.
    command = [sys.executable, "-P", "-m", "panel", "serve", str(folder), f"--port={port}", f"--address={address}"]
    command += [f"--allow-websocket-origin={host}" for host in hosts]
    if str(folder.parent) != sysconfig.get_path("purelib"):
        known = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = f"{known}{os.pathsep}{folder.parent}" if known else str(folder.parent)
    # Replaces this process, so that signals reach the server itself.
    os.execv(sys.executable, command + ["--show"] * show)
