"""The page, served for tests, the bench and pictures."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: Seconds that a server may take to answer on a busy machine.
PATIENCE = 120


@contextmanager
def serving(folder: Path, root: Path = ROOT, port: int = 0, more: Sequence[str] = ()) -> Iterator[str]:
    """The address of the page, served from a folder that has nothing to do with it, until the block ends.

    `root` holds the program: this checkout, or a copy of it. `port` is a free one unless it is given; `more` are
    further options of the server.
    """
    port = port or free_port()
    host = f"127.0.0.1:{port}"
    options = [*more, "--port", str(port), "--address", "127.0.0.1", "--allow-websocket-origin", host]
    paths = os.pathsep.join(filter(None, (str(root), os.environ.get("PYTHONPATH"))))
    with (folder / "server.log").open("w+") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "panel", "serve", str(root / "app"), *options],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
            stdout=log,
            stderr=log,
        )
        try:
            _answered(f"http://{host}/app", server, Path(log.name))
            yield f"http://{host}/app"
        finally:
            server.terminate()
            server.wait(PATIENCE)


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _answered(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            urllib.request.urlopen(address, timeout=60).close()
            return
        except OSError:
            assert server.poll() is None, log.read_text("utf-8")
            assert time.monotonic() < until, f"the server did not answer within {PATIENCE} s"
            time.sleep(0.2)
