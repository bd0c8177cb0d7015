"""A frame as a picture that leaves the page: PNG, SVG or PDF, which carries where its numbers come from."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, get_args

from app import marks
from app.palette import THEMES
from app.picture import Radius
from sim.errors import InvalidInput
from sim.frame import Frame
from sim.installed import installed
from sim.link import Link
from sim.record import MARK, dumps_record
from sim.sentences import either, shown

if TYPE_CHECKING:
    from app.sheet import Sheet

Kind = Literal["png", "svg", "pdf"]
KINDS: tuple[Kind, ...] = get_args(Kind)
#: Pixels of a picture at 1x, with the readings and without.
SIZE, PLAIN = (1280, 720), (720, 720)
SCALES = (1, 2, 3, 4)

Trail = Sequence[tuple[float, float]]


def still(frame: Frame, link: Link, kind: str, scale: int = 1, *, plain: bool = False, trail: Trail = ()) -> bytes:
    """A frame as the bytes of a picture: the plane as the page draws it, with verdict and readings; the same each time.

    PNG has exactly `scale` times 1280 x 720 pixels; SVG and PDF are drawn in lines and letters, and `scale` changes
    nothing in them. The record goes into PNG's texts, SVG's description and PDF's keywords.

    Args:
        frame: what is drawn; what of it is pending reads so.
        link: the moment that the frame is of, and how it is looked at.
        kind: png, svg or pdf.
        scale: 1 to 4.
        plain: the plane alone, 720 x 720.
        trail: tips of earlier draws' updates in the plane, oldest first.

    Raises:
        InvalidInput: for another kind or scale.
    """
    check(kind, KINDS, scale)
    from app.sheet import alone

    with alone():
        sheet = draw(frame, link, reach([frame], link), plain=plain, trail=trail, real=kind == "svg")
        said, program = dumps_record(link), f"gradcloud {installed()}"
        # The record first, so that no title can stand in its place.
        if kind == "png":
            return sheet.png(scale, {MARK: said, "Title": link.preset.title})
        if kind == "svg":
            return sheet.svg(link.preset.title, program, said)
        return sheet.pdf({"Keywords": said, "Title": link.preset.title, "Creator": program})


def check(kind: str, kinds: Sequence[str], scale: int) -> None:
    """Refuse a kind of picture or a scale that there is not."""
    problems = []
    if kind not in kinds:
        problems.append(f"kind: got {shown(kind)}, allowed {either(kinds)}")
    if isinstance(scale, bool) or scale not in SCALES:
        problems.append(f"scale: got {json.dumps(scale)}, allowed a whole number, 1 to {SCALES[-1]}")
    if problems:
        raise InvalidInput(problems)


def reach(frames: Sequence[Frame], link: Link) -> float:
    """How far pictures of these frames reach, so that they compare: as far as the first asks, or one that must."""
    radius, half = _radius(link), 0.0
    for frame in frames:
        if not half or marks.must_reach(frame, radius) > half:
            half = max(half, marks.reach(frame, radius))
    return half


def draw(
    frame: Frame, link: Link, half: float, *, plain: bool = False, trail: Trail = (), real: bool = False
) -> "Sheet":
    """The sheet of a frame; whoever calls it is `alone`."""
    from app.sheet import Sheet
    from app.still_plane import Seen, draw_plane
    from app.still_side import draw_side

    palette = THEMES[link.looked("theme")]
    token = link.look.get("token")
    seen = Seen(
        palette, _radius(link), None if token is None else int(token), trail, f"gradcloud {installed()}" * plain
    )
    width, height = PLAIN if plain else SIZE
    sheet = Sheet(width, height, palette.paper, real)
    if plain:
        draw_plane(sheet, frame, seen, (8, 8, width - 8, height - 8), half)
    else:
        draw_plane(sheet, frame, seen, (16, 12, 860, height - 12), half)
        draw_side(sheet, frame, link, palette, (888, 20, width - 24, height - 12))
    return sheet


def _radius(link: Link) -> Radius:
    return Radius(link.looked("scale"))
