"""The lab: experiments measured side by side in processes, each result kept in a file and so measured once."""

import hashlib
import json
import os
import platform
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import cache
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait as wait_for_any
from multiprocessing.synchronize import Event
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import torch
from pydantic import TypeAdapter

from sim.codec import MAX_BYTES, parse_json
from sim.errors import Cancelled, GradcloudError, InvalidInput
from sim.experiments import Experiment, Result
from sim.simulator import Simulator, use_one_thread
from sim.world import World, expected_hashes

#: Raise it when an experiment of the same settings would measure something else than before.
EDITION = 1
#: Seconds between two looks at whether the work is to stop.
_PATIENCE = 0.5

Key = str


def key_of(experiment: Experiment) -> Key:
    """A hash of all that determines a result: the experiment, the weights, and torch's version."""
    settings = TypeAdapter(Any).dump_python(vars(experiment), mode="json")
    text = json.dumps([EDITION, type(experiment).__name__, settings, expected_hashes(), torch.__version__])
    return hashlib.sha256(text.encode()).hexdigest()


class Lab:
    """Results of experiments, from a folder where they are known, else measured.

    Args:
        folder: where results are kept, a file each; made when the first is written.
        jobs: processes that measure at the same time.
    """

    def __init__(self, folder: Path, jobs: int = 1) -> None:
        self.folder, self.jobs = folder, jobs
        self._results: dict[Key, Result] = {}

    def prepare(self) -> None:
        """Make the folder and write in it, so that what is measured can be kept.

        Raises:
            OSError: if either cannot be done.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=self.folder) as file:
            file.write(b"\0")

    def known(self, experiment: Experiment) -> Result | None:
        """The result, if it has been measured; where the file holds none, it is measured again."""
        key = key_of(experiment)
        if key not in self._results and (result := _read(self.folder / f"{key}.json")) is not None:
            self._results[key] = result
        return self._results.get(key)

    def measure(
        self,
        experiments: Iterable[Experiment],
        progress: Callable[[int], None] | None = None,
        cancel: Callable[[], bool] | None = None,
    ) -> Iterator[tuple[Experiment, Result]]:
        """Each experiment that is not known yet, as it is done, the longest first.

        Args:
            experiments: what to measure; equal ones are measured once.
            progress: called with the work of each experiment, known or done.
            cancel: asked twice a second.

        Raises:
            Cancelled: if `cancel` says so; what is done by then is kept.
            GradcloudError: if a process ended at work; what is done by then is kept.
        """
        todo: dict[Key, Experiment] = {}
        for experiment in experiments:
            if self.known(experiment) is not None:
                if progress is not None:
                    progress(experiment.work)
            else:
                todo.setdefault(key_of(experiment), experiment)
        ordered = sorted(todo.items(), key=lambda item: -item[1].work)
        if not ordered:
            return
        context = get_context("spawn")
        stop = context.Event()
        with ProcessPoolExecutor(self.jobs, context, _begin, (stop,)) as pool:
            waiting: dict[Future[Result], tuple[Key, Experiment]] = {}
            try:
                with _interrupts_held():
                    for key, experiment in ordered:
                        waiting[pool.submit(measured, experiment)] = (key, experiment)
                while waiting:
                    done, _ = wait(waiting, timeout=_PATIENCE, return_when=FIRST_COMPLETED)
                    # What was measured is kept before what failed is raised.
                    for future in sorted(done, key=lambda each: each.exception() is not None):
                        key, experiment = waiting.pop(future)
                        result = future.result()
                        self._keep(key, result)
                        if progress is not None:
                            progress(experiment.work)
                        yield experiment, result
                    if cancel is not None and cancel():
                        raise Cancelled(f"{len(waiting)} experiments left; what was measured is in {self.folder}")
            except BrokenProcessPool:
                waiting.clear()  # The pool settles what is left, and fails at a future that was cancelled.
                raise GradcloudError(
                    "a process that measured was ended, perhaps for want of memory; "
                    f"what was measured is in {self.folder}; run again, with fewer --jobs"
                ) from None
            finally:
                # Those under way stop at their next step.
                stop.set()
                for future in waiting:
                    future.cancel()

    def _keep(self, key: Key, result: Result) -> None:
        self._results[key] = result
        self.folder.mkdir(parents=True, exist_ok=True)
        draft = self.folder / f"{key}.{os.getpid()}.draft"
        draft.write_text(json.dumps(result, allow_nan=False), "utf-8")
        draft.replace(self.folder / f"{key}.json")


def measured(experiment: Experiment) -> Result:
    """What an experiment measures, with the seconds that it took; what a worker process runs."""
    began = time.monotonic()
    result = experiment.measure(Simulator(_world()), _Worker.stop)
    return result | {"seconds": round(time.monotonic() - began, 2)}


def machine() -> str:
    """The processor and the system, as a ledger names them."""
    model = platform.processor() or platform.machine()
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), model)
    return f"{model}, {os.cpu_count()} cores, {platform.system()}"


def cache_folder() -> Path:
    """Where results are kept unless a folder is named: the user's cache."""
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "gradcloud" / "claims"


def _read(path: Path) -> Result | None:
    """What a file says was measured; None where it is no result as the lab writes them."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            value = parse_json(file.read(MAX_BYTES + 1), path.name)
    except (OSError, InvalidInput):
        return None
    seconds = value.get("seconds") if isinstance(value, dict) else None
    timed = isinstance(seconds, int | float) and not isinstance(seconds, bool) and seconds >= 0
    return value if timed else None


@cache
def _world() -> World:
    return World.load()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Holds interrupts back, for good in the processes that are started meanwhile: these inherit it.

    An interrupt is for the process that waits, which then tells its workers.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Worker:
    """What a worker process knows: whether it is to stop."""

    stop: Callable[[], bool] | None = None


def _begin(stop: Event) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    use_one_thread()
    _Worker.stop = stop.is_set


def _end_with_parent() -> None:
    """Ends this process once the one that started it is gone, however that ended."""
    parent = parent_process()
    if parent is not None:
        wait_for_any([parent.sentinel])
        os._exit(1)
