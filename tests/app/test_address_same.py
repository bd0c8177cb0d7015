"""The page opened at a link and the command line given the same link measure the same frame, to the byte."""

import os
import subprocess
import sys
from urllib.parse import parse_qs

import pytest

from app.address import asked, begun
from app.frames import Frames
from tests.app.conftest import run, settled

SMALL = "preset=opsd-collapse&view=1;seed=3;source.prompts=2;source.group_size=4"


@pytest.mark.parametrize("more", [";draw=2;theme=dark;token=4", ";clip.on=true;step=2;draw=1"])
def test_a_link_gives_the_page_and_the_command_line_the_same_bytes(forgetful_frames: Frames, more: str) -> None:
    query = SMALL + more
    arguments = {key: [value.encode() for value in values] for key, values in parse_qs(query).items()}

    async def scene() -> str:
        session = begun(forgetful_frames, asked(arguments))
        frame = await settled(session)
        assert session.problems == []
        session.close()
        return frame.dumps()

    command = [
        sys.executable,
        "-m",
        "app.cli",
        "frame",
        "--link",
        f"http://localhost:5006/app?{query}#x",
        "--json",
        "-",
    ]
    told = subprocess.run(command, capture_output=True, check=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
    assert told.stdout.decode() == run(scene())
