"""Speed, as medians and as ratios within one run: ``make bench``. Nothing here is a test.

Every round runs each contender once, in turn, so that a slow moment of the machine strikes all of them; a ratio
is the median of the rounds' ratios.
"""

import argparse
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch
from torch.func import grad, vmap

from sim.batch import Batch, draw_batch
from sim.config import Clip, Config, Source, Teacher
from sim.ghost import site_norms
from sim.gradients import Linearisation, coordinates
from sim.policy import Params, Policy
from sim.simulator import Simulator, use_one_thread
from sim.tangents import directional_logits, general
from sim.teachers import teacher_log_probs, weigh
from sim.timeline import Moment
from sim.world import World

CONFIG = Config(source=Source(prompts=29, group_size=2), teacher=Teacher(policy="self", context="hint"))


def per_token_gradients(model: Policy, params: Params, batch: Batch, rows_NV: torch.Tensor, chunk: int) -> None:
    """A gradient for every token, through torch.func: vmap over grad, in chunks."""
    tokens_NT = batch.tokens_BT[torch.from_numpy(batch.sequence_N), :-1]
    columns_N = torch.from_numpy(batch.column_N)

    def objective(values: dict[str, torch.Tensor], tokens_T: torch.Tensor, column: torch.Tensor, row_V: torch.Tensor):
        logits_TV = model.logits(values, tokens_T[None])[0]
        return (row_V * logits_TV.index_select(0, column[None])[0].log_softmax(-1)).sum()

    gradients = vmap(grad(objective), in_dims=(None, 0, 0, 0))
    for start in range(0, len(tokens_NT), chunk):
        part = slice(start, start + chunk)
        gradients(dict(params), tokens_NT[part], columns_N[part], rows_NV[part])


def contenders(simulator: Simulator) -> dict[str, Callable[[], object]]:
    """What is timed, by name; the first is the yardstick."""
    moment, base, directions = Moment(CONFIG), simulator.world.policies["base"], simulator.world.plane.directions
    batch = draw_batch(base.model, base.params, CONFIG.source, CONFIG.seed, 0, 0)
    inputs_BT, point = batch.tokens_BT[:, :-1], Linearisation(base.model, base.params, batch)
    log_q_NV = teacher_log_probs(base.model, base.params, batch, "hint", CONFIG.seed, 0, 0, 1.0)
    rows_NV = weigh(batch, point.log_p_NV, log_q_NV, CONFIG).rows_NV
    D_KNV = point.push(directions)
    leaves = {name: value.clone().requires_grad_() for name, value in base.params.items()}
    clipped = CONFIG.model_copy(update={"clip": Clip(on=True)})
    mixed = CONFIG.model_copy(update={"teacher": CONFIG.teacher.model_copy(update={"weight": 0.5})})
    draws = iter(range(1, 10**9))
    thresholds = iter(range(1, 10**9))

    def forward_backward() -> None:
        picked = batch.gather(base.model.logits(leaves, inputs_BT)).log_softmax(-1)
        torch.autograd.grad((rows_NV * picked).sum(), list(leaves.values()))

    def reweigh() -> None:
        for config in (clipped, mixed):
            coordinates(D_KNV, weigh(batch, point.log_p_NV, log_q_NV, config).rows_NV)

    def toggled_frame() -> None:
        clip = Clip(on=True, threshold=1 + 1e-6 * next(thresholds))
        simulator.frame(Moment(CONFIG.model_copy(update={"clip": clip})), complete=False)

    return {
        "forward + backward": forward_backward,
        "directions, analytic, K = 2": lambda: directional_logits(base.model, base.params, inputs_BT, directions),
        "directions, vmap(jvp), K = 2": lambda: general(base.model, base.params, inputs_BT, directions),
        "linearise (forward, kept)": lambda: Linearisation(base.model, base.params, batch),
        "exact norms of all sites": lambda: site_norms(point, rows_NV),
        "re-weighting: clip, then lambda (two)": reweigh,
        "frame after a toggled clip": toggled_frame,
        "redraw: frame of a new batch": lambda: simulator.frame(replace(moment, draw=next(draws)), complete=False),
        "gradient per token, vmap(grad)": lambda: per_token_gradients(base.model, base.params, batch, rows_NV, 64),
    }


def main() -> None:
    """Print the table, with the machine's description."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--no-page", action="store_true", help="leave the browser out")
    options = parser.parse_args()
    use_one_thread()
    simulator = Simulator(World.load())
    timed = contenders(simulator)
    sites = len(simulator.frame(Moment(CONFIG), complete=False).sites.text)
    print(f"{machine()}\n{sites} sites, one thread, {options.rounds} rounds\n")
    seconds: dict[str, list[float]] = {name: [] for name in timed}
    for done in range(options.rounds + 1):
        for name, run in timed.items():
            start = time.perf_counter()
            run()
            if done:
                seconds[name].append(time.perf_counter() - start)
        print(f"round {done} of {options.rounds}", file=sys.stderr)
    yardstick = next(iter(seconds.values()))
    print(f"{'':42}{'median ms':>10}{'ratio':>10}   (ratios to the first row, each the median of the rounds' own)")
    for name, times in seconds.items():
        ratio = statistics.median(a / b for a, b in zip(times, yardstick, strict=True))
        print(f"{name:42}{1e3 * statistics.median(times):10.1f}{ratio:10.2f}")
    pair = zip(seconds["gradient per token, vmap(grad)"], seconds["directions, analytic, K = 2"], strict=True)
    print(f"\ndirections are {statistics.median(a / b for a, b in pair):.0f} times faster than a gradient per token")
    if not options.no_page:
        from tests.page_bench import page_times

        for name, times in page_times(options.rounds).items():
            print(f"{name:42}{1e3 * statistics.median(times):10.0f} ms")


def machine() -> str:
    """Processor, cores and versions."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    return f"{model}, {os.cpu_count()} cores; Python {platform.python_version()}, torch {torch.__version__}"


if __name__ == "__main__":
    main()
