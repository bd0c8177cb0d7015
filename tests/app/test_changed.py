"""Changed settings: what is on show until theirs is there, and how they are saved."""

import asyncio

from app.files import Files
from app.frames import Frames
from app.session import TITLE
from app.views.gauges import Gauges
from app.views.plane import Plane
from sim.presets import builtin, dumps_preset, parse_preset
from tests.app.conftest import PRESET, Paced, begun, run, settled


def test_a_frame_of_other_settings_is_dimmed_until_theirs_is_there(paced: Paced, paced_frames: Frames) -> None:
    async def scene() -> None:
        session = begun(paced_frames)
        await settled(session)
        readings, plane = Gauges(session).__panel__(), Plane(session).__panel__()
        for act, dimmed in ((session.draw, False), (lambda: session.dials.param.update(clip=True), True)):
            paced.open.clear()
            act()
            while not session.busy:
                await asyncio.sleep(0.002)
            assert session.stale == dimmed
            assert ("stale" in plane.css_classes) == dimmed
            assert ("measuring" in readings.object) == dimmed
            paced.open.set()
            await settled(session)
            assert "stale" not in plane.css_classes
            assert "measuring" not in readings.object
        session.close()

    run(scene())


def test_a_changed_preset_is_saved_under_a_title_that_says_so_once(paced_frames: Frames) -> None:
    async def scene() -> None:
        long = PRESET.model_copy(update={"title": "t" * TITLE})
        for preset, title in ((PRESET, "A small one (changed)"), (long, "t" * 70 + " (changed)")):
            session = begun(paced_frames, preset)
            session.dials.clip = True
            saved = parse_preset(dumps_preset(session.current_preset()))
            assert saved.title == title
            session.open(saved)
            assert session.current_preset() == saved
            session.dials.clip = False
            assert session.current_preset().title == title
            session.close()

    run(scene())


def test_a_changed_preset_is_saved_in_a_file_that_says_so(paced_frames: Frames) -> None:
    async def scene() -> None:
        saved: list[str] = []
        session = begun(paced_frames)
        files = Files(session)
        for name, preset in (("sft-fan", builtin("sft-fan")), (None, PRESET)):
            session.open(preset, name)
            saved.append(files.saved("preset")[0])
            session.dials.clip = not session.dials.clip
            saved.append(files.saved("preset")[0])
        assert saved == ["sft-fan.json", "sft-fan-changed.json", "a-small-one.json", "a-small-one-changed.json"]
        session.close()

    run(scene())
