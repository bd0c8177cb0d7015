import pytest

from app.frames import Frames
from app.lengths import Lengths, said
from app.runners import Runners
from app.views.lengths import Law, LawPanel, drawn
from sim.batch_law import BatchLaw, Size, batch_law, lengths, sizes_of
from sim.config import Config, Source
from sim.frame import Undetermined
from tests.app.conftest import PRESET, begun, run, simulator, until

WIDE = Config(source=Source(prompts=2, group_size=64))


def sizes(signal: float, noise: float) -> list[Size]:
    """Exactly what the law says, at 1 to 16 prompts of 8."""
    law = [(prompts, signal + noise / prompts) for prompts in (1, 2, 4, 8, 16)]
    return [Size(prompts, 8 * prompts, 16, squared, 0.05 * squared, 0) for prompts, squared in law]


async def over(made: Lengths) -> None:
    await until(lambda: not made.running, within=240)


def test_the_page_measures_what_the_shell_measures_and_keeps_it_when_stopped(
    real_frames: Frames, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.lengths.DRAWS", 2)

    async def scene() -> None:
        session = begun(real_frames, PRESET.model_copy(update={"config": WIDE}))
        runners = Runners(real_frames, threads=1)
        made = Lengths(session, runners)
        panel, law = LawPanel(made), Law(made)
        law._handle_msg({"start": True})
        await over(made)
        assert made.measurement is not None
        assert made.measurement.sizes == list(lengths(simulator(), WIDE, 2))
        assert made.measurement.taken == made.measurement.total == 2 * len(sizes_of(WIDE))
        assert law.summary == said(batch_law(made.measurement.sizes))
        picture = panel.__panel__()[1].object
        shown = picture.select_one({"name": "lengths"}).data_source.data
        assert list(shown["x"]) == [size.rollouts for size in made.measurement.sizes]
        law._handle_msg({"start": True})
        await until(lambda: made.measurement.sizes)
        law._handle_msg({"stop": True})
        await until(lambda: made.measurement.over)
        assert 1 <= len(made.measurement.sizes) < len(sizes_of(WIDE))
        assert made.summary().startswith("Stopped early.")
        made.close()
        session.close()
        runners.close()

    run(scene())


def test_the_sentence_says_how_the_length_falls_and_where_signal_equals_noise() -> None:
    law = batch_law(sizes(signal=1.0, noise=4.0))
    assert "Signal equals noise at 4.0 prompts, 32 rollouts." in said(law)
    few = Undetermined("2 of 5 batch sizes carry a signal; the fit needs 3")
    assert said(BatchLaw(few, few, few, few, few, few)) == f"No fit: {few.reason}."
    silent = BatchLaw(-0.5, 0.0, 1.0, 4.0, Undetermined("the signal is not above"), Undetermined("the same"))
    assert said(silent).endswith("Noise scale undetermined: the signal is not above.")


def test_the_picture_has_the_lengths_their_fit_and_the_noise_scale() -> None:
    measured = sizes(signal=1.0, noise=4.0)
    data = drawn(measured, batch_law(measured))
    assert data["sizes"]["x"] == [8, 16, 32, 64, 128]
    assert data["sizes"]["y"] == pytest.approx([size.squared**0.5 for size in measured])
    assert data["fit"]["y"][0] == pytest.approx(5**0.5)
    assert data["fit"]["y"][-1] == pytest.approx(1.25**0.5)
    assert data["scale"]["x"] == pytest.approx([32])
    assert data["level"]["y"] == pytest.approx([1, 1])
    assert drawn([], None)["fit"]["x"] == []


def test_sizes_without_a_signal_are_not_drawn() -> None:
    measured = [Size(1, 8, 16, 0.0, 0.0, 16), *sizes(1.0, 4.0)[1:3]]
    data = drawn(measured, batch_law(measured))
    assert data["sizes"]["x"] == [16, 32]
    assert data["fit"]["x"] == []
