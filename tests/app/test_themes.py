"""Each theme's colours: read by all eyes, on every figure, and from the first paint."""

import itertools
from collections.abc import Callable

import pytest
from bokeh.model import Model
from bokeh.models import CategoricalColorMapper, ColumnDataSource, Title
from bokeh.plotting import figure
from playwright.sync_api import Page, expect

from app.charts import CHARTS, LINES
from app.frames import Frames
from app.lengths import Lengths
from app.look import Look
from app.lookahead import LookAhead
from app.paint import Paints
from app.palette import THEMES, Palette
from app.race import Run
from app.runners import Runners
from app.views import gauges
from app.views.curves import Curves
from app.views.lengths import LawPanel, drawn
from app.views.plane import Plane
from tests.app.conftest import begun, run
from tests.eyes import EYES, apart, contrast
from tests.page import wear

#: What text stands on, and what is written there.
GROUNDS = ("paper", "field", "hover", "chosen")
WRITTEN = ("ink", "muted")
#: Roles that also name what they draw, in letters of their colour, or are links.
LETTERED = ("ring", "update", "aim", "past", "inside")
DRAWN = ("cloud", "update", "ring", "inside", "near", "past", "aim", "with_update", "against_update", "track", "dim")
#: What stands for different things in one place.
TOLD_APART = [("update", "ring", "cloud"), ("inside", "near", "past"), tuple(line.role for line in LINES),
              ("with_update", "against_update")]  # fmt: skip
#: CIEDE2000; about 2 is seen side by side, and marks are small and lie apart.
LEAST = 15

COLORS = """(selector) => {
  const style = getComputedStyle(document.querySelector(selector))
  return [style.color, style.backgroundColor]
}"""
#: Elements with text of their own in a colour that is none of the given ones.
ODD_INK = """(known) => {
  const roots = [document], odd = []
  while (roots.length) {
    for (const each of roots.pop().querySelectorAll("*")) {
      if (each.shadowRoot) roots.push(each.shadowRoot)
      if (each.matches("script, style, head *, option, optgroup")) continue
      const own = [...each.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())
      const color = getComputedStyle(each).color
      if (own && each.checkVisibility() && !known.includes(color)) odd.push(`${color} ${each.outerHTML.slice(0, 80)}`)
    }
  }
  return odd
}"""
PAINTED = "(paper) => Bokeh.documents[0].get_model_by_name('plane').background_fill_color === paper"

themes = pytest.mark.parametrize("palette", THEMES.values(), ids=THEMES)


@themes
def test_text_stands_out_from_whatever_it_stands_on(palette: Palette) -> None:
    least = 7 if palette is THEMES["projector"] else 4.5
    for role, ground in itertools.product(WRITTEN, GROUNDS):
        assert contrast(getattr(palette, role), getattr(palette, ground)) >= least, (role, ground)
    for role in LETTERED:
        assert contrast(getattr(palette, role), palette.paper) >= 4.5, role
    # The pressed button.
    assert contrast(palette.paper, palette.ink) >= 7


@themes
def test_marks_and_the_borders_of_controls_stand_out_from_the_paper(palette: Palette) -> None:
    for role in DRAWN:
        assert contrast(getattr(palette, role), palette.paper) >= 3, role
    for role, ground in itertools.product(("edge", "ring"), ("paper", "field")):
        assert contrast(getattr(palette, role), getattr(palette, ground)) >= 3, (role, ground)
    # A switch's knob on its track, off and on.
    assert contrast(palette.field, palette.cloud) >= 3
    assert contrast(palette.field, palette.ring) >= 3


@themes
@pytest.mark.parametrize("eyes", EYES)
@pytest.mark.parametrize("roles", TOLD_APART, ids=" ".join)
def test_what_is_told_apart_is_so_for_eyes_that_lack_a_kind_of_cone(
    palette: Palette, eyes: str, roles: tuple[str, ...]
) -> None:
    for one, other in itertools.combinations(roles, 2):
        assert apart(getattr(palette, one), getattr(palette, other), eyes) >= LEAST, (one, other)


def test_verdicts_and_runs_differ_in_form_as_well() -> None:
    forms = [svg.partition(" ")[0] + svg.partition('d="')[2].partition('"')[0] for svg in gauges._SHAPES.values()]
    assert len(set(forms)) == len(forms) == 4
    assert len({line.dash for line in LINES}) == len({line.marker for line in LINES}) == len(LINES)


def test_a_projector_has_larger_letters_and_thicker_lines() -> None:
    assert THEMES["projector"].type >= 1.25
    assert THEMES["projector"].stroke >= 1.5


def test_paint_follows_the_theme() -> None:
    look = Look()
    paint = Paints(look)
    title = paint(Title(), text_color="ink", text_font_size=12, border_line_width=2)
    mapper = paint(CategoricalColorMapper(factors=["A", "B"]), palette=("ink", "aim"))
    assert (title.text_color, title.text_font_size, title.border_line_width) == (THEMES["light"].ink, "12px", 2)
    look.theme = "projector"
    theme = THEMES["projector"]
    assert (title.text_color, title.text_font_size, title.border_line_width) == (theme.ink, "15.6px", 3.6)
    assert mapper.palette == [theme.ink, theme.aim]


def strange(root: Model, palette: Palette) -> list[str]:
    """What is drawn in a colour that the palette does not have."""
    known = {each.lower() for each in vars(palette).values() if isinstance(each, str)}
    models = root.references()
    # Bokeh makes looks for what is not selected, and for what is muted, which nothing here ever is.
    # Nor has anything a colour by a number that is missing.
    never = {
        getattr(model, f"{kind}_glyph", None) for model in models for kind in ("nonselection", "muted", "selection")
    }
    found = []
    for model in models - never:
        if isinstance(model, CategoricalColorMapper):
            found += [f"mapper {each}" for each in model.palette if str(each).lower() not in known]
        if getattr(model, "visible", True) is False or getattr(model, "text", None) == "":
            continue
        for name in model.properties():
            # A hatch has a colour also where there is none.
            if name.endswith("_color") and "hatch_" not in name and name != "nan_color":
                given = getattr(model, name)
                clear = getattr(model, name.removesuffix("color") + "alpha", 1) == 0
                if isinstance(given, str) and given.lower() not in known and not clear:
                    found.append(f"{type(model).__name__}.{name} {given}")
    return sorted(found)


def test_every_figure_is_drawn_in_the_theme_s_colours(paced_frames: Frames) -> None:
    async def scenario() -> None:
        session = begun(paced_frames)
        runners = Runners(paced_frames)
        law = LawPanel(Lengths(session, runners))
        law._sources = {name: ColumnDataSource(data) for name, data in drawn([], None).items()}
        ahead = LookAhead(session, runners)
        ahead.runs = (Run("", session.timeline.current.moment, 10),)
        curves = Curves(ahead).__panel__().get_root()
        roots = [Plane(session).__panel__().get_root(), curves, law._drawn()]
        assert len(list(curves.select({"type": figure}))) == len(CHARTS)
        for name, palette in THEMES.items():
            session.look.theme = name
            for root in roots:
                assert strange(root, palette) == [], name
        session.close()
        runners.close()

    run(scenario())


@pytest.mark.browser
@pytest.mark.parametrize("query", ["", "?theme=light", "?theme=dark", "?theme=projector", "?page=claims&theme=dark"])
def test_the_theme_is_there_before_any_script_has_run(page: Page, served: str, query: str) -> None:
    name = query.partition("theme=")[2] or "light"
    page.route("**/*.js*", lambda route: route.abort())
    page.goto(served + query, wait_until="commit")
    page.wait_for_function("document.body !== null")
    assert page.evaluate(COLORS, "html") == [css(THEMES[name].ink), css(THEMES[name].paper)]
    assert page.evaluate("getComputedStyle(document.body).colorScheme") == ("dark" if name == "dark" else "light")


@pytest.mark.browser
def test_text_controls_and_canvas_share_the_theme_of_the_address_and_of_the_menu(opened: Callable[..., Page]) -> None:
    page = opened("?theme=dark")
    theme, heading = page.get_by_role("combobox", name="Theme"), page.get_by_role("heading", name="gradcloud")
    menu = page.get_by_label("Preset", exact=True)
    expect(theme).to_have_value("dark")
    for name in ("dark", "light", "projector"):
        palette = THEMES[name]
        wear(page, name)
        assert page.evaluate(COLORS, "html")[1] == css(palette.paper)
        assert heading.evaluate("each => getComputedStyle(each).color") == css(palette.ink)
        assert menu.evaluate("each => getComputedStyle(each).backgroundColor") == css(palette.field)
        # The arrow of a native menu, the buttons of a number and the scroll bars follow this.
        scheme = menu.evaluate("each => getComputedStyle(each).colorScheme")
        assert scheme == ("dark" if name == "dark" else "light")
        page.wait_for_function(PAINTED, arg=palette.paper)
        # Panel's own theme, which ?theme=dark would switch on too, has other colours for text.
        odd = page.evaluate(ODD_INK, [css(each) for each in vars(palette).values() if str(each).startswith("#")])
        assert odd == []


def css(color: str) -> str:
    """A colour as a browser says it."""
    return f"rgb({int(color[1:3], 16)}, {int(color[3:5], 16)}, {int(color[5:7], 16)})"
