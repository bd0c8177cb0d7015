"""The ledger: every claim measured, judged, and written down with what it was made with."""

import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from sim import (
    claims_clouds,
    claims_collapse,
    claims_contexts,
    claims_forgetting,
    claims_learning,
    claims_teachers,
)
from sim.changes import PUBLISHED, PUBLISHED_SOURCE
from sim.claim import Claim, Numbers, Spread
from sim.claims_runs import RUNS, end, forgotten, held, named, start
from sim.experiments import Experiment, Result
from sim.installed import installed
from sim.lab import Lab, machine
from sim.ledger_file import SCHEMA_VERSION, Ledger
from sim.world import expected_hashes

SEEDS = (0, 1, 2)
CLAIMS: tuple[Claim, ...] = (
    *claims_clouds.CLAIMS,
    *claims_teachers.CLAIMS,
    *claims_collapse.CLAIMS,
    *claims_learning.CLAIMS,
    *claims_forgetting.CLAIMS,
    *claims_contexts.CLAIMS,
)


def experiments(claims: Iterable[Claim], seeds: Sequence[int]) -> list[Experiment]:
    """Everything that some claims need, each once."""
    needed: dict[Experiment, None] = {}
    for claim in claims:
        for seed in seeds:
            needed |= dict.fromkeys(claim.experiments(seed).values())
    return list(needed)


def judged(claim: Claim, lab: Lab, seeds: Sequence[int]) -> dict[str, Any]:
    """One claim of the ledger; its experiments must be known to the lab."""
    numbers, seconds = [], 0.0
    for seed in seeds:
        results = {name: _result(lab, experiment) for name, experiment in claim.experiments(seed).items()}
        seconds += sum(result["seconds"] for result in results.values())
        numbers.append(claim.numbers(results))
    found = claim.judge(Spread(numbers))
    return {
        "name": claim.name,
        "topic": claim.topic,
        "claim": claim.claim,
        "source": claim.source,
        "presets": list(claim.presets),
        "setting": claim.setting,
        "measurements": [_measurement(label, name, numbers) for name, label in claim.units.items()],
        "verdict": found.verdict,
        "condition": found.condition,
        "note": found.note,
        "seconds": round(seconds, 1),
    }


def ledger(claims: Iterable[Claim], lab: Lab, seeds: Sequence[int] = SEEDS, tables: bool = True) -> Ledger:
    """The ledger of some claims, all of whose experiments the lab knows."""
    return Ledger.model_validate(
        {
            "schema_version": SCHEMA_VERSION,
            "made": made(seeds),
            "claims": [judged(claim, lab, seeds) for claim in claims],
            "tables": [state_table(lab, seeds), published_table()] if tables else [],
        }
    )


def made(seeds: Sequence[int]) -> dict[str, Any]:
    """With what a ledger is made."""
    return {
        "gradcloud": installed("not installed"),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "weights": expected_hashes(),
        "seeds": list(seeds),
        "machine": machine(),
    }


def state_table(lab: Lab, seeds: Sequence[int]) -> dict[str, Any]:
    """What each named run has become: means over seeds."""
    columns: Mapping[str, Callable[[Result], float | None]] = {
        "accuracy": lambda r: end(r)["task_accuracy"],
        "facts": lambda r: end(r)["kept_skills"]["facts"],
        "copying": lambda r: end(r)["kept_skills"]["copying"],
        "forgetting": lambda r: forgotten(end(r), start(r)),
        "entropy": lambda r: end(r)["entropy"],
        "KL": lambda r: end(r)["kl_from_start"],
        "MMD^2": lambda r: _change(r, "mmd2"),
        "sliced W1": lambda r: _change(r, "sliced_wasserstein"),
        "centroid": lambda r: _change(r, "centroid"),
        "Jaccard": lambda r: _change(r, "jaccard"),
        "changed > 1 %": lambda r: r["changes"]["changed"]["0.01"] if "changes" in r else None,
        "effective rank": lambda r: _change(r, "rank_share"),
    }
    rows: list[list[Any]] = []
    for name, (preset, assignments, steps, _) in RUNS.items():
        results = [_result(lab, named(name, seed)) for seed in seeds]
        sound = sum(map(held, results))
        cells = [_rounded([read(result) for result in results]) for read in columns.values()]
        rows.append([name, " ".join([preset, *assignments]), steps, f"{sound} of {len(results)}", *cells])
    return {
        "name": "runs",
        "title": "What each run of this ledger has become",
        "note": "Means over seeds at the last step; held: seeds that did not collapse. Forgetting is the mean over "
        "facts and copying; KL in nats a site of the student's own answers; MMD^2, sliced Wasserstein-1, centroid and "
        "Jaccard distances of the states of 96 prompts' answers from the base's.",
        "columns": ["run", "settings", "steps", "held", *columns],
        "rows": rows,
    }


def published_table() -> dict[str, Any]:
    """The paper's table, of another model."""
    return {
        "name": "published",
        "title": f"Another model: {PUBLISHED_SOURCE}",
        "note": "For comparison only: another model, task, scale and feature map. Cells are those that the paper's "
        "text gives.",
        "columns": ["run", "GSM8K", "TruthfulQA", "MMLU", "forgetting", "retention", "MMD"],
        "rows": [
            [row.name, row.gsm8k, row.truthfulqa, row.mmlu, row.mean_forgetting, row.mean_retention, row.mmd2]
            for row in PUBLISHED
        ],
    }


def _result(lab: Lab, experiment: Experiment) -> Result:
    result = lab.known(experiment)
    if result is None:
        raise LookupError(f"not measured: {experiment}")
    return result


def _measurement(label: str, name: str, numbers: Sequence[Numbers]) -> dict[str, Any]:
    values = [None if each[name] is None else float(f"{each[name]:.4g}") for each in numbers]
    known = [value for value in values if value is not None]
    return {
        "name": label,
        "unit": "",
        "values": values,
        "mean": float(f"{np.mean(known):.4g}") if known else None,
        "low": min(known, default=None),
        "high": max(known, default=None),
    }


def _change(result: Result, name: str) -> float | None:
    return result["changes"][name] if "changes" in result else None


def _rounded(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(f"{np.mean(known):.3g}") if known else None
