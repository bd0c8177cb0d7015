"""Claims about collapse: of the hinted self and of other teachers' students, and what prevents it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from sim.claim import Claim, Judgement, Numbers, Spread, in_part, listed, settings
from sim.claims_runs import ADAM, end, held, named, steps_held
from sim.experiments import Experiment, Result, Run
from sim.plan import Phase
from sim.sources import GRADIENTS, STATES

TOPIC = "collapse and its defences"
DIVERGENCES = {"sampled-reverse": "sampled reverse KL", "reverse": "reverse KL", "forward": "forward KL"}
OPTIMISERS: Mapping[str, tuple[str, ...]] = {"SGD": (), "Adam": ADAM}
CLIPS = {
    "entry clamp": ("clip.on=true", "clip.kind=entry-clamp", "clip.threshold=0.05"),
    "token scale": ("clip.on=true", "clip.kind=token-scale", "clip.threshold=0.05"),
    "advantage clip": ("clip.on=true", "clip.kind=advantage", "clip.threshold=1"),
}
STEPS = 100
#: The kind of run beside which a defence is judged.
UNGUARDED, FROZEN_KIND = "undefended", "frozen teacher"
SETTING = f"8 x 8 rollouts, at most {STEPS} steps, a record every 10; SGD at 0.3, Adam at 0.0003"


@dataclass(frozen=True)
class Cell:
    """A run of a grid: a divergence and an optimiser, and what else distinguishes it."""

    divergence: str
    optimiser: str
    kind: str = ""

    @property
    def name(self) -> str:
        """The cell in words."""
        kind = f"{self.kind}, " if self.kind else ""
        return f"{kind}{DIVERGENCES[self.divergence]}, {self.optimiser}"


class Grid:
    """Runs of a preset under each divergence and optimiser; each ends at its collapse, or after STEPS."""

    def __init__(self, preset: str, *assignments: str, kinds: Mapping[str, tuple[str, ...]] | None = None) -> None:
        self.preset, self.assignments, self.kinds = preset, assignments, kinds or {"": ()}
        self.cells = [Cell(d, o, kind) for kind in self.kinds for d, o in product(DIVERGENCES, OPTIMISERS)]

    def experiments(self, seed: int) -> dict[str, Experiment]:
        """The runs of a seed."""
        return {cell.name: self._run(cell, seed) for cell in self.cells}

    def numbers(self, results: Mapping[str, Result]) -> Numbers:
        """The steps that each run held."""
        return {name: float(steps_held(result)) for name, result in results.items()}

    @property
    def units(self) -> dict[str, str]:
        """What the numbers are."""
        return {cell.name: f"steps held of {STEPS}, {cell.name}" for cell in self.cells}

    def where(self, spread: Spread, good: Callable[[list[float]], bool], kind: str = "") -> dict[str, list[str]]:
        """For each optimiser, the divergences whose steps held, one number a seed, are good."""
        return {
            optimiser: [
                DIVERGENCES[cell.divergence]
                for cell in self.cells
                if (cell.optimiser, cell.kind) == (optimiser, kind) and good(spread.known(cell.name))
            ]
            for optimiser in OPTIMISERS
        }

    def at_risk(self, spread: Spread) -> dict[str, list[str]]:
        """For each optimiser, the divergences under which an undefended run of some seed collapses."""
        return self.where(spread, lambda steps: not always_held(steps), UNGUARDED)

    def prevented(self, spread: Spread, kind: str) -> dict[str, list[str]]:
        """Of those at risk, the divergences under which every seed's run of a kind holds to its end."""
        risk = self.at_risk(spread)
        return {
            optimiser: [name for name in names if name in risk[optimiser]]
            for optimiser, names in self.where(spread, always_held, kind).items()
        }

    def survivors(self, spread: Spread) -> int:
        """How many runs of all seeds held to their end."""
        return sum(held == STEPS for cell in self.cells for held in spread.known(cell.name))

    def _run(self, cell: Cell, seed: int) -> Run:
        chosen = (f"teacher.divergence={cell.divergence}", "source.prompts=8", *self.assignments)
        config = settings(self.preset, seed, *chosen, *OPTIMISERS[cell.optimiser], *self.kinds[cell.kind])
        return Run((Phase(config, STEPS),), every=10, stop=True)


def always_held(steps: list[float]) -> bool:
    """Whether every seed's run held to its end."""
    return all(each == STEPS for each in steps)


def never_held(steps: list[float]) -> bool:
    """Whether no seed's run held to its end."""
    return all(each < STEPS for each in steps)


def under(found: Mapping[str, Sequence[str]]) -> str:
    """Optimisers with their divergences, in a sentence; empty where there is none."""
    told = [
        f"{optimiser} with {'every divergence' if len(names) == len(DIVERGENCES) else listed(names)}"
        for optimiser, names in found.items()
        if names
    ]
    return ", or ".join(told)


UNDEFENDED = Grid("opsd-collapse", "clip.on=false")
FROZEN = Grid("opsd-collapse", "clip.on=false", kinds={UNGUARDED: (), FROZEN_KIND: ("teacher.parameters=frozen",)})
CLIPPED = Grid("opsd-collapse", kinds={UNGUARDED: ("clip.on=false",), **CLIPS})
SAME_FAMILY = Grid("opd-same-family", "clip.on=false")


def _verdict(where: Mapping[str, Sequence[str]], total: int, note: str) -> Judgement:
    count = sum(map(len, where.values()))
    if count == 0:
        return Judgement("does not hold here", note)
    if count == total:
        return Judgement("holds here", note)
    return Judgement("holds only when", note, f"the optimiser is {under(where)}")


def _judge_collapse(spread: Spread) -> Judgement:
    total = len(spread.seeds) * len(UNDEFENDED.cells)
    note = f"Of {total} undefended runs {total - UNDEFENDED.survivors(spread)} collapsed within {STEPS} steps."
    return _verdict(UNDEFENDED.where(spread, never_held), len(UNDEFENDED.cells), note)


def _judge_frozen(spread: Spread) -> Judgement:
    risk, saved = FROZEN.at_risk(spread), FROZEN.prevented(spread, FROZEN_KIND)
    note = f"Undefended, a run of some seed collapses with {under(risk)}; elsewhere there is nothing to prevent."
    return _verdict(saved, sum(map(len, risk.values())), note)


def _judge_same_family(spread: Spread) -> Judgement:
    note = (
        f"Of {len(spread.seeds) * len(SAME_FAMILY.cells)} undefended runs under the same-family teacher "
        f"{SAME_FAMILY.survivors(spread)} held for {STEPS} steps."
    )
    return _verdict(SAME_FAMILY.where(spread, always_held), len(SAME_FAMILY.cells), note)


def _judge_clips(spread: Spread) -> Judgement:
    risk, where = CLIPPED.at_risk(spread), {clip: CLIPPED.prevented(spread, clip) for clip in CLIPS}
    count, total = sum(len(names) for found in where.values() for names in found.values()), sum(map(len, risk.values()))
    note = (
        f"Undefended, a run of some seed collapses with {under(risk)}; elsewhere there is nothing to prevent. Of these "
        f"{total} pairs with each of {len(CLIPS)} clips, {count} held for every seed."
    )
    if count == 0:
        return Judgement("does not hold here", note)
    if count == len(CLIPS) * total:
        return Judgement("holds here", note)
    lines = [f"{clip} ({under(found)})" for clip, found in where.items() if under(found)]
    return Judgement("holds only when", note, f"the clip is {', '.join(lines)}")


def _judge_one_step(spread: Spread) -> Judgement:
    note = (
        f"From the over-trained teacher, the full forward KL at the student's own prefixes ends at accuracy "
        f"{spread.said('forward')}, the full reverse KL at {spread.said('reverse')}, continuations of 8 words at "
        f"{spread.said('continuation')}."
    )
    return in_part(
        spread,
        {
            "the reverse KL": lambda n: n["reverse_held"] == 0 and n["continuation_held"] == 1,
            "the forward KL": lambda n: n["forward_held"] == 0 and n["continuation_held"] == 1,
        },
        note,
        lead="the divergence is",
        but="not",
    )


CLAIMS = (
    Claim(
        "hinted-self-collapses", TOPIC, "Undefended, the hinted self collapses within about 100 steps.", GRADIENTS,
        ("opsd-collapse",), SETTING, UNDEFENDED.experiments, UNDEFENDED.numbers, _judge_collapse, UNDEFENDED.units,
    ),
    Claim(
        "clip-prevents-collapse", TOPIC, "A clip of what one token may pull prevents the collapse.", GRADIENTS,
        ("opsd-clipped", "opsd-entry-clamp"),
        SETTING + "; entry clamp and token scale at 0.05 nats, advantage clip at 1",
        CLIPPED.experiments, CLIPPED.numbers, _judge_clips, CLIPPED.units,
    ),
    Claim(
        "frozen-teacher-prevents-collapse", TOPIC, "A teacher frozen at the start prevents the collapse.", GRADIENTS,
        ("opsd-frozen-teacher",), SETTING, FROZEN.experiments, FROZEN.numbers, _judge_frozen, FROZEN.units,
    ),
    Claim(
        "same-family-needs-no-defence", TOPIC, "Distillation from a teacher of the same family needs no defence.",
        GRADIENTS, ("opd-same-family", "opd-sampled"), SETTING, SAME_FAMILY.experiments, SAME_FAMILY.numbers,
        _judge_same_family, SAME_FAMILY.units,
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
