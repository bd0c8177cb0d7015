"""The commands ``gradcloud changes`` and ``gradcloud batch-law``: what runs made of the student; batch sizes."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sim.errors import InvalidInput, NonFinite
from sim.options import MAX_STEPS, Assignments, PresetName, Target, configured, simulator
from sim.shell import check_target, interruptible, opened, progress, whole

if TYPE_CHECKING:
    from sim.batch_law import BatchLaw, Size
    from sim.changes import Change, Diverged

MAX_DRAWS = 1_000


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(changes)
    app.command("batch-law")(batch_law)


def changes(
    presets: Annotated[
        list[str], typer.Argument(metavar="PRESET", help="Presets' names, or JSON files.", show_default=False)
    ],
    steps: Annotated[int, typer.Option(parser=whole(1, MAX_STEPS), metavar="N", help="Updates that each run takes.")],
    assignments: Assignments = None,
    target: Target = None,
) -> None:
    """Take steps with each preset and compare what became of the student: skills, KL, drift of states, parameters.

    The base's own drift is that between two samples of it. What --set replaces holds for every preset. A run that does
    not stay finite is named beside the others, and the exit status is 1.
    """
    runs = [(name, configured(name, assignments)[1]) for name in presets]
    if twice := {name for name in presets if presets.count(name) > 1}:
        raise InvalidInput([f"PRESET: got {', '.join(sorted(twice))} twice, allowed is once each; name it once"])
    if target is not None:
        check_target("--json", target)
    from sim.changes import PUBLISHED, PUBLISHED_SOURCE, Diverged
    from sim.changes import changes as measured

    engine = simulator()
    with progress(steps * len(runs), "training", "step") as bar, interruptible() as cancel:
        rows = list(measured(engine, runs, steps, lambda done: bar.update(done - bar.n), cancel))
    if target is None:
        typer.echo(_changes_report(rows))
    else:
        published = {"model": PUBLISHED_SOURCE, "rows": [vars(row) for row in PUBLISHED]}
        _write(target, {"rows": [row.to_json() for row in rows], "another_model": published})
    if failed := [f"{row.name}: {row.reason}" for row in rows if isinstance(row, Diverged)]:
        raise NonFinite("; ".join(failed))


def batch_law(
    preset: PresetName,
    draws: Annotated[
        int, typer.Option(parser=whole(2, MAX_DRAWS), metavar="N", help="Batches that are measured at each size.")
    ] = 16,
    assignments: Assignments = None,
    target: Target = None,
) -> None:
    """Measure the update's gradient at each batch size, and the size at which its signal equals its noise."""
    loaded, config = configured(preset, assignments)
    if target is not None:
        check_target("--json", target)
    from sim.batch_law import batch_law as law_of
    from sim.batch_law import lengths, sizes_of

    engine = simulator()
    with progress(draws * len(sizes_of(config)), "measuring", "batch") as bar, interruptible() as cancel:
        sizes = list(lengths(engine, config, draws, lambda done: bar.update(done - bar.n), cancel))
    law = law_of(sizes)
    if target is None:
        typer.echo(f"{loaded.title}\n\n{_batch_report(sizes, law)}")
        return
    rows = [vars(size) | {"root_mean_square": size.root_mean_square} for size in sizes]
    _write(target, {"config": config.model_dump(mode="json"), "sizes": rows, **_readings(law)})


def _changes_report(rows: "list[Change | Diverged]") -> str:
    from sim.changes import PUBLISHED, PUBLISHED_SOURCE, Diverged
    from sim.report import number, table

    base = next(row for row in rows if not isinstance(row, Diverged))
    skills = ("", "accuracy", *base.kept_skills, "forgotten", "retained", "KL", "KL a point", "")
    became = [
        (row.name, *["-"] * (len(skills) - 2), f"not finite: {row.reason}")
        if isinstance(row, Diverged)
        else (
            row.name,
            *map(number, (row.task_accuracy, *row.kept_skills.values(), row.mean_forgetting, row.mean_retention)),
            *map(number, (row.kl, row.kl_per_point)),
            "collapsed" if row.collapsed else "",
        )
        for row in rows
    ]
    shares = (f"> {tau:g}" for tau in base.moved.changed)
    distances = ("", "MMD^2", "p", "sliced W1", "centroid", "Jaccard", *shares, "eff. rank", "of full")
    went = [
        (row.name, *["-"] * (len(distances) - 1))
        if isinstance(row, Diverged)
        else (
            row.name,
            *map(number, (row.drift.mmd2, row.drift.mmd_p, row.drift.sliced_wasserstein, row.drift.centroid)),
            *map(number, (row.drift.jaccard, *row.moved.changed.values())),
            *map(number, (row.moved.effective_rank, row.moved.rank_share)),
        )
        for row in rows
    ]
    published = [
        (row.name, *("-" if value is None else f"{value:g}" for name, value in vars(row).items() if name != "name"))
        for row in PUBLISHED
    ]
    theirs = ("", "GSM8K", "TruthfulQA", "MMLU", "forgotten", "retained", "MMD^2")
    return "\n\n".join(
        [
            f"after {rows[-1].steps} steps; KL in nats a token, and for each percentage point of accuracy gained",
            table([skills, *became], right=range(1, len(skills) - 1)),
            "states against the base's with the same random numbers (the base's own row: with others); share of\n"
            "parameters that moved by more than so much of themselves; mean effective rank of the matrices' changes",
            table([distances, *went], right=range(1, len(distances))),
            f"ANOTHER model, not measured here: {PUBLISHED_SOURCE}; its drift has other prompts and features",
            table([theirs, *published], right=range(1, len(theirs))),
        ]
    )


def _batch_report(sizes: "list[Size]", law: "BatchLaw") -> str:
    from sim.frame import Undetermined
    from sim.report import number, table

    rows = [
        (str(size.prompts), str(size.rollouts), number(size.root_mean_square), f"{size.silent} of {size.draws}")
        for size in sizes
    ]
    values = [
        ("slope of log |G| on log batch (-0.5: noise alone, 0: signal alone)", law.slope),
        ("signal |mu|^2", law.signal),
        ("  its standard error", law.signal_error),
        ("noise tr(Sigma) of one prompt", law.noise),
        ("noise scale, where signal equals noise, prompts", law.noise_scale_prompts),
        ("  in rollouts", law.noise_scale_rollouts),
    ]
    fitted = [
        (label, number(value), value.reason if isinstance(value, Undetermined) else "") for label, value in values
    ]
    return "\n\n".join(
        [
            table([("prompts", "rollouts", "rms |G|", "without a signal"), *rows], right=range(4)),
            table(fitted, right=[1]),
        ]
    )


def _readings(law: "BatchLaw") -> dict[str, Any]:
    """The law as JSON values: null where undetermined, with the reason."""
    from sim.frame import Undetermined

    values = vars(law)
    reasons = {name: value.reason for name, value in values.items() if isinstance(value, Undetermined)}
    return {name: None if name in reasons else value for name, value in values.items()} | {"reasons": reasons}


def _write(target: str, value: dict[str, Any]) -> None:
    with opened("--json", target) as file:
        file.write((json.dumps(value, allow_nan=False, ensure_ascii=False, indent=1) + "\n").encode())
