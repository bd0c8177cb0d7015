"""A slide that shows the page in a frame: the page as the command serves it, and slides under another host name."""

import os
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Frame, Page

from tests.page import DRAWN, LAID_OUT
from tests.server import PATIENCE, ROOT, free_port

#: A slide with a style and a frame: a field of its own that has the focus, and room to scroll.
SLIDE = """<!doctype html><html lang="en"><title>deck</title><body style="margin: 0">
<input id="own" autofocus aria-label="own"><div id="slide" style="%s">%s</div><div style="height: 3000px"></div>
<script>var heard = []; addEventListener("keydown", (event) => heard.push(event.key))</script></body></html>"""

#: Seconds that the parts of a page may take to find their places, on a busy machine.
SETTLED = 5.0
#: What scrolls, and would show a bar for it, through the shadow roots.
BARS = """() => {
  const roots = [document], found = []
  while (roots.length) {
    for (const each of roots.pop().querySelectorAll("*")) {
      if (each.shadowRoot) roots.push(each.shadowRoot)
      const {overflowX, overflowY, scrollbarWidth} = getComputedStyle(each)
      const over = (overflowY === "scroll" || overflowY === "auto") && each.scrollHeight > each.clientHeight
        || (overflowX === "scroll" || overflowX === "auto") && each.scrollWidth > each.clientWidth
      if (over && scrollbarWidth !== "none") found.push(each.outerHTML.slice(0, 90))
    }
  }
  return found
}"""
PLACED = """() => {
  const {dx, text} = Bokeh.documents[0].get_model_by_name("plane").renderers.find((each) => each.name === "words")
    .data_source.data
  return text.length > 0 && [...dx].filter((each) => Math.abs(each) < 1e4).length > 0
}"""
FOCUSED = "document.activeElement.id"
ARMED = "document.documentElement.dataset.armed !== undefined"
UNSEEN = "document.documentElement.dataset.unseen !== undefined"
ZOOM = """() => {
  const {x_range, inner_width} = Bokeh.documents[0].get_model_by_name("plane")
  return inner_width / (x_range.end - x_range.start)
}"""

Host = Callable[[str], str]


@contextmanager
def commanded(folder: Path, options: Sequence[str]) -> Iterator[str]:
    """The address of the page as ``gradcloud serve`` serves it with some options, until the block ends."""
    port = free_port()
    command = [sys.executable, "-P", "-c", "from app.cli import main; main()", "serve", "--port", str(port), *options]
    address, until = f"http://127.0.0.1:{port}/app", time.monotonic() + PATIENCE
    with (folder / "server.log").open("w+") as log:
        environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        server = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            while True:
                try:
                    urllib.request.urlopen(address, timeout=60).close()
                    break
                except OSError:
                    assert server.poll() is None, Path(log.name).read_text("utf-8")
                    assert time.monotonic() < until, f"the server did not answer within {PATIENCE} s"
                    time.sleep(0.2)
            yield address
        finally:
            server.terminate()
            server.wait(PATIENCE)


@contextmanager
def hosting() -> Iterator[Host]:
    """Serves pages at localhost, each at the address that is given for it, until the block ends."""
    pages: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = self.path.lstrip("/")
            found = pages[int(asked)] if asked.isdigit() else ""
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(found.encode())

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def serve(html: str) -> str:
        pages.append(html)
        return f"http://localhost:{server.server_address[1]}/{len(pages) - 1}"

    try:
        yield serve
    finally:
        server.shutdown()
        server.server_close()


def ready(frame: Frame) -> None:
    """Wait for the picture, and for what makes the page a guest."""
    # Where nobody sees it, a frame of another origin has no animation frames to look at it by.
    frame.wait_for_function(DRAWN, polling=300)
    # The shortcuts and what makes the page a guest are there too.
    frame.locator("dialog[aria-labelledby=keys]").wait_for(state="attached")
    frame.locator(".hint[role=status]").wait_for(state="attached")


def events(frame: Frame) -> Any:
    """The rows of the log."""
    return frame.locator(".log tbody tr")


def clock(frame: Frame) -> Any:
    """Where the player says that it stands."""
    return frame.locator(".player .where")


def inside(frame: Frame, selector: str) -> dict[str, float]:
    """Where an element stands in its frame; it is all in sight there, once the page has been laid out."""
    until = time.monotonic() + SETTLED
    while True:
        found: dict[str, float] = frame.locator(selector).first.evaluate("""(each) => {
          const {x, y, width, height, right, bottom} = each.getBoundingClientRect()
          return {x, y, width, height, right, bottom, w: innerWidth, h: innerHeight}
        }""")
        some = found["width"] > 0 and found["height"] > 0
        begins = min(found["x"], found["y"]) >= -0.5
        if some and begins and found["right"] <= found["w"] + 0.5 and found["bottom"] <= found["h"] + 0.5:
            return found
        assert time.monotonic() < until, (selector, found)
        frame.wait_for_timeout(100)


def resize(deck: Page, frame: Frame, width: int, height: int) -> None:
    """Give the frame another size, and wait until the page in it has been laid out."""
    deck.locator("iframe").evaluate("(each, [w, h]) => { each.width = w; each.height = h }", [width, height])
    frame.wait_for_function("([w, h]) => innerWidth === w && innerHeight === h", arg=[width, height])
    frame.evaluate(LAID_OUT)
