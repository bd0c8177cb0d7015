"""Pictures to MP4 or WebM through ffmpeg: the one that imageio-ffmpeg brings, or one that is installed."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from sim.errors import GradcloudError
from sim.record import MARK

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

INSTALL = "pip install imageio-ffmpeg, or install ffmpeg"
#: What writes each kind, and how: few artefacts around thin lines, and a form that every browser and slide plays.
_ENCODERS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "mp4": ("libx264", ("-crf", "18", "-preset", "medium", "-tune", "animation", "-movflags", "+faststart")),
    "webm": ("libvpx-vp9", ("-crf", "24", "-b:v", "0", "-row-mt", "0")),
}


class EncodingError(GradcloudError, RuntimeError):
    """ffmpeg failed; the message has the first that it said."""


def missing(kind: str) -> str:
    """Why this machine cannot write a kind; "" where it can."""
    found = ffmpeg()
    if found is None:
        return f"MP4 and WebM need ffmpeg, which is not installed: {INSTALL}"
    encoder, _ = _ENCODERS[kind]
    return "" if encoder in _encoders(found) else f"{kind} needs {encoder}, which {found} lacks: {INSTALL} with it"


def ffmpeg() -> str | None:
    """Where ffmpeg is, None where there is none."""
    try:
        return str(import_module("imageio_ffmpeg").get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        return shutil.which("ffmpeg")


def encoded(pictures: "Iterator[NDArray[np.uint8]]", kind: str, fps: float, comment: str) -> bytes:
    """Pictures of one size as the bytes of a film; nothing of it is left on the disk, however it ends.

    Args:
        pictures: each [height, width, 3], red, green and blue.
        kind: mp4 or webm, of which `missing` has nothing to say.
        fps: pictures a second.
        comment: goes into the file beside them.

    Raises:
        EncodingError: if ffmpeg fails.
    """
    first = next(pictures)
    height, width, _ = first.shape
    encoder, options = _ENCODERS[kind]
    with tempfile.TemporaryDirectory(prefix=f"{MARK}-") as folder:
        target = Path(folder, f"film.{kind}")
        command = [
            str(ffmpeg()), "-hide_banner", "-loglevel", "error", "-nostdin", "-f", "rawvideo", "-pix_fmt", "rgb24",
            "-s", f"{width}x{height}", "-framerate", f"{fps:g}", "-i", "pipe:0", "-an", "-c:v", encoder, *options,
            "-vf", "scale=out_color_matrix=bt709", "-colorspace", "bt709", "-color_primaries", "bt709",
            "-color_trc", "bt709", "-pix_fmt", "yuv420p", "-threads", "1", "-fflags", "+bitexact",
            "-flags:v", "+bitexact", "-metadata", f"comment={comment}", str(target),
        ]  # fmt: skip
        with Path(folder, "log").open("w+b") as log:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log)
            try:
                _feed(process, chain([first], pictures))
            except BaseException:
                process.kill()
                process.wait()
                raise
            if process.wait() != 0:
                log.seek(0)
                said = log.read().decode(errors="replace").strip().splitlines()[:3]
                why = (
                    " / ".join(said) or f"it ended with status {process.returncode} and said nothing; is the disk full?"
                )
                raise EncodingError(f"ffmpeg could not write {kind}: {why}")
        return target.read_bytes()


def _feed(process: "subprocess.Popen[bytes]", pictures: "Iterator[NDArray[np.uint8]]") -> None:
    assert process.stdin is not None
    try:
        with process.stdin as pipe:
            for picture in pictures:
                pipe.write(picture.tobytes())
    except BrokenPipeError:
        # It has given up, and says why on its way out.
        pass


@cache
def _encoders(found: str) -> str:
    listed = subprocess.run([found, "-hide_banner", "-encoders"], capture_output=True, text=True, check=False)
    return listed.stdout
