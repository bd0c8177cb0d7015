"""Which Chromium the browser tests drive; as a program (``python -m tests.chromium``), installs one if there is none.

Looked for on the PATH first, then among playwright's own. Installed by playwright, and where that cannot be, by
Debian's package as root. If nothing works, the program says what to install and exits with status 1.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ADVICE = f"""no Chromium for the browser tests: install one so that one of {", ".join(NAMES)} is on the PATH
(Debian, as root: apt-get install -y chromium), or run: python -m playwright install --with-deps chromium"""
LAUNCH_OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

# In a process of its own, since playwright refuses to start twice in one that already runs it.
_PLAYWRIGHTS_OWN = (
    "from playwright.sync_api import sync_playwright\n"
    "with sync_playwright() as playwright: print(playwright.chromium.executable_path)"
)


def find() -> Path | None:
    """The first Chromium here that starts, or None."""
    for name in NAMES:
        path = shutil.which(name)
        if path and _starts(path):
            return Path(path)
    answer = subprocess.run([sys.executable, "-c", _PLAYWRIGHTS_OWN], capture_output=True, text=True, check=False)
    own = answer.stdout.strip()
    return Path(own) if own and _starts(own) else None


def install() -> Path | None:
    """The Chromium that `find` finds after installing one, or None if no way of installing works."""
    for commands in _ways():
        for command in commands:
            print(f"no Chromium yet, trying: {' '.join(command)}", file=sys.stderr, flush=True)
            if subprocess.run(command, check=False, stdin=subprocess.DEVNULL).returncode != 0:
                break
        if found := find():
            return found
    return None


def _ways() -> list[list[list[str]]]:
    """Each way of installing one: commands that run in turn until one fails."""
    ways = [[[sys.executable, "-m", "playwright", "install", "chromium"]]]
    if shutil.which("apt-get") and os.geteuid() == 0:
        apt = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-y", "--no-install-recommends"]
        ways.append([[*apt, "update"], [*apt, "install", "chromium", "fonts-liberation"]])
    return ways


def _starts(path: str) -> bool:
    # A snap's stub and a browser without its libraries are files too, but neither prints a version.
    try:
        return subprocess.run([path, "--version"], capture_output=True, check=False, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


if __name__ == "__main__":
    chromium = find() or install()
    if chromium is None:
        sys.exit(ADVICE)
    print(f"browser tests drive {chromium}")
