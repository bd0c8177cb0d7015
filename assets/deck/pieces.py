"""Makes the pieces of the deck with the commands that anybody has: two recordings, a film and a drawing.

Run as ``python assets/deck/pieces.py [FOLDER] [OPTIONS]``; what follows the folder goes to each command, as
``--set source.prompts=2``.
"""

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FRAMES = "8"
#: Each file, and the command that makes it.
PIECES = {
    "opsd-collapse.html": ["export", "opsd-collapse", "--frames", FRAMES],
    "rl-grpo.html": ["export", "rl-grpo", "--frames", FRAMES],
    "opsd-collapse.gif": ["picture", "opsd-collapse", "--frames", FRAMES],
    "opsd-clipped.svg": ["picture", "opsd-clipped"],
}


def make(folder: Path, more: list[str]) -> None:
    """Make all pieces in a folder, and last the list of them by which the deck knows what is there."""
    folder.mkdir(parents=True, exist_ok=True)
    listed = folder / "made.js"
    listed.unlink(missing_ok=True)
    for name, command in PIECES.items():
        program = [sys.executable, "-m", "app.cli", *command, *more, "-o", str(folder.resolve() / name)]
        subprocess.run(program, check=True, cwd=HERE.parents[1])
    listed.write_text(f"window.gradcloudPieces = {json.dumps(list(PIECES))}\n", "utf-8")


if __name__ == "__main__":
    given = sys.argv[1:]
    make(Path(given[0]) if given else HERE / "pieces", given[1:])
    if not given:
        sys.stdout.write(f"open {HERE / 'index.html'} in a browser\n")
