"""A wheel built from this repository carries all that the commands need, in an environment that has no checkout.

The environment borrows the running one's dependencies by a path file, so that the test needs no network; path files in
a folder borrowed so are not read, and an editable gradcloud there stays out of sight.
"""

import json
import os
import re
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PRESETS = sorted(path.stem for path in (ROOT / "presets").glob("*.json"))

pytestmark = pytest.mark.slow


def run(command: Sequence[str | Path], folder: Path) -> str:
    """What the command prints; it must succeed."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, f"{command} exits with {done.returncode}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT], folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def bin_folder(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin/ of an environment in which the wheel is installed."""
    home = tmp_path_factory.mktemp("venv")
    run([sys.executable, "-m", "venv", "--without-pip", home], home)
    python = home / "bin" / "python"
    run([sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel], home)
    site = Path(run([python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"], home).strip())
    borrowed = {sysconfig.get_paths()[name] for name in ("purelib", "platlib")}
    (site / "borrowed.pth").write_text("\n".join(sorted(borrowed)) + "\n", "utf-8")
    return python.parent


def test_the_wheel_has_the_packages_presets_and_weights_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"sim", "app", "gradcloud-0.1.0.dist-info"}
    carried = {name.removeprefix("sim/_data/") for name in names if name.startswith("sim/_data/")}
    shipped = {path.relative_to(ROOT).as_posix() for path in (ROOT / "presets").rglob("*.json")}
    shipped |= {path.relative_to(ROOT).as_posix() for path in (ROOT / "assets").glob("*.json")}
    shipped |= {path.relative_to(ROOT).as_posix() for path in (ROOT / "assets").rglob("*.safetensors")}
    assert shipped <= carried
    assert any(name.endswith(".safetensors") for name in carried)


def test_the_installed_code_is_the_wheels_own(bin_folder: Path, tmp_path: Path) -> None:
    program = "import app, sim, sim.resources as r; print(*sim.__path__, *app.__path__, r.presets(), r.assets())"
    found = run([bin_folder / "python", "-c", program], tmp_path).split()
    assert len(found) == 4
    assert all(path.startswith(str(bin_folder.parent)) for path in found), found


@pytest.mark.parametrize("name", PRESETS)
def test_an_installed_check_accepts_the_shipped_preset(name: str, bin_folder: Path, tmp_path: Path) -> None:
    run([bin_folder / "gradcloud", "check", ROOT / "presets" / f"{name}.json"], tmp_path)


def test_an_installed_schema_is_json(bin_folder: Path, tmp_path: Path) -> None:
    assert json.loads(run([bin_folder / "gradcloud", "schema"], tmp_path))["type"] == "object"


def test_an_installed_frame_finds_preset_and_weights_by_name(bin_folder: Path, tmp_path: Path) -> None:
    frame = json.loads(run([bin_folder / "gradcloud", "frame", "rl-small-batch", "--json", "-"], tmp_path))
    assert frame["sites"]


def test_an_installed_train_takes_a_step(bin_folder: Path, tmp_path: Path) -> None:
    command = [bin_folder / "gradcloud", "train", "rl-small-batch", "--steps", "1", "--json", "-"]
    records = [json.loads(line) for line in run(command, tmp_path).splitlines()]
    assert records[-1]["step"] == 1


def test_installed_weights_have_the_hashes_they_should(bin_folder: Path, tmp_path: Path) -> None:
    run([bin_folder / "gradcloud", "weights", "verify", "--hashes-only"], tmp_path)


def test_an_installed_serve_answers_with_the_page(bin_folder: Path, tmp_path: Path) -> None:
    # Whoever serves from a folder with programs of these names still means the installed ones.
    for name in ("app.py", "sim.py"):
        (tmp_path / name).write_text("raise SystemExit('not this one')", "utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path / "log"
    with log.open("w") as sink:
        server = subprocess.Popen(
            [bin_folder / "gradcloud", "serve", "--port", str(port)], cwd=tmp_path, stdout=sink, stderr=sink
        )
        try:
            page = answer(f"http://127.0.0.1:{port}/app", server)
        finally:
            server.terminate()
            server.wait(timeout=30)
    said = log.read_text("utf-8")
    assert page is not None, f"no answer: {said}"
    assert "gradcloud" in page
    # A page whose program failed is served too, so only the log tells.
    assert not re.search(r"Traceback|Error running application", said), said


def answer(address: str, server: subprocess.Popen[bytes]) -> str | None:
    """The page at the address once it is there; None if the server ends or a minute passes without it."""
    for _ in range(600):
        if server.poll() is not None:
            return None
        try:
            with urllib.request.urlopen(address, timeout=60) as page:
                return str(page.read().decode("utf-8"))
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    return None
