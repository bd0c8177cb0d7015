"""Fixtures that every test may ask for, and the order in which files are tested."""

import signal
from collections import Counter
from typing import Any

import pytest

from tests import chromium

# What is run in a shell's background ignores Ctrl-C, and so would all that it starts: some tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

#: Seconds that a test of a marker takes, about.
SECONDS = {"browser": 6, "slow": 10}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put files that take long first: workers that take whole files then have short ones left to end together with."""
    seconds: Counter[Any] = Counter()
    for item in items:
        seconds[item.path] += sum(each for name, each in SECONDS.items() if item.get_closest_marker(name))
    items.sort(key=lambda item: (-seconds[item.path], str(item.path)))


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """How pytest-playwright starts the browser: the Chromium of this machine, and quiet on the network."""
    found = chromium.find()
    if found is None:
        pytest.fail(chromium.ADVICE, pytrace=False)
    return browser_type_launch_args | {"executable_path": str(found), "args": list(chromium.LAUNCH_OPTIONS)}
