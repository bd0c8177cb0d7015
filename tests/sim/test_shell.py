"""A file that a command writes is there as a whole, or is what it was before."""

import os
from pathlib import Path

import pytest

from sim.shell import replaced


def test_a_disk_that_is_full_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "lesson.html"
    target.write_text("before")

    def full(path: Path, data: bytes) -> int:
        with path.open("wb") as file:
            file.write(data[:1])
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        replaced("--output", str(target), b"after")
    assert target.read_text() == "before"
    assert list(tmp_path.iterdir()) == [target]


def test_what_a_link_leads_to_is_written_and_the_link_stays(tmp_path: Path) -> None:
    target, link = tmp_path / "lesson.html", tmp_path / "link.html"
    target.write_text("before")
    link.symlink_to(target)
    replaced("--output", str(link), b"after")
    assert link.is_symlink()
    assert target.read_text() == "after"


def test_a_file_is_written_in_a_folder_that_takes_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "lesson.html"
    target.write_text("before")
    monkeypatch.setattr(os, "access", lambda path, _: Path(path) != tmp_path)
    monkeypatch.setattr(Path, "replace", lambda *_: pytest.fail("another file took its place"))
    replaced("--output", str(target), b"after")
    assert target.read_text() == "after"
