"""The share dialog: the link, a frame for a slide, files, pictures, numbers, films and lessons of what is on show."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import param

from app import still, theme
from app.embed import PARTS, WIDTH
from app.share import NARROWEST, SHAPES, WIDEST, Share
from app.takeaway import ALONG, FEWEST, KINDS, LONGEST
from app.views.messages import Component, said
from app.views.script import DOWNLOAD, script
from sim.errors import InvalidInput

_HERE = Path(__file__).with_suffix("")


class ShareDialog(Component):
    """The dialog; the event ``gradcloud-share`` on the window opens it.

    What it shows of the page is as it was when it was opened. A file that is made goes to the browser as one binary
    message: no address leads to it, and only who asked for it gets it.
    """

    title = param.String(default="", doc="what is shared")
    plain = param.String(default="", doc="the query of the link without the log")
    logged = param.String(default="", doc="with the log; where there is none, the note says why")
    linked = param.String(default="", doc="the opening that the links are of, by the browser's name for it")
    plain_problem = param.String(default="")
    log_problem = param.String(default="")
    html = param.String(default="", doc="the frame for another page")
    html_problem = param.String(default="")
    busy = param.Boolean(default=False)
    done = param.Integer(default=0)
    total = param.Integer(default=0)
    told = param.String(default="")
    kinds = param.List(default=[], constant=True, doc="each kind of file: key, section, label")
    reasons = param.Dict(default={}, doc="why some kinds cannot be made here, by key")
    parts = param.List(default=[list(each) for each in PARTS.items()], constant=True)
    shapes = param.List(default=list(SHAPES), constant=True)
    widths = param.List(default=[NARROWEST, WIDTH, WIDEST], constant=True, doc="the least, the first and the most")
    scales = param.List(default=list(still.SCALES), constant=True)
    frames = param.List(default=[FEWEST, LONGEST], constant=True, doc="the fewest and the most of what moves")
    along = param.List(default=list(ALONG), constant=True)

    _esm = script(_HERE, DOWNLOAD)
    _stylesheets = [theme.BASE, _HERE.with_suffix(".css").read_text("utf-8")]  # noqa: RUF012

    def __init__(self, share: Share, **params: Any) -> None:
        super().__init__(kinds=[[key, each.section, each.label] for key, each in KINDS.items()], **params)
        self._share = share
        self._frame: tuple[Sequence[str], int, str, str] | None = None
        self._opening = ""
        share.param.watch(self._follow, "changed")
        share.param.watch(self._hand_over, "ready")

    def _follow(self, *_: Any) -> None:
        share = self._share
        done, total = share.progress
        plain, logged = share.links or (None, None)
        self.param.update(
            title=share.title, linked=self._opening if share.links else "", reasons=share.reasons,
            busy=share.busy, done=done, total=total, told=share.told(),
            plain=plain.query if plain else "", plain_problem=plain.problem if plain else "",
            logged=logged.query if logged else "", log_problem=logged.problem if logged else "",
            **self._framed(),
        )  # fmt: skip

    def _framed(self) -> dict[str, str]:
        try:
            html = self._share.html(*self._frame) if self._frame is not None else ""
            return {"html": html, "html_problem": ""}
        except InvalidInput as error:
            return {"html": "", "html_problem": "; ".join(error.problems)}

    def _hand_over(self, *_: Any) -> None:
        file = self._share.take()
        if file is not None:
            name, mime, data = file
            self._send_msg({"name": name, "mime": mime, "data": data})

    def _handle_msg(self, data: Any) -> None:
        kind, page, shape = said(data, "make", str), said(data, "page", str), said(data, "shape", str)
        width, hidden, opened = said(data, "width", int), said(data, "hidden", list), said(data, "opened", str)
        if opened:
            self._opening = opened[:40]
            self._share.pin()
        elif said(data, "cancel", bool):
            self._share.stop()
        elif kind is not None:
            self._share.start(kind, said(data, "scale", int), said(data, "frames", int), said(data, "along", str))
        elif page is not None and shape is not None and width is not None and hidden is not None:
            self._frame = ([str(name)[:40] for name in hidden[: len(PARTS) + 1]], width, shape, page)
            self.param.update(**self._framed())
