"""What the server has computed before the browser is there."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.page import DRAWN
from tests.server import serving

pytestmark = pytest.mark.browser

#: Milliseconds that a picture may take on a busy machine.
PATIENCE = 60_000


def test_a_picture_that_is_ready_before_a_slow_browser_arrives(page: Page, tmp_path: Path) -> None:
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 3})
    with serving(tmp_path) as address:
        for preset in ("rl-small-batch", "opd-cross-family"):
            page.goto(f"{address}?preset={preset}", timeout=PATIENCE)
            page.wait_for_function(DRAWN, timeout=PATIENCE)
            expect(page.locator(".verdict h2")).to_have_text(re.compile("safe radius"), timeout=PATIENCE)
