"""What a file is, told by its content: a preset, a session, or an export with the record of its moment inside."""

import sys
from dataclasses import dataclass
from pathlib import Path

from sim.carried import carried, foreign
from sim.codec import MAX_BYTES as MAX_PRESET
from sim.codec import parse_object
from sim.errors import InvalidInput
from sim.lines import WHOLE, located
from sim.link import Link, parse_link
from sim.presets import builtin, json_schema, names, nothing, read_preset
from sim.sentences import shown
from sim.session_file import MAX_BYTES as MAX_SESSION
from sim.session_file import Kept, read_session
from sim.timeline import Moment
from sim.timeline import Path as Steps

#: Bytes that a file may have; of an export only the record is parsed.
MAX_BYTES = 12_000_000
#: What stands for standard input in place of a file's name.
STDIN = "-"


@dataclass(frozen=True)
class Opened(Link):
    """What a file held: a preset at the checkpoint, an export's moment, or a session at the moment where it was left.

    `name` is a shipped preset's, `kept` the session if there is one; `what` says in words what the file is.
    """

    what: str = "a preset"


def load_file(name_or_path: str) -> Opened:
    """The preset of that name that comes with the program, or else what is in that file; ``-`` is standard input.

    Raises:
        InvalidInput: if there is neither, or what it holds is not valid.
    """
    if name_or_path in names():
        preset = builtin(name_or_path)
        return Opened(preset, name_or_path, Moment(preset.config))
    if name_or_path == STDIN:
        return parse_file(sys.stdin.buffer.read(MAX_BYTES + 1), "standard input")
    try:
        exists = name_or_path != "" and Path(name_or_path).exists()
    except (OSError, ValueError):
        exists = False
    if not exists:
        raise InvalidInput([nothing("preset or file", name_or_path)])
    return parse_file(_read(Path(name_or_path)), name_or_path)


def parse_file(data: bytes, origin: str) -> Opened:
    """What a file holds that need not be trusted.

    Args:
        data: its content; anything over MAX_BYTES is not looked at.
        origin: the file's name, with which each message begins.

    Raises:
        InvalidInput: with a line for each problem: the file, the line in it, the field, what came, what is allowed,
            what to do.
    """
    if len(data) > MAX_BYTES:
        raise InvalidInput([f"{origin}: over {MAX_BYTES:,} bytes, allowed at most {MAX_BYTES:,}; open a smaller file"])
    record = carried(data)
    if record is None and foreign(data):
        raise InvalidInput([
            f"{origin}: holds no record of where it comes from, allowed is a preset, a session or what gradcloud "
            "exported; what was edited or sent by a chat may have lost it, so ask for the file itself"
        ])  # fmt: skip
    if record is None and _other_text(data):
        raise InvalidInput([
            f"{origin}: is no file of gradcloud's, allowed is a preset or a session, which begin with {{, or what "
            "gradcloud exported; open one of these"
        ])  # fmt: skip
    try:
        return _json(data) if record is None else _record(record.text)
    except InvalidInput as error:
        text, before = (data.decode(errors="replace"), 0) if record is None else (record.text, record.before)
        raise InvalidInput(located(error.problems, text, origin, before)) from None


def _other_text(data: bytes) -> bool:
    """Whether this is a text that does not begin as an object of JSON does; what is no text is told otherwise."""
    try:
        start = data[:MAX_SESSION].decode(errors="strict" if len(data) <= MAX_SESSION else "ignore").lstrip()
    except UnicodeDecodeError:
        return False
    return start != "" and start[0] not in "{\ufeff"


def _read(path: Path) -> bytes:
    if path.is_dir():
        raise InvalidInput([f"{path}: got a folder, allowed is a file or a preset's name; name a file in it"])
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InvalidInput([f"{path}: cannot be read ({error.strerror}); allowed is a readable file"]) from None


def _json(data: bytes) -> Opened:
    """A preset, or a session if it has events."""
    value = parse_object(data, WHOLE, list(json_schema()["properties"]), MAX_SESSION)
    if "events" in value:
        return _session(read_session(value))
    if len(data) > MAX_PRESET:
        raise InvalidInput([f"{WHOLE}: over {MAX_PRESET} bytes, allowed at most {MAX_PRESET} of a preset; shorten it"])
    preset = read_preset(value)
    return Opened(preset, None, Moment(preset.config))


def _session(kept: Kept) -> Opened:
    event = kept.timeline.current
    name, preset = kept.presets[kept.timeline.root(event).index]
    return Opened(preset, name, event.moment, kept=kept, what=_counted(kept))


def _counted(kept: Kept) -> str:
    events = len(kept.timeline.events)
    return f"a session of {events} event{'s' * (events != 1)}"


def _record(text: str) -> Opened:
    """The moment of an export.

    Its preset stands whole beside the link, and counts where one that ships has changed since: the numbers in the file
    are those of these settings.
    """
    value = parse_object(text, WHOLE, ["link", "preset"], MAX_PRESET)
    address = value.get("link")
    if not isinstance(address, str):
        came = f"got {shown(address)}" if "link" in value else "missing"
        raise InvalidInput([f"link: {came}, allowed is a link as text; export the file anew"])
    link, problems = parse_link(address)
    if problems:
        raise InvalidInput([f"link: {problem}" for problem in problems])
    if not isinstance(value.get("preset"), dict):
        raise InvalidInput(["preset: allowed is the preset of the link; export the file anew"])
    try:
        preset = read_preset(value["preset"])
    except InvalidInput as error:
        raise InvalidInput([f"preset.{problem}" for problem in error.problems]) from None
    moment, what = link.moment, f"an export at step {link.moment.step}, draw {link.moment.draw}"
    if preset.config != moment.config:
        steps = moment.step
        if moment.path != Steps().then(moment.config, 0, steps):
            raise InvalidInput([
                "link: its steps were taken under settings that a preset here has no more, and lead elsewhere; open "
                "this file with the version of gradcloud that made it"
            ])  # fmt: skip
        moment = Moment(preset.config, Steps().then(preset.config, 0, steps), moment.draw)
        return Opened(preset, None, moment, link.look, None, f"{what}, of a preset that has changed since")
    if link.kept is not None:
        what += f", with {_counted(link.kept)}"
    return Opened(link.preset, link.name, moment, link.look, link.kept, what)
