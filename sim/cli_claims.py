"""The command ``gradcloud claims``: each claim measured over several seeds, with its verdict."""

import os
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sim.errors import InvalidInput
from sim.options import Target
from sim.sentences import nearest, shown
from sim.shell import check_target, interruptible, opened, progress, whole

if TYPE_CHECKING:
    from sim.claim import Claim
    from sim.ledger_file import Claim as Judged
    from sim.ledger_file import Ledger, Measurement

MAX_JOBS, MAX_SEEDS = 64, 100
WIDTH = 110


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(claims)


def claims(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Claims' names; all without.", show_default=False)
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Only a few claims about single steps, in minutes.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="Only list the claims.")] = False,
    seeds: Annotated[
        int, typer.Option(parser=whole(3, MAX_SEEDS), metavar="N", help="Seeds 0 to N - 1 that each is measured over.")
    ] = 3,
    jobs: Annotated[
        int | None,
        typer.Option(parser=whole(1, MAX_JOBS), metavar="N", help="Processes that measure at once; as many as cores."),
    ] = None,
    work: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Where results are kept, so that an interrupted run goes on from there; else the user's cache.",
        ),
    ] = None,
    target: Target = None,
) -> None:
    """Measure the claims of the texts on the embedded model, and say which hold here.

    What was measured is kept, and not measured again. All claims take about an hour on two cores.
    """
    chosen = _chosen(names or [], quick)
    if list_ and target is not None:
        raise InvalidInput(["--list: got --json as well, allowed is one of the two; leave one out"])
    if list_:
        for claim in chosen:
            typer.echo(f"{claim.name}: {claim.claim}")
        return
    if target is not None:
        check_target("--json", target)
    from sim.claims_runs import RUNS, named
    from sim.lab import Lab, cache_folder
    from sim.ledger import CLAIMS, experiments, ledger
    from sim.ledger_file import dumps_ledger

    folder = cache_folder() if work is None else Path(work)
    if work == "":
        raise InvalidInput([_unwritable(work, folder, "is no folder")])
    lab = Lab(folder, jobs or os.cpu_count() or 1)
    try:
        lab.prepare()
    except FileExistsError:
        raise InvalidInput([_unwritable(work, folder, "is no folder")]) from None
    except OSError as error:
        raise InvalidInput([_unwritable(work, folder, f"cannot be written to ({error.strerror})")]) from None
    span = range(seeds)
    whole_ledger = len(chosen) == len(CLAIMS)
    needed = experiments(chosen, span)
    if whole_ledger:
        needed = list(dict.fromkeys([*needed, *(named(run, seed) for run in RUNS for seed in span)]))
    with progress(sum(each.work for each in needed), "measuring", "step") as bar, interruptible() as cancel:
        for _ in lab.measure(needed, bar.update, cancel):
            pass
    found = ledger(chosen, lab, span, tables=whole_ledger)
    if target is not None:
        with opened("--json", target) as file:
            file.write(dumps_ledger(found).encode())
    if target != "-":
        typer.echo(report(found))


def report(found: "Ledger") -> str:
    """The ledger for a person: claims, measurements, verdicts, and how many of each."""
    counts = {verdict: sum(claim.verdict == verdict for claim in found.claims) for verdict in _verdicts()}
    total = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    return "\n\n".join(
        [*map(_told, found.claims), f"{len(found.claims)} claim{'s' * (len(found.claims) != 1)}: {total}"]
    )


def _told(claim: "Judged") -> str:
    label = max(len(each.name) for each in claim.measurements)
    measured = [f"  {each.name:{label}}  {_spread(each)}" for each in claim.measurements]
    verdict = f"{claim.verdict} {claim.condition}".strip()
    return "\n".join(
        [
            _filled(f"{claim.name}: {claim.claim} ({claim.source})"),
            _filled(f"{', '.join(claim.presets)}; {claim.setting}", "  "),
            *measured,
            _filled(f"{verdict}. {claim.note}", "  "),
        ]
    )


def _spread(each: "Measurement") -> str:
    if each.mean is None:
        return "-"
    return f"{each.mean:.3g} ({each.low:.3g} to {each.high:.3g})"


def _filled(text: str, indent: str = "") -> str:
    return textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=indent + "  ")


def _verdicts() -> tuple[str, ...]:
    from sim.ledger_file import VERDICTS

    return VERDICTS


def _chosen(names: list[str], quick: bool) -> "list[Claim]":
    from sim.ledger import CLAIMS

    known = {claim.name: claim for claim in CLAIMS}
    problems = [_unknown(name, list(known)) for name in names if name not in known]
    if names and quick:
        problems.append("--quick: got names as well, allowed is one of the two; leave one out")
    if problems:
        raise InvalidInput(problems)
    if names:
        return [known[name] for name in dict.fromkeys(names)]
    return [claim for claim in CLAIMS if claim.quick or not quick]


def _unknown(name: str, known: list[str]) -> str:
    meant = nearest(name, known)
    return f"no claim is called {shown(name)}; " + (
        f'did you mean "{meant}"?' if meant else "gradcloud claims --list names them"
    )


def _unwritable(work: str | None, folder: Path, why: str) -> str:
    if work is None:
        return f"{shown(str(folder))} {why}; name another folder with --work"
    return f"--work: {shown(work)} {why}; allowed is a folder that can be written to, which is made if need be"
