"""Claims about the hinted self: that it collapses, and what prevents it."""

from collections.abc import Mapping
from itertools import product

from sim.claim import Claim, Judgement, Numbers, Rule, Spread, in_part, listed, settings
from sim.claims_runs import ADAM, collapsed_at, end, held, named
from sim.experiments import Experiment, Result, Run
from sim.plan import Phase
from sim.sources import GRADIENTS, STATES

TOPIC = "collapse and its defences"
DIVERGENCES = {"sampled-reverse": "sampled reverse KL", "reverse": "reverse KL", "forward": "forward KL"}
OPTIMISERS: Mapping[str, tuple[str, ...]] = {"SGD": (), "Adam": ADAM}
CLIPS = {
    "entry clamp": ("clip.kind=entry-clamp", "clip.threshold=0.05"),
    "token scale": ("clip.kind=token-scale", "clip.threshold=0.05"),
    "advantage clip": ("clip.kind=advantage", "clip.threshold=1"),
}
SETTING = "hinted self, 8 x 8 rollouts, at most 100 steps, a record every 10; SGD at 0.3, Adam at 0.0003"


def run(seed: int, divergence: str, optimiser: str, *assignments: str) -> Run:
    """A run of the hinted self that ends when it collapses."""
    chosen = (f"teacher.divergence={divergence}", "source.prompts=8", *OPTIMISERS[optimiser], *assignments)
    return Run((Phase(settings("opsd-collapse", seed, *chosen), 100),), every=10, stop=True)


def cells(*assignments: str) -> dict[str, tuple[str, str, tuple[str, ...]]]:
    """A run's name for each divergence and optimiser."""
    return {f"{DIVERGENCES[d]}, {o}": (d, o, assignments) for d, o in product(DIVERGENCES, OPTIMISERS)}


UNDEFENDED = cells("clip.on=false")
FROZEN = cells("clip.on=false", "teacher.parameters=frozen")
CLIPPED = {
    f"{clip}, {name}": (d, o, ("clip.on=true", *CLIPS[clip]))
    for clip in CLIPS
    for name, (d, o, _) in UNDEFENDED.items()
}
Cells = Mapping[str, tuple[str, str, tuple[str, ...]]]


def _experiments(grid: Cells, seed: int) -> dict[str, Experiment]:
    return {name: run(seed, d, o, *assignments) for name, (d, o, assignments) in grid.items()}


def _steps(results: Mapping[str, Result]) -> Numbers:
    return {name: collapsed_at(result) for name, result in results.items()}


def _units(grid: Cells) -> dict[str, str]:
    return {name: f"step of collapse, {name} (none: held)" for name in grid}


def survivors(spread: Spread, grid: Cells) -> dict[str, int]:
    """Of how many seeds each cell's runs held."""
    return {name: sum(value is None for value in spread.values(name)) for name in grid}


def _judge_collapse(spread: Spread) -> Judgement:
    count = len(spread.seeds)
    steps = [value for name in UNDEFENDED for value in spread.known(name)]
    where = f"between steps {min(steps):.0f} and {max(steps):.0f}" if steps else "nowhere"
    note = f"Of {count * len(UNDEFENDED)} runs {len(steps)} collapsed, {where}."
    return in_part(spread, {f"with {name}": _gone(name) for name in UNDEFENDED}, note)


def _gone(name: str) -> Rule:
    return lambda seed: seed.has(name)


def _kept(name: str) -> Rule:
    return lambda seed: not seed.has(name)


def _judge_frozen(spread: Spread) -> Judgement:
    kept = survivors(spread, FROZEN)
    note = f"Of {len(spread.seeds) * len(FROZEN)} runs with a frozen teacher {sum(kept.values())} held for 100 steps."
    return in_part(spread, {f"with {name}": _kept(name) for name in FROZEN}, note)


def _judge_clips(spread: Spread) -> Judgement:
    kept, count = survivors(spread, CLIPPED), len(spread.seeds)
    lines, whole = [], []
    for clip, optimiser in product(CLIPS, OPTIMISERS):
        mine = {d: kept[f"{clip}, {d}, {optimiser}"] for d in DIVERGENCES.values()}
        good = [d for d, k in mine.items() if k == count]
        if good:
            lines.append(f"{clip} with {optimiser} and {listed(good)}")
        if len(good) == len(mine):
            whole.append(f"{clip} with {optimiser}")
    note = f"Of {count * len(CLIPPED)} clipped runs {sum(kept.values())} held for 100 steps. " + (
        f"Whatever the divergence, these hold: {listed(whole)}." if whole else "No clip holds for every divergence."
    )
    if len(whole) == len(CLIPS) * len(OPTIMISERS):
        return Judgement("holds here", note)
    if not lines:
        return Judgement("does not hold here", note)
    return Judgement("holds only when", note, "the clip is: " + "; ".join(lines))


def _judge_one_step(spread: Spread) -> Judgement:
    note = (
        f"From the over-trained teacher, the full forward KL at the student's own prefixes ends at accuracy "
        f"{spread.said('forward')}, the full reverse KL at {spread.said('reverse')}, continuations of 8 words at "
        f"{spread.said('continuation')}."
    )
    return in_part(
        spread,
        {
            "the divergence is the reverse KL": lambda n: n["reverse_held"] == 0 and n["continuation_held"] == 1,
            "it is the forward KL": lambda n: n["forward_held"] == 0 and n["continuation_held"] == 1,
        },
        note,
    )


CLAIMS = (
    Claim(
        "hinted-self-collapses", TOPIC, "Undefended, the hinted self collapses within about 100 steps.", GRADIENTS,
        ("opsd-collapse",), SETTING, lambda seed: _experiments(UNDEFENDED, seed), _steps, _judge_collapse,
        _units(UNDEFENDED),
    ),
    Claim(
        "clip-prevents-collapse", TOPIC, "A clip of what one token may pull prevents the collapse.", GRADIENTS,
        ("opsd-clipped", "opsd-entry-clamp"),
        SETTING + "; entry clamp and token scale at 0.05 nats, advantage clip at 1",
        lambda seed: _experiments(CLIPPED, seed), _steps, _judge_clips, _units(CLIPPED),
    ),
    Claim(
        "frozen-teacher-prevents-collapse", TOPIC, "A teacher frozen at the start prevents the collapse.", GRADIENTS,
        ("opsd-frozen-teacher",), SETTING, lambda seed: _experiments(FROZEN, seed), _steps, _judge_frozen,
        _units(FROZEN),
    ),
    Claim(
        "one-step-collapses", TOPIC, "One-step distillation collapses where continuation does not.", STATES,
        ("opd-one-step", "opd-continuation"), "over-trained teacher, 16 x 8 rollouts, 60 steps of SGD at 0.3",
        lambda seed: {name: named(name, seed) for name in ("one-step", "one-step-reverse", "continuation")},
        lambda r: {
            "forward": end(r["one-step"])["task_accuracy"], "reverse": end(r["one-step-reverse"])["task_accuracy"],
            "continuation": end(r["continuation"])["task_accuracy"],
            "forward_held": float(held(r["one-step"])), "reverse_held": float(held(r["one-step-reverse"])),
            "continuation_held": float(held(r["continuation"])),
        },
        _judge_one_step,
        {"forward": "accuracy, one step, forward KL", "reverse": "accuracy, one step, reverse KL",
         "continuation": "accuracy, continuation of 8 words", "forward_held": "held, forward KL (1: yes)",
         "reverse_held": "held, reverse KL (1: yes)", "continuation_held": "held, continuation (1: yes)"},
    ),
)  # fmt: skip
