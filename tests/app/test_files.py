"""Files that a visitor opens and saves: a stranger's until they were read, and nothing is lost by opening one."""

import asyncio
import base64
import json
import threading
from typing import Any

import pytest

from app.files import Files
from app.frames import Frames
from app.session import Session
from app.views.files import FileDesk
from sim.errors import InvalidInput
from sim.link import Link
from sim.opening import MAX_BYTES, parse_file
from sim.presets import builtin, dumps_preset, names
from sim.record import dumps_record
from tests.app.conftest import PRESET, SMALL, begun, run, settled, until


class Desk(FileDesk):
    """Notes what it sends."""

    def __init__(self, session: Session) -> None:
        self.files, self.sent = Files(session), list[Any]()
        super().__init__(self.files, session)

    def _send_msg(self, data: Any) -> None:
        self.sent.append(data)

    async def hear(self, **message: Any) -> None:
        """Hear a message, and wait until nothing more comes of it."""
        self._handle_msg(message)
        await until(lambda: not self.told.startswith("Opening"))


def upload(text: str | bytes, name: str = "mine.json") -> dict[str, Any]:
    content = text.encode() if isinstance(text, str) else text
    return {"file": name, "size": len(content), "base64": base64.b64encode(content).decode()}


@pytest.mark.parametrize("name", names())
def test_file_to_session_to_file_is_the_identity_for_a_shipped_preset(paced_frames: Frames, name: str) -> None:
    async def scene() -> None:
        session = begun(paced_frames)
        desk = Desk(session)
        await desk.hear(**upload(dumps_preset(builtin(name))))
        await desk.hear(save="preset")
        assert desk.sent[0]["text"] == dumps_preset(builtin(name))
        session.draw()
        await desk.hear(save="session")
        again = begun(paced_frames)
        other = Desk(again)
        await other.hear(**upload(desk.sent[1]["text"]))
        assert again.kept() == session.kept() == desk.sent[1]["text"]
        await other.hear(save="preset")
        assert other.sent[0]["text"] == dumps_preset(builtin(name))
        for each in (session, again):
            each.close()

    run(scene())


def test_a_session_takes_the_place_of_the_log_which_comes_back_and_forth(paced_frames: Frames) -> None:
    async def scene() -> None:
        other = begun(paced_frames)
        other.open(builtin("sft-fan"), "sft-fan")
        text = other.kept()
        session = begun(paced_frames)
        desk = Desk(session)
        session.draw()
        session.draw()
        before = session.kept()
        assert not desk.undoable
        await desk.hear(**upload(text, "lecture.json"))
        assert session.kept() == text
        assert desk.told == "lecture.json took the place of the log of 3 events."
        assert desk.undoable
        await desk.hear(undo=True)
        assert (session.kept(), desk.told) == (before, "Back to the log of 3 events.")
        await desk.hear(undo=True)
        assert (session.kept(), desk.told) == (text, "Back to the log of 2 events.")
        await settled(session)
        assert desk.undoable
        await desk.hear(dismiss=True)
        await desk.hear(undo=True)
        assert (session.kept(), desk.told, desk.undoable) == (text, "", False)
        for each in (session, other):
            each.close()

    run(scene())


@pytest.mark.parametrize("undone", [False, True])
def test_what_is_done_next_is_never_lost_by_a_late_undo(paced_frames: Frames, undone: bool) -> None:
    async def scene() -> None:
        session = begun(paced_frames)
        desk = Desk(session)
        text = session.kept()
        session.draw()
        await desk.hear(**upload(text, "lecture.json"))
        if undone:
            await desk.hear(undo=True)
        desk.files.told = "Opening another.json"
        session.draw()
        # What is being opened is still told.
        assert (desk.told, desk.undoable) == ("Opening another.json", False)
        more = session.kept()
        desk.files.undo()
        assert session.kept() == more
        await desk.hear(**upload(text, "lecture.json"))
        session.rewind(0)
        assert (desk.told, desk.undoable) == ("", False)
        session.close()

    run(scene())


def test_an_export_opens_at_its_moment_and_the_log_goes_on(paced_frames: Frames) -> None:
    async def scene() -> None:
        session = begun(paced_frames)
        desk = Desk(session)
        opened = parse_file(dumps_preset(builtin("sft-fan")).encode(), "sft-fan.json")
        moment = opened.moment.next_step().next_draw()
        record = dumps_record(Link(opened.preset, "sft-fan", moment))
        await desk.hear(**upload(f'<script id="gradcloud">{record}</script>', "lesson.html"))
        assert session.timeline.current.moment == moment
        assert (session.preset_name, session.problems) == ("sft-fan", [])
        assert [event.kind for event in session.timeline.events] == ["preset", "preset", "step"]
        assert session.timeline.current.label == "as lesson.html has it"
        assert (desk.told, desk.undoable) == ("", False)
        await desk.hear(**upload(f'<script id="gradcloud">{record}</script>', "x" * 200 + ".html"))
        assert session.timeline.current.label == f"as {'x' * 39}… has it"
        session.close()

    run(scene())


def broken(**config: object) -> str:
    value = json.loads(dumps_preset(PRESET))
    value["config"] |= config
    return json.dumps(value, indent=1)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (upload("{not json"), "mine.json:1: not JSON"),
        (upload(b"\xff\xfe"), "mine.json: byte 0xff"),
        (upload(broken(clp={})), "config.clp: unknown key"),
        (upload(broken(seed=True, source={"alpha": 3})), "mine.json:9: config.seed: got true"),
        (upload(dumps_preset(PRESET).replace('"schema_version": 1', '"schema_version": 2')), "newer version"),
        (upload(b"\x89PNG\r\n\x1a\n", "a.png"), "a.png: holds no record"),
        (upload("", "a\u202eb\n.json"), "a\ufffdb\ufffd.json: empty"),
        (upload("[]", "x" * 500), f"{'x' * 120}: is no file of gradcloud's"),
        ({"file": "big.json", "size": MAX_BYTES + 1}, f"big.json: got {MAX_BYTES + 1:,} bytes, allowed {MAX_BYTES:,}"),
        ({"file": "big.json", "size": MAX_BYTES + 1, "base64": "AAAA"}, "big.json: got"),
        ({"file": "x.json", "size": 3, "base64": "*"}, "did not arrive whole"),
        ({"file": "x.json", "size": 3, "base64": "é"}, "did not arrive whole"),
        ({"several": 2}, "the files: got 2, allowed is one at a time"),
    ],
)
def test_a_bad_file_is_refused_line_by_line_and_changes_nothing(
    paced_frames: Frames, message: dict[str, Any], words: str
) -> None:
    async def scene() -> None:
        session = begun(paced_frames)
        frame = await settled(session)
        desk = Desk(session)
        await desk.hear(**message)
        assert any(words in problem for problem in session.problems), session.problems
        assert (desk.told, desk.undoable) == ("", False)
        assert len(session.timeline.events) == 1
        assert session.frame is frame
        assert session.dials.config == SMALL
        session.close()

    run(scene())


@pytest.mark.parametrize(
    "message",
    [
        7, None, [], {}, {"file": "a.json"}, {"file": 3, "size": 3}, {"file": "a.json", "size": "3", "base64": "AAAA"},
        {"save": True}, {"save": "claims"}, {"several": "2"}, {"undo": 1}, {"undo": True}, {"dismiss": 0},
    ],
)  # fmt: skip
def test_a_message_of_no_known_shape_is_ignored(paced_frames: Frames, message: Any) -> None:
    async def scene() -> None:
        session = begun(paced_frames)
        desk = Desk(session)
        desk._handle_msg(message)
        assert (session.problems, len(session.timeline.events), desk.sent, desk.told) == ([], 1, [], "")
        session.close()

    run(scene())


def test_of_several_files_the_newest_is_opened_and_one_thread_reads_them(
    paced_frames: Frames, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, most, release = list[str](), list[int](), threading.Event()

    def slow(data: bytes, origin: str) -> Any:
        reading.append(origin)
        most.append(len(reading))
        release.wait(20)
        reading.remove(origin)
        return parse_file(data, origin)

    async def scene() -> None:
        monkeypatch.setattr("app.files.parse_file", slow)
        session = begun(paced_frames)
        desk = Desk(session)
        for name in ("sft-fan", "sft-stress", "rl-small-batch"):
            desk._handle_msg(upload(dumps_preset(builtin(name)), f"{name}.json"))
            await asyncio.sleep(0.05)
        assert desk.told == "Opening rl-small-batch.json"
        release.set()
        await desk.hear()
        await until(lambda: len(session.timeline.events) >= 2, within=20)
        assert [event.label for event in session.timeline.events[1:]] == [builtin("rl-small-batch").title]
        session.close()

    run(scene())
    assert max(most) == 1


def test_a_file_that_makes_the_reader_fail_is_told_and_changes_nothing(
    paced_frames: Frames, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_: object) -> None:
        raise ZeroDivisionError("by the test")

    async def scene() -> None:
        monkeypatch.setattr("app.files.parse_file", fails)
        session = begun(paced_frames)
        desk = Desk(session)
        await desk.hear(**upload("{}"))
        (line,) = session.problems
        assert "mine.json: could not be opened (ZeroDivisionError: by the test)" in line
        assert "a file could not be opened" in caplog.text
        session.close()

    run(scene())


def test_a_session_that_is_too_long_for_a_file_is_refused_in_words(
    paced_frames: Frames, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise InvalidInput(["session: over 2000000 bytes"])

    async def scene() -> None:
        monkeypatch.setattr("app.takeaway.dumps_session", fails)
        session = begun(paced_frames)
        desk = Desk(session)
        await desk.hear(save="session")
        assert (session.problems, desk.sent) == (["session: over 2000000 bytes"], [])
        session.close()

    run(scene())
