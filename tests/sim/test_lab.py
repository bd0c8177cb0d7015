"""The lab: what was measured is kept, and what was interrupted goes on."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from sim.claim import settings
from sim.codec import MAX_BYTES
from sim.errors import Cancelled, GradcloudError
from sim.experiments import Experiment, Result, Run, Shipped
from sim.lab import Lab, cache_folder, key_of, machine
from sim.plan import Phase
from sim.probes import Cloud
from sim.simulator import Cancel, Simulator

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Told:
    """An experiment that says what it was told, and leaves a file for each time that it is asked."""

    word: str
    folder: str
    work: int = 1

    def measure(self, simulator: Simulator, cancel: Cancel | None = None) -> Result:
        del simulator, cancel
        path = Path(self.folder)
        path.mkdir(exist_ok=True)
        (path / f"{self.word}{len(list(path.iterdir()))}").touch()
        return {"word": self.word}


@dataclass(frozen=True)
class Killed:
    """An experiment whose process is killed, as for want of memory."""

    work: int = 0

    def measure(self, simulator: Simulator, cancel: Cancel | None = None) -> Result:
        del simulator, cancel
        os.kill(os.getpid(), signal.SIGKILL)
        return {}


@dataclass(frozen=True)
class Held:
    """An experiment that says whether its process is held from interrupts."""

    work: int = 1

    def measure(self, simulator: Simulator, cancel: Cancel | None = None) -> Result:
        del simulator, cancel
        return {"held": signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())}


@dataclass(frozen=True)
class Endless:
    """An experiment that leaves a file when it begins, and does not look at whether it is to stop."""

    file: str
    work: int = 1

    def measure(self, simulator: Simulator, cancel: Cancel | None = None) -> Result:
        del simulator, cancel
        Path(self.file).touch()
        time.sleep(600)
        return {}


@pytest.fixture
def told(tmp_path: Path) -> list[Experiment]:
    return [Told(word, str(tmp_path / word)) for word in ("one", "two", "three")]


def measure(lab: Lab, experiments: list[Experiment]) -> list[str]:
    return [result["word"] for _, result in lab.measure(experiments)]


def test_each_experiment_is_measured_once_and_read_back_by_another_lab(told: list[Experiment], tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    assert sorted(measure(Lab(folder), [*told, told[0]])) == ["one", "three", "two"]
    other = Lab(folder)
    assert measure(other, told) == []
    assert [other.known(each) and other.known(each)["word"] for each in told] == ["one", "two", "three"]  # type: ignore[index]
    assert [len(list((tmp_path / word).iterdir())) for word in ("one", "two", "three")] == [1, 1, 1]


def test_progress_counts_the_work_of_what_was_known_too(told: list[Experiment], tmp_path: Path) -> None:
    folder, done = tmp_path / "kept", list[int]()
    assert measure(Lab(folder), told[:1]) == ["one"]
    assert len(list(Lab(folder).measure(told, done.append))) == 2
    assert sum(done) == 3


def test_what_was_done_before_an_interruption_is_kept(told: list[Experiment], tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    lab, seen = Lab(folder), list[Experiment]()
    with pytest.raises(Cancelled, match="experiments left"):
        seen.extend(each for each, _ in lab.measure(told, cancel=lambda: True))
    assert len(list(folder.glob("*.json"))) < 3
    kept = len(list(folder.glob("*.json")))
    assert len(measure(Lab(folder), told)) == 3 - kept
    assert all(Lab(folder).known(each) for each in told)


def test_a_run_under_way_stops_at_its_next_step(tmp_path: Path) -> None:
    long = Run((Phase(settings("rl-small-batch", 0), 10_000),), every=10_000)
    began, asked = time.monotonic(), itertools.count()
    with pytest.raises(Cancelled, match="1 experiments left"):
        list(Lab(tmp_path).measure([long], cancel=lambda: next(asked) > 8))
    assert time.monotonic() - began < 60


def test_where_a_process_is_killed_it_is_said_and_what_was_done_is_kept(told: list[Experiment], tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    with pytest.raises(GradcloudError, match=f"is in {folder}; run again, with fewer --jobs"):
        measure(Lab(folder), [Killed(), *told])
    assert all(Lab(folder).known(each) for each in told)


def test_an_interrupt_is_held_from_the_processes_that_measure_and_not_from_the_one_that_waits(tmp_path: Path) -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    ((_, result),) = Lab(tmp_path).measure([Held()])
    assert result["held"] is True
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_no_process_outlives_the_one_that_started_it(how: signal.Signals, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    code = (
        "from pathlib import Path\nfrom sim.lab import Lab\nfrom tests.sim.test_lab import Endless\n"
        f"list(Lab(Path({str(tmp_path)!r})).measure([Endless({str(begun)!r})]))"
    )
    # All of them hold the pipe, so it ends with the last of them.
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, start_new_session=True)
    try:
        latest = time.monotonic() + 120
        while not begun.exists():
            assert parent.poll() is None
            assert time.monotonic() < latest
            time.sleep(0.05)
        parent.send_signal(how)
        parent.communicate(timeout=30)
        assert parent.returncode == -how
    finally:
        with suppress(ProcessLookupError):
            os.killpg(parent.pid, signal.SIGKILL)
        parent.communicate()


def test_a_damaged_result_is_measured_again(told: list[Experiment], tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    assert measure(Lab(folder), told[:1]) == ["one"]
    (file,) = folder.glob("*.json")
    file.write_text(file.read_text()[:5])
    assert Lab(folder).known(told[0]) is None
    assert measure(Lab(folder), told[:1]) == ["one"]
    assert json.loads(file.read_text())["word"] == "one"


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[]",
        '{"word": "one"}',
        '{"word": "one", "seconds": -1}',
        '{"word": "one", "seconds": true}',
        '{"word": "one", "seconds": "2"}',
        '{"word": "one", "seconds": 1e999}',
        '{"word": NaN, "seconds": 2}',
        '{"word": "one", "word": "two", "seconds": 2}',
        '{"seconds": 2, "word": ' + "[" * 100_000,
        '{"word": "' + "e" * MAX_BYTES + '", "seconds": 2}',
    ],
    ids=lambda text: text[:40],
)
def test_a_file_that_is_no_result_is_not_taken_for_one(text: str, told: list[Experiment], tmp_path: Path) -> None:
    file = tmp_path / f"{key_of(told[0])}.json"
    file.write_text('{"word": "one", "seconds": 2}')
    assert Lab(tmp_path).known(told[0]) == {"word": "one", "seconds": 2}
    file.write_text(text)
    assert Lab(tmp_path).known(told[0]) is None


def test_no_pipe_is_waited_for(told: list[Experiment], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / f"{key_of(told[0])}.json")
    assert Lab(tmp_path).known(told[0]) is None


def test_a_key_tells_apart_all_that_determines_a_result() -> None:
    config = settings("opsd-collapse", 0)
    run = Run((Phase(config, 10),), every=5)
    others: list[Experiment] = [
        run,
        replace(run, every=2),
        replace(run, stop=True),
        replace(run, changes=True),
        replace(run, phases=(Phase(config, 11),)),
        replace(run, phases=(Phase(settings("opsd-collapse", 1), 10),)),
        replace(run, phases=(Phase(config, 5), Phase(config, 5))),
        Cloud(config, 10),
        Cloud(config, 10, exact=True),
        Cloud(settings("opsd-collapse", 0, "teacher.jsd_beta=0.4"), 10),
        Shipped("base"),
        Shipped("over-trained"),
    ]
    assert len({key_of(each) for each in others}) == len(others)
    assert key_of(run) == key_of(Run((Phase(settings("opsd-collapse", 0), 10),), every=5))


def test_results_are_kept_in_the_users_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "gradcloud" / "claims"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_folder() == tmp_path / "home" / ".cache" / "gradcloud" / "claims"


def test_the_machine_is_named() -> None:
    assert "cores" in machine()
