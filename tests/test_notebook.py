"""The example notebook run in a kernel, and what the views of a notebook are made of."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import nbformat
import panel as pn
import pytest
from bokeh.document import Document
from bokeh.models import ImportedStyleSheet, UIElement
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from panel.io.state import set_curdoc

from app import notebook
from app.outputs import hear
from sim import Frame, InvalidInput, measure
from sim.errors import GradcloudError
from tests.app.conftest import run, settled

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "assets" / "notebook" / "gradcloud.ipynb"
SMALL = ("source.prompts=2", "source.group_size=4")
#: Put before the first cell: a kernel of this test reaches nothing beyond this machine.
CUT_OFF = """
import socket
def _refuse(self, address, *rest):
    if self.family == socket.AF_UNIX or address[0] in ("127.0.0.1", "::1", "localhost"):
        return _connect(self, address, *rest)
    raise OSError(f"the network was asked for {address}")
_connect, socket.socket.connect = socket.socket.connect, _refuse
"""


class Here(AsyncKernelManager):
    """A kernel of the interpreter that runs the tests, whatever kernels the machine knows."""

    @property
    def kernel_spec(self) -> KernelSpec:
        # -W ignore: ipykernel warns of connections within this machine.
        return KernelSpec(
            argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"], language="python"
        )


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The example with the outputs of a run in an empty folder."""
    book = nbformat.read(EXAMPLE, as_version=4)
    book.cells.insert(0, nbformat.v4.new_code_cell(CUT_OFF))
    folder = tmp_path_factory.mktemp("notebook")
    client = NotebookClient(book, timeout=600, kernel_manager_class=Here, resources={"metadata": {"path": str(folder)}})
    env = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PATH": ""}
    run(client.async_execute(env=env))
    return book


@pytest.fixture(scope="module")
def frame() -> Frame:
    return measure("opsd-collapse", *SMALL)


def outputs(book: Any, source: str, kind: str) -> str:
    """What the cell that ends so shows, of a kind."""
    cell = next(cell for cell in book.cells if cell.source.endswith(source))
    return "".join(each.get("data", {}).get(kind, "") + (each.get("text", "") if kind == "text" else "")
                   for each in cell.outputs)  # fmt: skip


@pytest.mark.slow
def test_the_example_runs_without_a_network_and_shows_what_it_says(ran: Any) -> None:
    assert not [each for cell in ran.cells for each in cell.get("outputs", []) if each.output_type == "error"]
    assert "past the safe radius" in outputs(ran, "draw=3)\nframe", "text/html")
    assert "inside the safe radius" in outputs(ran, "frame.sites.text", "text")
    assert "<svg" in outputs(ran, '"svg", 1))', "image/svg+xml")
    assert "of the update" in outputs(ran, 'of the update")', "text")
    for view in ("picture(frame)", "readings(clipped)", "\npage"):
        assert "render_items" in outputs(ran, view, "text/html")
    assert "past the safe radius" in outputs(ran, "page.frame", "text/html")


@pytest.mark.slow
def test_a_notebook_prints_no_warning(ran: Any) -> None:
    said = [each.text for cell in ran.cells for each in cell.get("outputs", []) if each.get("name") == "stderr"]
    assert said == []


def test_the_example_is_kept_without_outputs_and_without_a_machines_traces() -> None:
    book = nbformat.read(EXAMPLE, as_version=4)
    nbformat.validate(book)
    assert all(cell.outputs == [] and cell.execution_count is None for cell in book.cells if cell.cell_type == "code")
    assert set(book.metadata) == {"kernelspec", "language_info"}
    assert book.metadata.kernelspec.name == "python3"


def test_the_page_of_a_notebook_draws_and_steps_in_the_loop_that_runs() -> None:
    async def played() -> tuple[str, ...]:
        page = notebook.dashboard("opsd-collapse", *SMALL, draw=1)
        seen = [page.frame.when]
        session = page._session
        for act in (session.draw, session.step, session.back):
            act()
            seen.append((await settled(session)).when)
        page.close()
        return tuple(seen)

    assert run(played()) == (
        "seed 0, step 0, draw 1", "seed 0, step 0, draw 2", "seed 0, step 1, draw 0", "seed 0, step 0, draw 2",
    )  # fmt: skip


def test_a_page_that_two_cells_show_is_drawn_in_both_whichever_is_pressed() -> None:
    async def played() -> list[str]:
        page = notebook.dashboard("opsd-collapse", *SMALL)
        view, session, seen = page.__panel__(), page._session, []
        for _ in range(2):
            view._repr_mimebundle_()
        outputs = [document for each, _, document, _ in pn.state._views.values() if each is view]
        for document in [*outputs, *outputs]:
            with set_curdoc(document):
                hear(document, session.draw)
            seen.append(f"{(await settled(session)).when} {session.failure}".strip())
        page.close()
        return seen

    assert run(played()) == [f"seed 0, step 0, draw {draw}" for draw in (1, 2, 3, 4)]


def test_outside_a_notebook_the_page_says_what_to_do() -> None:
    with pytest.raises(GradcloudError, match="call it in a notebook, or run gradcloud serve"):
        run(asyncio.to_thread(notebook.dashboard, "opsd-collapse", *SMALL))


@pytest.mark.parametrize("theme", ["light", "dark", "projector"])
def test_a_views_colours_stand_at_its_own_root_and_nowhere_else(frame: Frame, theme: str) -> None:
    for view in (notebook.picture(frame, theme=theme), notebook.readings(frame, theme=theme)):
        root = view.get_root(Document())
        assert root.css_classes == [theme]
        sheets = [sheet for model in root.select({"type": UIElement}) for sheet in model.stylesheets]
        own = [getattr(sheet, "css", sheet) for sheet in sheets if not isinstance(sheet, ImportedStyleSheet)]
        assert any(f":host(.{theme})" in css for css in own)
        assert not any(":root" in css or "html," in css for css in own)


def test_a_theme_that_there_is_not_is_told(frame: Frame) -> None:
    with pytest.raises(InvalidInput, match='theme: got "pink", allowed light, dark or projector'):
        notebook.picture(frame, theme="pink")
