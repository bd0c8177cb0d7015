"""The rules of CONTRIBUTING.md that a program can check."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SIM = sorted((ROOT / "sim").rglob("*.py"))
APP = sorted((ROOT / "app").rglob("*.py"))
INTERFACE = {"panel", "panel_material_ui", "bokeh", "param", "pyviz_comms", "matplotlib", "app"}
MAX_LINES = 300

# numpy's and torch's generators that are made on purpose, and so carry their own seed.
OWN_GENERATORS = {"Generator", "default_rng", "SeedSequence", "BitGenerator", "PCG64", "PCG64DXSM", "Philox", "SFC64"}
TORCH_DRAWS = {"rand", "randn", "randint", "randperm", "normal", "bernoulli", "multinomial"}


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "."
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def global_draws(tree: ast.AST) -> Iterator[str]:
    """Each use of a generator that the whole process shares."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            name = ast.unparse(node)
            if re.fullmatch(r"(np|numpy)\.random\.\w+", name) and node.attr not in OWN_GENERATORS:
                yield name
            if re.fullmatch(r"torch\.(manual_seed|seed|random\.\w+|(cuda|mps)\.manual_seed\w*)", name):
                yield name
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            draws = ast.unparse(node.func) in {f"torch.{draw}" for draw in TORCH_DRAWS}
            in_place = node.func.attr in {"normal_", "uniform_", "bernoulli_", "exponential_", "random_", "multinomial"}
            if (draws or in_place) and "generator" not in {keyword.arg for keyword in node.keywords}:
                yield f"{ast.unparse(node.func)}(...) without generator="
    yield from (name for name in imports(tree) if name == "random" or name.startswith("random."))


def layers() -> list[set[str]]:
    """The rows of CONTRIBUTING.md's table for sim/, lowest first."""
    table = (ROOT / "CONTRIBUTING.md").read_text("utf-8").split("| `sim/` |")[1].split("\n\n")[0]
    rows = [set(re.findall(r"(\w+)\.py", line.split("|")[1])) for line in table.splitlines()[2:]]
    assert len(rows) > 5
    return rows


@pytest.mark.parametrize("path", SIM, ids=named)
def test_sim_names_nothing_of_the_interface(path: Path) -> None:
    found = {name.split(".")[0] for name in imports(ast.parse(path.read_text("utf-8")))}
    assert not found & INTERFACE


def test_importing_all_of_sim_loads_nothing_of_the_interface() -> None:
    modules = ["sim" if path.name == "__init__.py" else f"sim.{path.stem}" for path in SIM]
    program = f"import sys, importlib\nfor m in {modules}: importlib.import_module(m)\nprint(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert loaded.returncode == 0, loaded.stderr
    assert not {name.split(".")[0] for name in loaded.stdout.split()} & INTERFACE


def test_every_sim_file_stands_in_one_row_of_the_layout_table() -> None:
    rows = layers()
    listed = [name for row in rows for name in row]
    assert sorted(listed) == sorted(path.stem for path in SIM if path.name != "__init__.py")


@pytest.mark.parametrize("path", [path for path in SIM if path.name != "__init__.py"], ids=named)
def test_a_lower_layer_imports_no_higher_one(path: Path) -> None:
    level = {name: index for index, row in enumerate(layers()) for name in row}
    found = {name.split(".")[1] for name in imports(ast.parse(path.read_text("utf-8"))) if name.startswith("sim.")}
    assert not {name for name in found if level[name] > level[path.stem]}


@pytest.mark.parametrize("path", SIM + APP, ids=named)
def test_no_generator_is_shared_by_the_process(path: Path) -> None:
    assert list(global_draws(ast.parse(path.read_text("utf-8")))) == []


@pytest.mark.parametrize(
    "line",
    ["np.random.seed(0)", "numpy.random.rand(3)", "torch.manual_seed(0)", "import random", "from random import choice",
     "torch.randn(3)", "x.normal_()", "p.multinomial(1)"],
)  # fmt: skip
def test_the_search_for_shared_generators_sees(line: str) -> None:
    assert list(global_draws(ast.parse(line)))


@pytest.mark.parametrize("line", ["np.random.default_rng(3)", "torch.randn(3, generator=g)", "x.normal_(generator=g)"])
def test_the_search_for_shared_generators_lets_pass(line: str) -> None:
    assert not list(global_draws(ast.parse(line)))


@pytest.mark.parametrize("path", SIM + APP, ids=named)
def test_a_file_holds_one_concept(path: Path) -> None:
    assert path.name != "utils.py"
    assert len(path.read_text("utf-8").splitlines()) <= MAX_LINES
