"""Takes the README's picture from the running page: ``python -m tests.screenshot``."""

import tempfile
from pathlib import Path

from playwright.sync_api import expect

from tests.page import DRAWN, browsing
from tests.server import ROOT, serving

PATIENCE = 120_000


def main() -> None:
    """Write assets/screenshot.png: the first picture that the page shows, once all its numbers are there."""
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as address, browsing(scale=1.5) as page:
        page.set_default_timeout(PATIENCE)
        page.goto(address)
        page.wait_for_function(DRAWN)
        expect(page.get_by_text("computing")).to_have_count(0, timeout=PATIENCE)
        page.screenshot(path=str(ROOT / "assets" / "screenshot.png"))


if __name__ == "__main__":
    main()
