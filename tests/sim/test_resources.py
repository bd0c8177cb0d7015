"""Where shipped files lie, in a checkout."""

from pathlib import Path

import pytest

from sim import resources
from sim.errors import GradcloudError

ROOT = Path(__file__).parents[2]


def test_a_checkout_reads_its_own_folders_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert resources.presets() == ROOT / "presets"
    assert resources.assets() == ROOT / "assets"


def test_a_wheel_reads_what_it_carries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "presets").mkdir()
    monkeypatch.setattr(resources, "_WHEEL_DATA", tmp_path)
    assert resources.presets() == tmp_path / "presets"


def test_a_missing_folder_is_an_error_that_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "_WHEEL_DATA", tmp_path)
    with pytest.raises(GradcloudError, match=r"assets: no such folder.*install it again"):
        resources.assets()
