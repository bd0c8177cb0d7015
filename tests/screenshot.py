"""Takes the README's pictures from the running page: ``python -m tests.screenshot``, or some by name."""

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, expect

from tests.page import DRAWN, browsing
from tests.server import ROOT, serving

PATIENCE = 120_000
#: Colours that a picture keeps: with fewer, small marks take the colour of large ones.
COLORS = 256


@dataclass(frozen=True)
class Shot:
    """One picture: what the address asks for, and how large the window is."""

    query: str
    width: int = 1280
    height: int = 720
    scale: float = 1


SHOTS = {
    "screenshot": Shot("", scale=1.5),
    "screenshot-dark": Shot("?theme=dark"),
    "screenshot-projector": Shot("?theme=projector"),
    "screenshot-phone": Shot("", 390, 844),
    "screenshot-compare": Shot("?page=compare&with=opsd-collapse,opsd-clipped,rl-grpo,opd-same-family"),
}


def main(names: list[str]) -> None:
    """Write assets/NAME.png of each: the first picture that the page shows, once all its numbers are there."""
    if unknown := [name for name in names if name not in SHOTS]:
        raise SystemExit(f"unknown picture {unknown[0]!r}; allowed: {', '.join(SHOTS)}")
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as address:
        for name in names or SHOTS:
            path = ROOT / "assets" / f"{name}.png"
            shot = SHOTS[name]
            with browsing(shot.width, shot.height, shot.scale) as page:
                page.set_default_timeout(PATIENCE)
                take(page, address + shot.query, path)


def take(page: Page, address: str, path: Path) -> None:
    """Photograph a page, in few colours."""
    page.goto(address)
    if "page=" in address:
        page.wait_for_function(COMPARED)
    else:
        page.wait_for_function(DRAWN)
    for pending in ("computing", "…"):
        expect(page.get_by_text(pending, exact=pending == "…")).to_have_count(0, timeout=PATIENCE)
    # The page's letters and lines come a moment after its numbers.
    page.wait_for_timeout(1500)
    page.screenshot(path=str(path))
    with Image.open(path) as taken:
        few = taken.convert("RGB").quantize(COLORS, method=Image.Quantize.MEDIANCUT, kmeans=2, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


#: Whether every picture that is compared is on its canvas.
COMPARED = """() => {
  const document = window.Bokeh?.documents[0]
  return !!document && ["a", "b", "c", "d"].every((letter) =>
    document.get_model_by_name(`arrows-${letter}`)?.data.x.length > 0)
}"""

if __name__ == "__main__":
    main(sys.argv[1:])
