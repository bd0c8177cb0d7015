"""A small ledger for tests; its numbers are made up, and stand for none that ship."""

from typing import Any

HOSTILE = "<img src=x onerror=alert(1)>"


def measurement(name: str = "slope", *values: float | None, unit: str = "") -> dict[str, Any]:
    known = [value for value in values if value is not None]
    mean, low, high = (sum(known) / len(known), min(known), max(known)) if known else (None, None, None)
    return {"name": name, "unit": unit, "values": list(values), "mean": mean, "low": low, "high": high}


def claim(name: str = "rl-noise-cancels", **changes: Any) -> dict[str, Any]:
    return {
        "name": name,
        "topic": "clouds",
        "claim": "The noise of RL's gradient cancels as the batch grows.",
        "source": "Gradient geometry",
        "presets": ["rl-noise-cancels"],
        "setting": "16 x 8 rollouts, SGD 0.3, draw 0",
        "measurements": [measurement("slope of |G| against prompts", -0.4, -0.39, -0.42)],
        "verdict": "holds here",
        "condition": "",
        "note": "Four times the batch, half the length.",
        "seconds": 12.3,
    } | changes


def ledger(*claims: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "made": {
            "gradcloud": "0.1.0",
            "python": "3.11.7",
            "torch": "2.13.0+cpu",
            "numpy": "2.3.0",
            "weights": {"base": "0123456789abcdef" * 4},
            "seeds": [0, 1, 2],
            "machine": "two cores",
        },
        "claims": list(claims) or [claim()],
        "tables": [],
    } | changes


def three() -> dict[str, Any]:
    """One claim of each verdict, on two topics, and a table."""
    return ledger(
        claim(),
        claim(
            "clip-brings-inside",
            claim="A clip brings the hinted student's step inside the safe radius.",
            verdict="holds only when",
            condition="the threshold is at most 1 nat.",
            presets=["opsd-collapse", "opsd-clipped"],
            measurements=[
                measurement("update over safe radius, no clip", 2.16, 2.4, 1.98),
                measurement("the same, clip at 1 nat", 0.11, None, 0.14),
                measurement("KL of the step", 0.0304, 0.05, 0.02, unit="nats"),
            ],
        ),
        claim(
            "sft-is-safe",
            topic="runs",
            claim="A step of SFT is a safe one.",
            verdict="does not hold here",
            presets=[],
            measurements=[measurement("update over safe radius", 2.21, 2.35, 2.5)],
        ),
        tables=[
            {
                "name": "forgetting",
                "title": "What is forgotten",
                "note": "Skills kept after 100 steps.",
                "columns": ["method", "facts", "copying"],
                "rows": [["RL", 0.99, 1], ["SFT", 0.61, None]],
            }
        ],
    )
