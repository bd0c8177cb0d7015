"""Pictures that leave the page: the frame's own coordinates in lines and in pixels, and the record inside."""

import io
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page

from app import legend, marks, picture
from app.palette import THEMES
from app.picture import Radius
from app.still import KINDS, reach, still
from sim.config import Clip, Config, Plane, Reward, Source, Teacher, Update
from sim.errors import InvalidInput
from sim.frame import Frame
from sim.link import Link
from sim.opening import parse_file
from sim.presets import Preset
from sim.record import dumps_record
from sim.timeline import Moment
from tests.app.conftest import simulator

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"
SMALL = Source(prompts=2, group_size=4)
HINTED = Config(source=SMALL, teacher=Teacher(policy="self", context="hint"))
CLIPPED = HINTED.model_copy(update={"clip": Clip(on=True, kind="token-scale", threshold=0.05)})
SILENT = Config(source=Source(prompts=1, group_size=2, alpha=0), teacher=Teacher(weight=0), reward=Reward())
CONFIGS = {
    "hinted": HINTED,
    "clipped": CLIPPED,
    "silent": SILENT,
    "adam": HINTED.model_copy(update={"update": Update(optimiser="adam")}),
    "random": HINTED.model_copy(update={"plane": Plane(basis="random")}),
    "components": HINTED.model_copy(update={"plane": Plane(basis="components")}),
}
HOSTILE = [
    "<script>alert(1)</script> & <b>",
    "$x^2$ and $\\frac{1}{",
    "W" * 80,
    "鸟 🐦 और \u200d\ufe0f",
    'a "quoted" \ufffe {"gradcloud": "1"}',
]


@cache
def frame(name: str = "hinted") -> Frame:
    return simulator().frame(Moment(CONFIGS[name], draw=1))


def link(name: str = "hinted", title: str = "A picture", **look: str) -> Link:
    preset = Preset(title=title, lesson="A lesson.", config=CONFIGS[name])
    return Link(preset, None, Moment(preset.config, draw=1), look)


@cache
def drawn(kind: str = "svg", name: str = "hinted", scale: int = 1) -> bytes:
    return still(frame(name), link(name), kind, scale)


def tree(data: bytes) -> ElementTree.Element:
    return ElementTree.fromstring(data)


def group(root: ElementTree.Element, name: str) -> list[np.ndarray]:
    """The corners of each path of a mark, an array [n, 2] each."""
    found = []
    for part in root.iter(f"{SVG}g"):
        if part.get("id") == name:
            for path in part.iter(f"{SVG}path"):
                numbers = [float(each) for each in path.get("d", "").split() if each not in "MLCz"]
                found.append(np.array(numbers).reshape(-1, 2))
    return found


def texts(root: ElementTree.Element) -> list[str]:
    return [each.text or "" for each in root.iter(f"{SVG}text")]


def scale_of(root: ElementTree.Element) -> tuple[np.ndarray, float]:
    """Where the plane's zero lies, and how long its unit is: the ring of the checkpoint's plane is one unit away."""
    across, along = group(root, "axes")
    zero = np.array([along[0, 0], across[0, 1]])
    (ring,) = group(root, "ring")
    return zero, float(np.hypot(*(ring - zero).T).mean())


def pixels(data: bytes) -> np.ndarray:
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert("RGB")).astype(int)


def rgb(colour: str) -> np.ndarray:
    return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)])


@pytest.mark.parametrize("scale", [1, 2, 3, 4])
def test_png_has_an_exact_multiple_of_its_pixels(scale: int) -> None:
    with Image.open(io.BytesIO(drawn("png", scale=scale))) as image:
        assert image.size == (1280 * scale, 720 * scale)


def test_every_arrow_in_svg_ends_where_the_page_draws_it() -> None:
    root = tree(drawn())
    zero, unit = scale_of(root)
    columns = picture.arrows(frame(), Radius("log"))
    found = np.array([path[-1] for path in group(root, "cloud")])
    assert len(found) == len(columns["x"]) > 50
    expected = zero + unit * np.stack([columns["x"], -columns["y"]], axis=1)
    np.testing.assert_allclose(found, expected, atol=2e-3)
    points = np.array([path[0] for path in group(root, "heads")])
    np.testing.assert_allclose(points, found, atol=1e-5)


def test_update_whole_mark_and_circles_lie_where_the_page_draws_them() -> None:
    root = tree(drawn())
    zero, unit = scale_of(root)
    for name, columns in (("update-head", marks.update), ("whole", marks.whole)):
        (path,) = group(root, name)
        expected = zero + unit * np.array([columns(frame(), Radius("log"))[axis][0] for axis in "xy"]) * (1, -1)
        found = path[0] if name == "update-head" else (path.min(axis=0) + path.max(axis=0)) / 2
        np.testing.assert_allclose(found, expected, atol=2e-3)
    half = reach([frame()], link())
    radii = [np.ptp(path, axis=0).mean() / 2 / unit for path in group(root, "scale")]
    np.testing.assert_allclose(radii, marks.scale(Radius("log"), half)["r"], atol=1e-4)


@pytest.mark.parametrize("theme", THEMES)
def test_png_has_the_update_and_the_ring_of_svg_in_the_themes_colours(theme: str) -> None:
    palette, here = THEMES[theme], link(theme=theme) if theme != "light" else link()
    seen, root = pixels(still(frame(), here, "png", 2)), tree(still(frame(), here, "svg"))
    assert (seen[2, 2] == rgb(palette.paper)).all()
    zero, unit = scale_of(root)
    (shaft,), (head,) = group(root, "update"), group(root, "update-head")
    for x, y in ((shaft[0] + shaft[1]) / 2, head[:3].mean(axis=0)):
        assert (seen[round(2 * y), round(2 * x)] == rgb(palette.update)).all()
    angle = np.linspace(0, 2 * np.pi, 720)
    x, y = np.rint(2 * (zero + unit * np.stack([np.cos(angle), np.sin(angle)], axis=1))).astype(int).T
    blue = (np.abs(seen[y, x] - rgb(palette.ring)) < 40).all(axis=1).mean()
    # Of the dashes, 7 of each 12 pixels are drawn, and some of these lie under arrows and letters.
    assert 0.3 < blue < 0.7


@pytest.mark.browser
def test_svg_in_a_browser_is_the_picture_that_png_has(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "picture.svg"
    file.write_bytes(drawn())
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(file.as_uri())
    shown, seen = pixels(page.screenshot()), pixels(drawn("png"))
    assert shown.shape == seen.shape
    apart = np.abs(shown - seen).max(axis=2)
    # Letters are of another font, and lines of another brush; nothing is elsewhere, missing or of another colour.
    blurred = [np.asarray(Image.fromarray(each.astype(np.uint8)).resize((160, 90), Image.Resampling.BOX), int)
               for each in (shown, seen)]  # fmt: skip
    plane = np.abs(blurred[0] - blurred[1])[:, :108].max(axis=2)
    assert (apart > 128).mean() < 0.02
    assert (plane > 40).mean() < 0.01


def test_svg_is_lines_and_letters_and_no_image() -> None:
    root = tree(drawn())
    tags = {each.tag.removeprefix(SVG) for each in root.iter()}
    assert not {"image", "script", "foreignObject"} & tags
    assert root.get("width") == "1280px"
    assert root.get("viewBox") == "0 0 1280 720"
    said = texts(root)
    assert {"A picture", frame().verdict.word, *legend.AXES["checkpoint"], *legend.count(frame())} <= set(said)
    assert {each.strip() for each in legend.held(frame())} <= set(said)
    assert picture.words(frame(), Radius("log"))["text"][0] in said
    assert {"Update", "Density", "Spread", "step 0, draw 1, seed 0"} <= set(said)
    assert any(each.startswith("gradcloud ") for each in said)


def test_each_kind_carries_the_record() -> None:
    said = dumps_record(link())
    with Image.open(io.BytesIO(drawn("png"))) as image:
        assert image.info["gradcloud"] == said
    description = tree(drawn()).find(".//{http://purl.org/dc/elements/1.1/}description")
    assert description is not None
    assert description.text == said
    for kind in KINDS:
        found = parse_file(drawn(kind), f"a.{kind}")
        assert found.moment.key == Moment(HINTED, draw=1).key
        assert found.preset == link().preset


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_frame_gives_the_same_bytes_whatever_a_notebook_has_set(kind: str) -> None:
    unusual = {"path.sketch": (1, 100, 2), "svg.fonttype": "path", "font.sans-serif": ["Times"], "pdf.fonttype": 3}
    with matplotlib.rc_context(unusual):
        assert still(frame(), link(), kind) == drawn(kind)
        assert matplotlib.rcParams["svg.fonttype"] == "path"


def test_threads_that_draw_at_once_give_the_same_bytes() -> None:
    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(lambda kind: still(frame(), link(), kind), ("svg", "png") * 2))
    assert found == [drawn("svg"), drawn("png")] * 2


@pytest.mark.parametrize("title", HOSTILE)
def test_a_title_is_only_letters_whatever_it_says(title: str) -> None:
    here = link(title=title)
    root = tree(still(frame(), here, "svg"))
    assert {each.tag.removeprefix(SVG) for each in root.iter()} & {"script", "b", "image"} == set()
    assert title.replace("\ufffe", "□").replace(" ", "")[:50] in "".join(texts(root)).replace(" ", "")
    assert parse_file(still(frame(), here, "png"), "a.png").preset.title == title


def test_letters_that_the_font_lacks_are_boxes_in_pdf_too() -> None:
    here = link(title=HOSTILE[3])
    assert parse_file(still(frame(), here, "pdf"), "a.pdf").preset.title == HOSTILE[3]


@pytest.mark.parametrize("name", CONFIGS)
def test_every_kind_of_frame_is_drawn_with_its_own_count_of_arrows(name: str) -> None:
    root = tree(drawn("svg", name))
    assert len(group(root, "cloud")) == len(picture.order(frame(name)))
    assert len(group(root, "former-tips")) == min(60, len(picture.moved(frame(name))))
    assert set(legend.AXES[CONFIGS[name].plane.basis]) <= set(texts(root))


def test_a_trace_of_the_update_is_drawn_open_as_on_the_page() -> None:
    assert marks.is_trace(frame("random"))
    said = texts(tree(drawn("svg", "random")))
    assert legend.MARKS["trace"] in said
    assert marks.noted(frame("random"), Radius("log"))["text"][0] in said


def test_a_batch_without_signal_says_so_and_draws_no_update() -> None:
    root = tree(drawn("svg", "silent"))
    assert not group(root, "cloud")
    assert not group(root, "update-head")
    assert frame("silent").verdict.rule in texts(root)
    assert any("are exactly zero" in each for each in texts(root))


def test_a_clip_changes_the_picture_and_shows_former_tips() -> None:
    assert group(tree(drawn("svg", "clipped")), "former")
    assert not group(tree(drawn()), "former")


def test_changed_settings_are_told_beside_the_title() -> None:
    here = Link(link().preset, None, Moment(CLIPPED, draw=1))
    assert any(each.startswith("changed: clip on") for each in texts(tree(still(frame("clipped"), here, "svg"))))


def test_an_arrow_picked_out_is_ringed_and_named() -> None:
    site = int(picture.order(frame())[-10])
    root = tree(still(frame(), link(token=str(site)), "svg"))
    zero, unit = scale_of(root)
    tip = marks.selected(frame(), Radius("log"), site)
    _, ring = group(root, "picked")
    middle = (ring.min(axis=0) + ring.max(axis=0)) / 2
    np.testing.assert_allclose(middle, zero + unit * np.array([tip["x"][0], -tip["y"][0]]), atol=2e-3)
    assert tip["text"][0] in texts(root)
    assert legend.MARKS["picked"] in texts(root)
    assert still(frame(), link(token="100000"), "svg").count(b"picked") == drawn().count(b"picked")


def test_a_trail_ends_at_the_update_on_show() -> None:
    root = tree(still(frame(), link(), "svg", trail=[(0.5, 0.5), (0.1, -0.2)]))
    assert len(group(root, "trail")) == 4
    np.testing.assert_allclose(group(root, "trail")[1][1], group(root, "update-head")[0][0], atol=2e-3)
    assert legend.MARKS["trail"] in texts(root)


def test_a_linear_scale_keeps_lengths_in_proportion() -> None:
    root = tree(still(frame(), link(scale="linear"), "svg"))
    zero, unit = scale_of(root)
    expected = np.hypot(*(picture.arrows(frame(), Radius("linear"))[axis] for axis in "xy"))
    found = np.array([np.hypot(*(path[-1] - zero)) for path in group(root, "cloud")]) / unit
    seen = expected < 1
    assert seen.sum() > 50
    np.testing.assert_allclose(found[seen], expected[seen], rtol=1e-3, atol=1e-4)


def test_a_plain_picture_is_the_plane_alone() -> None:
    root = tree(still(frame(), link(), "svg", plain=True))
    assert root.get("viewBox") == "0 0 720 720"
    assert "Density" not in texts(root)
    assert len(group(root, "cloud")) == len(picture.order(frame()))


def test_another_kind_or_scale_is_refused() -> None:
    with pytest.raises(InvalidInput) as refused:
        still(frame(), link(), "bmp", 5)
    assert refused.value.problems == [
        'kind: got "bmp", allowed png, svg or pdf',
        "scale: got 5, allowed a whole number, 1 to 4",
    ]


def test_a_page_that_draws_nothing_loads_no_matplotlib_and_drawing_no_pyplot() -> None:
    program = (
        "import sys; from app.still import still; import app.film\n"
        "assert 'matplotlib' not in sys.modules\n"
        "import app.sheet, app.still_plane, app.still_side\n"
        "assert 'matplotlib' in sys.modules and 'matplotlib.pyplot' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
