"""Fixtures that every test may ask for."""

from typing import Any

import pytest

from tests import chromium


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """How pytest-playwright starts the browser: the Chromium of this machine, and quiet on the network."""
    found = chromium.find()
    if found is None:
        pytest.fail(chromium.ADVICE, pytrace=False)
    return browser_type_launch_args | {"executable_path": str(found), "args": list(chromium.LAUNCH_OPTIONS)}
