"""The address of a comparison is the comparison: settings, steps and batch of every cell; and no address breaks one."""

from collections.abc import Sequence
from urllib.parse import parse_qs

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.address import LONGEST
from app.compare import imposed
from app.compared import PARAMETERS, asked, queries
from app.frames import Frames
from app.linked import Comparison
from app.look import Look
from sim.config import Config
from sim.link import Link, parse_link
from sim.packed import pack
from sim.presets import builtin, names
from sim.sentences import MAX_PROBLEMS
from sim.timeline import Moment, Path
from tests.app.conftest import run
from tests.links import configs
from tests.sim.test_link import kept

PAIR = ["opsd-collapse", "rl-small-batch"]
#: A step that was taken with a batch of its own.
PACKED = Link(
    builtin(PAIR[1]), PAIR[1], Moment(builtin(PAIR[1]).config, Path().then(builtin(PAIR[1]).config, 5))
).view()  # fmt: skip


def read(text: str) -> dict[str, list[str]]:
    return {key: each for key, each in parse_qs(text, keep_blank_values=True).items() if key in PARAMETERS}


def made(frames: Frames, chosen: Sequence[str], moments: Sequence[Moment] = (), look: Look | None = None) -> Comparison:
    return Comparison(frames, chosen, None, look, moments)


@given(st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_address_is_the_comparison(paced_frames: Frames, data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(names()), min_size=2, max_size=4))
    first = data.draw(configs(builtin(chosen[0]).config))
    draw, steps = data.draw(st.integers(0, 9)), data.draw(st.integers(0, 3))
    moments = []
    for place, name in enumerate(chosen):
        own = first if place == 0 else imposed(data.draw(configs(builtin(name).config)), first)
        moment = Moment(own)
        for _ in range(steps):
            moment = moment.next_step()
        moments.append(Moment(own, moment.path, draw))
    look = Look(
        theme=data.draw(st.sampled_from(["light", "dark"])), radius=data.draw(st.sampled_from(["log", "linear"]))
    )

    async def scene() -> None:
        comparison = made(paced_frames, chosen, moments, look)
        text = queries(comparison, LONGEST)[0]
        wanted = asked(read(text))
        assert (wanted.problems, wanted.names) == ([], chosen)
        assert [each.key for each in wanted.moments] == [each.key for each in moments]
        again = made(paced_frames, wanted.names, wanted.moments, Look(theme=look.theme, radius=look.radius))
        assert queries(again, LONGEST)[0] == text
        alone, problems = parse_link(queries(comparison, LONGEST)[1])
        assert (alone.moment.key, alone.name, problems) == (moments[0].key, chosen[0], [])
        assert len({len(cell.timeline.events) for cell in comparison.cells}) == 1
        for each in (comparison, again):
            each.close()

    run(scene())


def test_what_goes_without_saying_is_not_said(paced_frames: Frames) -> None:
    async def scene() -> None:
        comparison = made(paced_frames, PAIR)
        assert queries(comparison, LONGEST)[0] == "page=compare&with=opsd-collapse,rl-small-batch"
        assert queries(comparison, LONGEST)[1] == "preset=opsd-collapse"
        comparison.cells[1].dials.clip = True
        comparison.look.theme = "dark"
        comparison.draw()
        assert queries(comparison, LONGEST)[0] == (
            "page=compare&with=opsd-collapse,rl-small-batch&view-a=1;draw=1;theme=dark&view-b=1;clip.on=true"
        )
        assert queries(comparison, 60) == (
            "page=compare&with=opsd-collapse,rl-small-batch&view-a=1;theme=dark",
            "preset=opsd-collapse&view=1;theme=dark",
        )
        assert queries(comparison, LONGEST)[1] == "preset=opsd-collapse&view=1;draw=1;theme=dark"
        comparison.cells[0].dials.seed = 7
        assert "view-a=1;seed=7;" in queries(comparison, LONGEST)[0]
        assert "view-b=1;clip.on=true" in queries(comparison, LONGEST)[0]
        comparison.close()

    run(scene())


@pytest.mark.parametrize(
    ("views", "told"),
    [
        ({"view-a": ["1;draw=x;seed=3"]}, ['A: draw: got "x"']),
        ({"view-a": ["1;seed=3"], "view-b": ["1;hue=2;clip.on=true"]}, ["B: hue: unknown key"]),
        ({"view-a": ["1;seed=3"], "view-b": ["1;step=2"]}, ["B: 2 steps, and A 0"]),
        ({"view-a": ["1;seed=3"], "view-c": ["1;draw=2"]}, ["view-c: there is no cell C"]),
        ({"view-a": ["1;seed=3"], "view-b": ["1;own=abc"]}, ["B: own: a preset of its own beside the name of one"]),
        (
            {"view-a": ["1;seed=3"], "view-b": ["1;log=" + pack("x" * 3_000_000)]},
            ["B: log: a comparison begins with none"],
        ),
        ({"view-a": ["1;seed=3"], "view-b": ["1;seed=4;clip.on=true"]}, ["B: what all cells share"]),
        ({"view-a": ["1;seed=3"], "view-b": ["1;draw=4"]}, ["B: what all cells share"]),
        ({"view-a": ["1;seed=3"], "view-b": ["1;theme=dark"]}, ["B: what all cells share"]),
        ({"view-a": ["1;seed=3"], "view-b": [";clip.on=true"]}, ['view-b: got "" where its version stands']),
        ({"view-a": ["1;seed=4", "1;seed=3"]}, ["view-a: given 2 times"]),
        ({"view-a": ["1;seed=3;draw=2;step=1"], "view-b": [PACKED]}, ["B: its steps saw other batches than A's"]),
    ],
)
def test_what_is_wrong_with_a_cell_is_told_with_its_letter(views: dict[str, list[str]], told: list[str]) -> None:
    wanted = asked({"with": [",".join(PAIR)], **views})
    assert len(wanted.problems) == len(told)
    assert all(line.startswith(start) for line, start in zip(wanted.problems, told, strict=True)), wanted.problems
    assert [each.config.seed for each in wanted.moments] == [3, 3]
    assert [(each.step, each.draw) for each in wanted.moments] == [(0, 0), (0, 0)]
    assert wanted.moments[1].config.clip.on is ("clip.on" in str(views))


def test_a_session_in_a_cell_is_left_out_and_the_settings_beside_it_are_kept() -> None:
    log = [each for each in kept([("draw", 0), ("draw", 0)]).view().split(";") if each.startswith("log=")]
    wanted = asked({"with": [",".join(PAIR)], "view-b": [";".join(["1", "clip.on=true", *log])]})
    assert wanted.problems == ["B: log: a comparison begins with none, left out"]
    assert [each.config.clip.on for each in wanted.moments] == [False, True]


@pytest.mark.parametrize("views", [{}, {"view-b": ["1;clip.on=true;step=2"]}, {"view-b": ["1;clip.on=true"]}])
def test_a_cell_that_says_no_other_takes_as_steps_under_its_own_settings(views: dict[str, list[str]]) -> None:
    wanted = asked({"with": [",".join(PAIR)], "view-a": ["1;seed=3;step=2;draw=7"], **views})
    assert wanted.problems == []
    one, other = wanted.moments
    assert (one.step, one.draw) == (other.step, other.draw) == (2, 7)
    assert [each.config for each in other.path.steps] == [other.config] * 2 == [imposed(other.config, one.config)] * 2


def test_where_all_begin_anew_so_does_the_batch() -> None:
    wanted = asked({"with": [",".join(PAIR)], "view-a": ["1;step=3;draw=7"], "view-b": ["1;step=2"]})
    assert [(each.step, each.draw) for each in wanted.moments] == [(0, 0), (0, 0)]


def test_a_theme_in_a_view_goes_before_one_beside_it() -> None:
    assert asked({"view-a": ["1;theme=light"]}, ["dark"]).look == {}
    assert asked({"view-a": ["1;scale=linear"]}, ["dark"]).look == {"theme": "dark", "scale": "linear"}
    assert asked({}, ["dark"]).look == {"theme": "dark"}


def test_presets_that_are_named_twice_are_told() -> None:
    wanted = asked({"with": ["sft-fan,rl-grpo", ",".join(PAIR)], "view-b": ["1;clip.on=true"]})
    assert (wanted.names, wanted.problems) == (PAIR, ["with: given 2 times, allowed once; the last is kept"])
    assert wanted.moments[1].config.clip.on


def test_settings_of_cells_whose_presets_are_not_known_are_left_out() -> None:
    wanted = asked({"with": ["opsd-collapse,rl-smal-batch"], "view-b": ["1;draw=3"]})
    assert any('did you mean "rl-small-batch"' in line for line in wanted.problems)
    assert wanted.problems[-1] == "view-b: left out, as it is not known of which presets"
    assert [each.draw for each in wanted.moments] == [0, 0]


@given(
    st.dictionaries(st.sampled_from(PARAMETERS), st.lists(st.text(max_size=60) | st.text("1;=,x\x00ß%", max_size=20)))
)
@settings(max_examples=60, deadline=None)
def test_no_address_breaks_a_comparison(given: dict[str, list[str]]) -> None:
    wanted = asked(given)
    assert 2 <= len(wanted.names) == len(wanted.moments) <= 4
    assert len(wanted.problems) <= 5 * MAX_PROBLEMS
    assert all(isinstance(each.config, Config) for each in wanted.moments)
