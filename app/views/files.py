"""Files that come by the chooser, dropped anywhere on the page or pasted, and files that are saved."""

from pathlib import Path
from typing import Any

import param

from app import theme
from app.files import Files
from app.session import Session
from app.views.messages import Component, said
from app.views.script import DOWNLOAD, script
from sim.errors import InvalidInput
from sim.opening import MAX_BYTES

_HERE = Path(__file__).with_suffix("")


class FileDesk(Component):
    """Takes files in, and hands them out.

    The event ``gradcloud-load`` on the window opens the chooser; ``gradcloud-save`` with `kind`, "preset" or "session",
    in its detail saves one.
    """

    told = param.String(default="")
    undoable = param.Boolean(default=False)
    limit = param.Integer(default=MAX_BYTES, constant=True)

    _esm = script(_HERE, DOWNLOAD)
    _stylesheets = [theme.BASE, _HERE.with_suffix(".css").read_text("utf-8")]  # noqa: RUF012

    def __init__(self, files: Files, session: Session, **params: Any) -> None:
        super().__init__(**params)
        self._files, self._session = files, session
        files.param.watch(self._follow, ["told", "undoable"])

    def _follow(self, *_: Any) -> None:
        self.param.update(told=self._files.told, undoable=self._files.undoable)

    def _handle_msg(self, data: Any) -> None:
        name, size, kind = said(data, "file", str), said(data, "size", int), said(data, "save", str)
        several = said(data, "several", int)
        if name is not None and size is not None:
            self._files.open(name, size, said(data, "base64", str))
        elif several is not None:
            self._session.refuse([f"the files: got {several}, allowed is one at a time; open one"])
        elif said(data, "undo", bool):
            self._files.undo()
        elif said(data, "dismiss", bool):
            self._files.dismiss()
        elif kind == "preset" or kind == "session":
            self._save(kind)

    def _save(self, kind: Any) -> None:
        try:
            filename, text = self._files.saved(kind)
        except InvalidInput as error:
            self._session.refuse(error.problems)
        else:
            self._send_msg({"filename": filename, "text": text})
