"""The lens as a component: when it is filled, and what it takes from the browser."""

import json
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

from app import lens, pulls, shading
from app.frames import Frames
from app.look import READINGS, TOKENS
from app.views.lens import Lens
from sim.config import Config, Source
from sim.frame import Frame
from sim.timeline import Moment
from tests.app.conftest import begun, run, sample, settled, simulator
from tests.app.test_lens import first_site


def test_the_lens_is_filled_when_its_tab_opens_and_not_before(paced_frames: Frames) -> None:
    async def main() -> None:
        session = begun(paced_frames)
        await settled(session)
        view = Lens(session)
        assert view.answers == []
        session.look.side = TOKENS
        assert len(view.answers) == 8
        assert view.batch == 1
        assert view.signed == ["share", "signal"]
        assert set(view.columns) == set(shading.QUANTITIES)
        words = sum(site is not None for answer in view.answers for _, site in answer["words"])
        assert all(len(column["shades"]) == len(column["said"]) == words for column in view.columns.values())
        session.look.side = READINGS
        view.answers = []
        session.draw()
        await settled(session)
        assert view.answers == []
        session.close()

    run(main())


@pytest.mark.parametrize(
    "message",
    [
        None, "pick", 3, [], {}, {"pick": 3}, {"batch": 0, "pick": 3}, {"batch": True, "pick": 3},
        {"batch": 1, "pick": -2}, {"batch": 1, "pick": 10**9}, {"batch": 1, "pick": True}, {"batch": 1, "pick": 1.0},
        {"batch": 1, "pick": "3"}, {"batch": 1, "where": -1}, {"batch": 1, "where": 10**9}, {"batch": 1, "where": None},
        {"batch": 1, "more": 1}, {"batch": 1, "more": False},
    ],
)  # fmt: skip
def test_a_message_that_means_nothing_changes_nothing(paced_frames: Frames, message: Any) -> None:
    async def main() -> None:
        session = begun(paced_frames)
        await settled(session)
        session.look.side = TOKENS
        view = Lens(session)
        sent: list[Any] = []
        view._send_msg = sent.append  # type: ignore[method-assign]
        before = list(view.answers)
        view._handle_msg(message)
        assert session.look.selected is None
        assert view.answers == before
        assert sent == []
        session.close()

    run(main())


def test_a_token_is_picked_out_and_let_go_and_more_answers_are_shown(
    paced_frames: Frames, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lens, "AT_ONCE", 3)

    async def main() -> None:
        session = begun(paced_frames)
        await settled(session)
        session.look.side = TOKENS
        view = Lens(session)
        sent: list[Any] = []
        view._send_msg = sent.append  # type: ignore[method-assign]
        assert (len(view.answers), view.more, view.counted) == (3, True, "3 of 8 answers: those of the strongest pull")
        weakest = first_site(int(lens.ranked(sample())[-1]))
        view._handle_msg({"batch": 1, "where": weakest})
        assert sent == [{"site": weakest, "words": lens.elsewhere(sample(), weakest, 3)}]
        view._handle_msg({"batch": 1, "pick": weakest})
        assert session.look.selected == view.selected == weakest
        assert view.details["named"] == lens.named(sample(), weakest)
        assert [each["place"] for each in view.answers] == [1, 2, 3, 8]
        view._handle_msg({"batch": 1, "pick": -1})
        assert (session.look.selected, view.selected, view.details) == (None, -1, {})
        for count in (6, 8):
            view._handle_msg({"batch": 1, "more": True})
            assert len(view.answers) == count
        assert not view.more
        session.close()

    run(main())


def test_a_selection_stays_with_its_batch_and_a_message_about_another_is_ignored(paced_frames: Frames) -> None:
    async def main() -> None:
        session = begun(paced_frames)
        frame = await settled(session)
        session.look.side = TOKENS
        view = Lens(session)
        view._handle_msg({"batch": 1, "pick": 5})
        toggled = frame.config.model_copy(update={"clip": frame.config.clip.model_copy(update={"on": True})})
        session.dials.load(toggled)
        await settled(session)
        assert (view.batch, view.selected) == (1, 5)
        prefix = ("another", *frame.sites.prefix[1:])
        other = replace(frame, sites=replace(frame.sites, prefix=prefix))
        session._came(session.timeline.current.moment, other)
        session.frame = other
        assert (view.batch, view.selected) == (2, -1)
        view._handle_msg({"batch": 1, "pick": 5})
        assert session.look.selected is None
        session.close()

    run(main())


def test_a_selection_shades_nothing_anew_but_the_answer_that_it_adds(
    paced_frames: Frames, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lens, "AT_ONCE", 3)
    shaded: list[list[int]] = []

    def noted(frame: Frame, key: str, sites: list[int]) -> shading.Column:
        shaded.append(sites)
        return shading.column(frame, key, sites)

    monkeypatch.setattr("app.views.lens.column", noted)

    async def main() -> None:
        session = begun(paced_frames)
        frame = await settled(session)
        session.look.side = TOKENS
        view = Lens(session)
        assert len(shaded) == len(shading.QUANTITIES)
        shaded.clear()
        order = lens.ranked(frame)
        session.look.selected = first_site(int(order[0]))
        assert (view.selected, view.details["named"]) == (first_site(int(order[0])), lens.named(frame, view.selected))
        assert shaded == []
        weakest = first_site(int(order[-1]))
        session.look.selected = weakest
        added = [site for _, site in view.answers[-1]["words"] if site is not None]
        assert (view.answers[-1]["place"], added[0]) == (8, weakest)
        assert shaded == [added] * len(shading.QUANTITIES)
        here = [site for answer in view.answers for _, site in answer["words"] if site is not None]
        assert view.columns == {key: asdict(shading.column(frame, key, here)) for key in shading.QUANTITIES}
        shaded.clear()
        session.look.selected = weakest + 1
        session.look.selected = None
        assert (len(view.answers), view.selected, view.details, shaded) == (3, -1, {}, [])
        assert view.counted == "3 of 8 answers: those of the strongest pull"
        session.close()

    run(main())


def test_pulls_are_told_again_when_they_change_and_not_when_norms_come(
    paced_frames: Frames, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Frame] = []

    def noted(frame: Frame) -> tuple[list[pulls.Pull], str]:
        told.append(frame)
        return pulls.pulls(frame)

    monkeypatch.setattr("app.views.lens.pulls", noted)

    async def main() -> None:
        session = begun(paced_frames)
        frame = await settled(session)
        session.look.side = TOKENS
        view = Lens(session)
        assert told == [frame]
        session.frame = replace(frame, sites=replace(frame.sites, norm=frame.sites.share * 0 + 7.0))
        assert view.columns["norm"]["said"][0] == "gradient's norm 7.00"
        assert told == [frame]
        session.frame = replace(frame, sites=replace(frame.sites, share=-frame.sites.share))
        assert told == [frame, session.frame]
        session.close()

    run(main())


def test_no_more_than_sixty_answers_are_shown_in_messages_of_a_bounded_size(paced_frames: Frames) -> None:
    many = simulator().frame(Moment(Config(source=Source(prompts=16, group_size=8))), complete=False)
    many = replace(many, sites=replace(many.sites, norm=abs(many.sites.share)))

    async def main() -> None:
        session = begun(paced_frames)
        await settled(session)
        session.frame = many
        session.look.side = TOKENS
        view = Lens(session)
        for _ in range(8):
            view._handle_msg({"batch": 1, "more": True})
        assert (len(view.answers), view.more) == (60, False)
        assert view.counted == "60 of 128 answers: those of the strongest pull; more are not shown at once"
        session.look.selected = int(np.flatnonzero(many.sites.sequence == lens.ranked(many)[-1])[0])
        assert [each["place"] for each in view.answers[-2:]] == [60, 128]
        assert len(json.dumps([view.answers, view.columns])) < 300_000
        session.close()

    run(main())
