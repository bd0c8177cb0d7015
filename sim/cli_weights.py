"""The commands under ``gradcloud weights``: verify the shipped files, or make them again."""

from pathlib import Path
from typing import Annotated

import typer

from sim.errors import InvalidInput, WeightsError
from sim.sentences import nearest, shown
from sim.shell import check_target, progress

weights = typer.Typer(
    help="The shipped weights: verify them, or train them again.", no_args_is_help=True, rich_markup_mode=None
)


@weights.command()
def verify(
    hashes_only: Annotated[
        bool, typer.Option("--hashes-only", help="Compare the files' hashes, and measure nothing.")
    ] = False,
) -> None:
    """Check the files' hashes and what the models must reach; exit status 1 if one fails."""
    from sim.weights import problems

    found = problems()
    for name, problem in found.items():
        if problem is None:
            typer.echo(f"{name}: hash ok")
    if bad := [problem for problem in found.values() if problem is not None]:
        raise WeightsError("; ".join(bad))
    if not hashes_only:
        _verify_targets()


@weights.command()
def train(
    name: Annotated[
        str | None, typer.Argument(help="Whose: a policy's name, or plane; all in turn if none is given.")
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="Where to write, instead of over the shipped file.")
    ] = None,
) -> None:
    """Make weights again from their seed; minutes each."""
    if name is None and out is not None:
        raise InvalidInput(["--out: got a file for all weights, allowed with one name; name one"])
    if out is not None:
        check_target("--out", out, stdout=False)
    from sim.simulator import use_one_thread
    from sim.weights import make
    from sim.world import NAMES

    if name is not None and name not in NAMES:
        meant = nearest(name, NAMES)
        advice = f'did you mean "{meant}"?' if meant else f"allowed: {', '.join(NAMES)}"
        raise InvalidInput([f"no weights are called {shown(name)}; {advice}"])
    use_one_thread()
    for each in NAMES if name is None else [name]:
        with progress(None, each, "step") as bar:

            def advance(done: int, total: int) -> None:
                bar.total = total
                bar.update(done - bar.n)

            path, digest = make(each, None if out is None else Path(out), advance)
        typer.echo(f"{each}: {path}, SHA-256 {digest}")


def _verify_targets() -> None:
    from sim.report import number, table
    from sim.simulator import use_one_thread
    from sim.targets import measure
    from sim.world import World

    use_one_thread()
    with progress(None, "measuring", "part") as bar:

        def advance(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        targets = measure(World.load(), advance)
    rows = [
        (target.name, f"{target.low:g} to {target.high:g}", number(target.measured), "ok" if target.met else "missed")
        for target in targets
    ]
    typer.echo(table([("what", "target", "measured", ""), *rows], right=[2]))
    if missed := [target.name for target in targets if not target.met]:
        raise WeightsError(f"{len(missed)} of {len(targets)} targets missed: {', '.join(missed)}")
