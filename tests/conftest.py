"""Fixtures that every test may ask for, and the order in which files are tested."""

import signal
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tests import chromium

# What is run in a shell's background ignores Ctrl-C, and so would all that it starts: some tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

#: Seconds that a test of a marker takes, about.
SECONDS = {"browser": 6, "slow": 10}
#: Characters of what was wrong that are told once more at the end.
BRIEF = 300
#: Where playwright begins to tell all that a page says.
PAGE = "Aria snapshot:"
TOLD = {"rerun": "failed and was run once more", "error": "could not be run", "failed": "failed"}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put files that take long first: workers that take whole files then have short ones left to end together with.

    A test of the browser that fails is run once more: it shares two cores with others, and both are told.
    """
    seconds: Counter[Any] = Counter()
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=1))
        seconds[item.path] += sum(each for name, each in SECONDS.items() if item.get_closest_marker(name))
    items.sort(key=lambda item: (-seconds[item.path], str(item.path)))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """Name each test that failed once more, briefly, as the last thing: of a long log often only the end is at hand.

    The summary before this has a browser's whole page in it, where something was not found there.
    """
    yield
    for how, told in TOLD.items():
        for report in terminalreporter.getreports(how):
            crash = getattr(report.longrepr, "reprcrash", None)
            at = f"line {crash.lineno}: {crash.message}" if crash else report.longreprtext
            words = " ".join(at.split(PAGE)[0].split())
            terminalreporter.write_line(f"{told}: {report.nodeid}, {report.when}, {words[:BRIEF]}")


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """How pytest-playwright starts the browser: the Chromium of this machine, and quiet on the network."""
    found = chromium.find()
    if found is None:
        pytest.fail(chromium.ADVICE, pytrace=False)
    return browser_type_launch_args | {"executable_path": str(found), "args": list(chromium.LAUNCH_OPTIONS)}
