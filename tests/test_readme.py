"""What the README says is what the program does."""

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from app.cli import app
from sim.ledger_file import load_ledger, markdown
from sim.presets import parse_preset

README = (Path(__file__).parents[1] / "README.md").read_text()
COMMANDS = re.findall(r"^\$ gradcloud (.+)$", README, re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_exists_with_its_options(command: str) -> None:
    words = shlex.split(command, comments=True)
    group = get_command(app)
    while hasattr(group, "commands"):
        assert words[0] in group.commands
        group, words = group.commands[words[0]], words[1:]
    options = {option for parameter in group.params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= options


def test_the_preset_that_it_shows_is_accepted() -> None:
    blocks = re.findall(r"```json\n(.*?)```", README, re.DOTALL)
    assert blocks
    for block in blocks:
        json.loads(block)
        parse_preset(block)


def test_the_files_that_it_links_to_are_there() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (Path(__file__).parents[1] / target).exists(), target


def test_the_table_of_claims_is_that_of_the_ledger() -> None:
    ledger = load_ledger()
    tables = re.findall(r"<!-- claims -->\n(.*?)<!-- /claims -->", README, re.DOTALL)
    assert tables == ([] if ledger is None else [markdown(ledger)])
