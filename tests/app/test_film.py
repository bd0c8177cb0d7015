"""Films of frames: all of them, in one scale, with the record inside; and what a machine without ffmpeg says."""

import io
import json
import re
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from app import encoder
from app.encoder import EncodingError, encoded, ffmpeg
from app.film import film, film_kinds
from app.gif import Colours
from app.palette import DARK, LIGHT, THEMES, Palette
from sim.config import Config, Source, Teacher
from sim.errors import Cancelled, InvalidInput
from sim.frame import Frame
from sim.link import Link
from sim.opening import parse_file
from sim.presets import Preset
from sim.record import record
from sim.timeline import Moment
from tests.app.conftest import simulator

HINTED = Config(source=Source(prompts=2, group_size=2), teacher=Teacher(policy="self", context="hint"))
LINK = Link(Preset(title="A film", lesson="A lesson.", config=HINTED), None, Moment(HINTED))


@cache
def frames(count: int = 3) -> list[Frame]:
    return [simulator().frame(Moment(HINTED, draw=draw)) for draw in range(count)]


@cache
def made(kind: str) -> bytes:
    return film(frames(), LINK, kind, 4, plain=True)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files come, and nothing else."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def stills(data: bytes) -> Iterator[np.ndarray]:
    with Image.open(io.BytesIO(data)) as image:
        for index in range(getattr(image, "n_frames", 1)):
            image.seek(index)
            yield np.asarray(image.convert("RGB")).astype(int)


def decoded(data: bytes, folder: Path, kind: str) -> np.ndarray:
    file = folder / f"film.{kind}"
    file.write_bytes(data)
    command = [str(ffmpeg()), "-v", "error", "-i", str(file), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    raw = subprocess.run(command, capture_output=True, check=True).stdout
    return np.frombuffer(raw, np.uint8).reshape(-1, 720, 720, 3).astype(int)


def comment(data: bytes, folder: Path, kind: str) -> str:
    file = folder / f"film.{kind}"
    file.write_bytes(data)
    command = [str(ffmpeg()), "-v", "error", "-i", str(file), "-f", "ffmetadata", "-"]
    said = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    (line,) = (each for each in said.splitlines() if each.lower().startswith("comment="))
    return re.sub(r"\\(.)", r"\1", line.partition("=")[2])


def test_a_gif_has_every_frame_and_shows_something_else_in_each() -> None:
    found = list(stills(made("gif")))
    assert len(found) == 3
    assert all((one != other).any() for one, other in pairwise(found))
    with Image.open(io.BytesIO(made("gif"))) as image:
        assert (image.size, image.info["loop"], image.info["duration"]) == ((720, 720), 0, 250)
        assert json.loads(image.info["comment"]) == record(LINK)


@pytest.mark.parametrize("palette", THEMES.values(), ids=list(THEMES))
def test_a_gif_keeps_the_colours_of_a_theme(palette: Palette) -> None:
    roles = ("paper", "ink", "muted", "hair", "cloud", "update", "ring", "inside", "near", "past")
    colours = [[int(getattr(palette, role)[i : i + 2], 16) for i in (1, 3, 5)] for role in roles]
    shades = Colours(palette)
    assert len(shades.shades) <= 256
    found = shades.image(np.array([colours], np.uint8)).convert("RGB")
    assert np.asarray(found).tolist() == [colours]


def test_a_colour_between_becomes_the_nearest_shade() -> None:
    shades = Colours(LIGHT)
    seen = np.random.default_rng(0).integers(0, 256, (1, 50, 3)).astype(np.uint8)
    found = np.asarray(shades.image(seen).convert("RGB")).astype(int)
    far = ((seen[0][:, None].astype(int) - shades.shades) ** 2).sum(axis=2)
    assert (((found[0] - seen[0]) ** 2).sum(axis=1) == far.min(axis=1)).all()


def test_all_frames_of_a_film_are_in_one_scale() -> None:
    first, last = (list(stills(made("gif")))[index] for index in (0, -1))
    ring = [int(LIGHT.ring[i : i + 2], 16) for i in (1, 3, 5)]
    where = [(np.abs(each - ring).max(axis=2) == 0)[:200] for each in (first, last)]
    assert where[0].sum() > 50
    assert (where[0] & where[1]).sum() > 0.9 * where[0].sum()


def test_a_film_wears_the_links_theme() -> None:
    dark = Link(LINK.preset, None, LINK.moment, {"theme": "dark"})
    (found,) = stills(film(frames()[:1], dark, "gif", plain=True))
    assert found[0, 0].tolist() == [int(DARK.paper[i : i + 2], 16) for i in (1, 3, 5)]


@pytest.mark.parametrize("kind", ["mp4", "webm"])
def test_ffmpeg_writes_every_frame_with_the_record(kind: str, folder: Path) -> None:
    data = film(frames(), LINK, kind, 4, plain=True)
    assert not list(folder.iterdir())
    found = decoded(data, folder, kind)
    expected = list(stills(made("gif")))
    assert len(found) == 3
    for one, other in zip(found, expected, strict=True):
        assert np.abs(one - other).mean() < 3
    assert json.loads(comment(data, folder, kind)) == record(LINK)
    assert film(frames(), LINK, kind, 4, plain=True) == data


@pytest.mark.parametrize("kind", ["gif", "mp4", "webm"])
def test_a_film_opens_as_the_moment_of_its_first_frame(kind: str) -> None:
    found = parse_file(made(kind), f"a.{kind}")
    assert found.moment.key == LINK.moment.key
    assert found.preset == LINK.preset


def test_progress_is_told_and_a_film_that_is_stopped_leaves_nothing(folder: Path) -> None:
    told: list[tuple[int, int]] = []
    film(frames(), LINK, "gif", plain=True, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]
    for kind in film_kinds():
        told.clear()
        with pytest.raises(Cancelled, match="stopped after 2 of 3 frames"):
            film(frames(), LINK, kind, plain=True, progress=lambda *each: told.append(each),
                 cancelled=lambda: len(told) == 2)  # fmt: skip
        assert not list(folder.iterdir())


def test_what_is_not_allowed_is_refused_at_once() -> None:
    with pytest.raises(InvalidInput) as refused:
        film([], LINK, "gif", 100)
    assert refused.value.problems == ["frames: got 0, allowed 1 to 300", "fps: got 100, allowed 0.2 to 30"]
    with pytest.raises(InvalidInput, match='kind: got "avi", allowed gif, mp4 or webm'):
        film(frames(), LINK, "avi")


def test_a_machine_without_ffmpeg_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    assert film_kinds() == {"gif": "", "mp4": "", "webm": ""}
    monkeypatch.setattr(encoder, "ffmpeg", lambda: None)
    assert film_kinds()["gif"] == ""
    for kind in ("mp4", "webm"):
        assert film_kinds()[kind] == (
            "MP4 and WebM need ffmpeg, which is not installed: pip install imageio-ffmpeg, or install ffmpeg"
        )
        with pytest.raises(InvalidInput, match="imageio-ffmpeg, or install ffmpeg, or choose gif"):
            film(frames(), LINK, kind)


def test_without_imageio_the_ffmpeg_of_the_machine_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(encoder, "import_module", gone)
    monkeypatch.setattr(encoder.shutil, "which", {"ffmpeg": "/opt/ffmpeg"}.get)
    assert ffmpeg() == "/opt/ffmpeg"


def test_an_ffmpeg_that_lacks_an_encoder_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder, "_encoders", lambda _: " V..... libvpx-vp9 ")
    assert "mp4 needs libx264, which" in film_kinds()["mp4"]
    assert film_kinds()["webm"] == ""


def test_what_ffmpeg_says_when_it_fails_is_told(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr(encoder, "_ENCODERS", {"mp4": ("libx264", ("-crf", "many"))})
    pictures = iter([np.zeros((16, 16, 3), np.uint8)] * 3)
    with pytest.raises(EncodingError, match=r"ffmpeg could not write mp4: .*many"):
        encoded(pictures, "mp4", 2, "a comment")
    assert not list(folder.iterdir())
