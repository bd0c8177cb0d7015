"""The page, served from a shell."""

import os
import sys
import sysconfig
from pathlib import Path
from typing import Annotated

import typer

from app import reach, visitors
from sim.shell import whole

#: Seconds that a visit may be kept at most.
_LONGEST = 24 * 3600


def register(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command()(serve)


def serve(
    port: Annotated[int, typer.Option(parser=whole(1, 65535), metavar="N", help="Port to listen on.")] = 5006,
    address: Annotated[
        str, typer.Option(help="Address to listen on: localhost for this machine only, 0.0.0.0 for all its networks.")
    ] = "localhost",
    origin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST[:PORT]",
            help="Host under which browsers reach the page, if that is not this machine's own name, as behind a proxy; "
            "repeatable. A page that shows it in a frame need not be named.",
        ),
    ] = None,
    prefix: Annotated[str, typer.Option(metavar="PATH", help="Path before /app, as behind a proxy.")] = "",
    sessions: Annotated[
        int, typer.Option(parser=whole(1, visitors.MOST), metavar="N", help="How many may look at once.")
    ] = visitors.DEFAULT,
    lifetime: Annotated[
        int,
        typer.Option(
            parser=whole(1, _LONGEST), metavar="SECONDS", help="How long a visit is kept once its page is gone."
        ),
    ] = 15,
    sandboxed: Annotated[
        bool,
        typer.Option(
            "--sandboxed",
            help="Serve frames without an origin too: sandbox without allow-same-origin. Off by default, since any "
            "page can make such a frame, and could then talk to this server.",
        ),
    ] = False,
    show: Annotated[bool, typer.Option("--show", help="Open the page in a browser.")] = False,
) -> None:
    """Serve the page; Ctrl-C stops it."""
    origins, path = [reach.origin(each) for each in origin or []], reach.prefix(prefix)
    addresses = reach.listened(address, port)
    hosts = reach.hosts(address, addresses)
    allowed = dict.fromkeys([*(f"{host}:{port}" for host in hosts), *origins, *[reach.NO_ORIGIN] * sandboxed])
    folder = Path(__file__).resolve().parent
    # -P: a file called app.py or sim.py where the user stands is not what is meant.
    command = [sys.executable, "-P", "-m", "panel", "serve", str(folder), f"--port={port}", f"--address={address}"]
    command += [f"--unused-session-lifetime={1000 * lifetime}"]
    # Looked for more often than a visit lasts, and not so often that it costs anything.
    command += [f"--check-unused-sessions={1000 * max(1, min(lifetime, 60))}"]
    if path:
        command += [f"--prefix={path}"]
    # By the environment, which takes an address in brackets and no host at all; and no other list of hosts then counts.
    os.environ["BOKEH_ALLOW_WS_ORIGIN"] = ",".join(allowed)
    os.environ[visitors.VARIABLE] = str(sessions)
    if str(folder.parent) != sysconfig.get_path("purelib"):
        known = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = f"{known}{os.pathsep}{folder.parent}" if known else str(folder.parent)
    page = f"http://{hosts[0]}:{port}/{f'{path}/' * bool(path)}app"
    for line in told(page, reach.private(addresses), sessions, sandboxed, reach.ANY in origins):
        typer.echo(line, err=True)
    # Replaces this process, so that signals reach the server itself.
    os.execv(sys.executable, command + ["--show"] * show)


def told(page: str, private: bool, sessions: int, sandboxed: bool, anywhere: bool) -> list[str]:
    """Where the page is and who can get at it, a line each."""
    who = "for this machine only" if private else "for whoever gets at this machine's network"
    lines = [f"gradcloud: in some seconds at {page}, {who}; {sessions} at once. Ctrl-C stops it."]
    if not private:
        lines.append("warning: there is no password, and what is sent can be read on the way.")
    if sandboxed:
        lines.append("warning: --sandboxed lets any page that a browser here opens use this server.")
    if anywhere:
        lines.append("warning: --origin * lets any page that a browser here opens use this server; name hosts instead.")
    return lines
