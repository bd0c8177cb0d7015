"""What every command shares: errors as lines and an exit status, output that can fail, progress on stderr."""

import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import typer
from typer.core import TyperGroup

from sim.errors import Cancelled, GradcloudError, InvalidInput
from sim.sentences import shown

FAILED, REFUSED, INTERRUPTED, PIPE_CLOSED = 1, 2, 130, 141


class Guarded(TyperGroup):
    """A group of commands whose errors reach the user as lines, never as a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """The command's result, with errors that are meant for the user turned into an exit status."""
        with reported():
            return super().invoke(ctx)


@contextmanager
def reported() -> Iterator[None]:
    """Turns errors that are meant for the user into ``error:`` lines on stderr and an exit status.

    2 for input that is not accepted, 1 for what failed at work, 130 for an interrupt, 141 where the
    reader of the output has gone.
    """
    try:
        yield
        sys.stdout.flush()
    except InvalidInput as error:
        raise _said(error.problems, REFUSED) from None
    except GradcloudError as error:
        raise _said([str(error)], FAILED) from None
    except KeyboardInterrupt:
        typer.echo("\ninterrupted", err=True)
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        # The interpreter flushes once more at its end, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(PIPE_CLOSED) from None
    except OSError as error:
        raise _said([f"{error.filename or 'output'}: {error.strerror or error}"], FAILED) from None


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed, as a question that a long computation asks; a second press stops at once.

    Between two steps nothing is half done, and no library can swallow what is only asked.
    """
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN  # as for a job in a shell's background
    if ignored or threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    pressed = threading.Event()

    def press(*_: Any) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    before = signal.signal(signal.SIGINT, press)
    try:
        yield pressed.is_set
    except Cancelled:
        raise KeyboardInterrupt from None
    finally:
        signal.signal(signal.SIGINT, before)


def whole(low: int, high: int) -> Callable[[str], int]:
    """A parser of an option's whole number from `low` to `high`."""

    def parse(text: str | int) -> int:
        # Defaults arrive as numbers.
        digits = str(text)
        if not re.fullmatch(r"-?[0-9]{1,18}", digits) or not low <= int(digits) <= high:
            raise typer.BadParameter(f"got {shown(digits)[1:-1]}, allowed a whole number, {low} to {high}")
        return int(digits)

    return parse


def share(text: str | float) -> float:
    """An option's number from 0 to 1."""
    # Defaults arrive as numbers.
    digits = str(text)
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,18})?", digits) or float(digits) > 1:
        raise typer.BadParameter(f"got {shown(digits)[1:-1]}, allowed a number, 0 to 1, as in 0.5")
    return float(digits)


def check_target(option: str, target: str, stdout: bool = True) -> None:
    """Refuse, before any work is done, a file that cannot be written; ``-`` is standard output if that will do."""
    path = Path(target)
    try:
        if target == "-" and stdout:
            return
        if target in ("", "-"):
            reason = "names no file"
        elif path.is_dir():
            reason = "is a folder"
        elif not path.parent.is_dir():
            reason = "is in a folder that does not exist"
        elif not os.access(path if path.exists() else path.parent, os.W_OK):
            reason = "may not be written"
        else:
            return
    except (OSError, ValueError) as error:
        reason = str(error)
    dash = ", or - for standard output" if stdout else ""
    raise InvalidInput([f"{option}: {shown(target)} {reason}; allowed is a file in an existing folder{dash}"])


@contextmanager
def opened(option: str, target: str) -> Iterator[BinaryIO]:
    """The file to write bytes to; ``-`` is standard output."""
    check_target(option, target)
    if target == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with Path(target).open("wb") as file:
        yield file


def replaced(option: str, target: str, data: bytes) -> None:
    """Write a file as a whole or not at all; ``-`` is standard output."""
    if target == "-":
        with opened(option, target) as file:
            file.write(data)
        return
    path = Path(target)
    # What a link leads to is written, and the link stays.
    path = path.resolve() if path.is_symlink() else path
    if path.exists() and not (path.is_file() and os.access(path.parent, os.W_OK)):
        path.write_bytes(data)  # a device or a pipe, or in a folder where nothing may take its place
        return
    part = path.with_name(f".gradcloud-{os.getpid()}.part")
    try:
        part.write_bytes(data)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def progress(total: int | None, label: str, unit: str, done: int = 0) -> Any:
    """A progress bar on stderr that begins at `done`; ``update(n)`` moves it, and it is a context manager."""
    from tqdm import tqdm

    return tqdm(total=total, initial=done, desc=label, unit=unit, file=sys.stderr, dynamic_ncols=True)


def _said(problems: list[str], status: int) -> typer.Exit:
    for problem in problems:
        typer.echo(f"error: {problem}", err=True)
    return typer.Exit(status)
