"""What an address asks of a page in a frame, and the frame as HTML."""

import string
from html.parser import HTMLParser
from itertools import combinations
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from app import framed
from app.embed import HEIGHT, LARGEST, PAGE, PARTS, SMALLEST, WIDTH, Embed, asked, iframe, query
from sim.errors import InvalidInput

parts = some.sets(some.sampled_from(sorted(PARTS)))


def ask(text: str) -> tuple[Embed, list[str]]:
    found = parse_qs(text, keep_blank_values=True)
    return asked({key: [value.encode() for value in values] for key, values in found.items()})


def attributes(html: str) -> dict[str, str | None]:
    """The attributes of the one element of some HTML, as a browser reads them."""
    read: list[dict[str, str | None]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            assert tag == "iframe"
            read.append(dict(attrs))

    Reader().feed(html)
    (found,) = read
    return found


def test_a_page_by_itself_asks_for_nothing() -> None:
    assert ask("preset=rl-noise-cancels&theme=dark") == (Embed(), [])
    assert ask("embed=0") == (Embed(), [])
    assert Embed().attributes() == ""


def test_a_frame_leaves_out_the_parts_that_it_names() -> None:
    assert ask("embed=1") == (Embed(True), [])
    assert ask("embed=1&hide=dials,%20side,,dials") == (Embed(True, frozenset({"dials", "side"})), [])
    assert ask("hide=menu&embed=1&hide=log") == (Embed(True, frozenset({"log"})), [])
    assert Embed(True).attributes() == 'data-embed=""'


def test_each_bad_name_is_told_and_the_good_ones_are_kept() -> None:
    found, problems = ask("embed=1&hide=dial,picture,log,%3Cb%3E")
    assert found == Embed(True, frozenset({"log"}))
    assert problems[0] == 'hide: unknown part "dial"; did you mean "dials"?'
    assert problems[1].startswith('hide: unknown part "picture"; allowed: menu, dials, caption, side')
    assert '"<b>"' in problems[2]
    assert len(problems) == 3


def test_a_flag_that_is_none_and_parts_without_a_frame_are_told() -> None:
    assert ask("embed=yes") == (Embed(), ['embed: got "yes", allowed 1 or 0'])
    assert ask("hide=dials") == (Embed(), ["hide: parts are left out only in a frame; add embed=1"])
    found, problems = ask("embed=1&hide=" + ",".join(f"x{i}" for i in range(400)))
    assert found == Embed(True)
    assert len(problems) <= 21


@settings(max_examples=40)
@given(some.dictionaries(some.sampled_from(["embed", "hide", "with"]), some.lists(some.binary(max_size=40))))
def test_no_address_is_an_error(arguments: dict[str, list[bytes]]) -> None:
    found, problems = asked(arguments)
    assert found.hidden <= set(PARTS)
    assert all(problem.startswith(("embed: ", "hide: ")) for problem in problems)


@settings(max_examples=40)
@given(parts)
def test_a_query_asks_for_what_it_was_made_of(hidden: set[str]) -> None:
    assert ask(query("preset=sft-fan", hidden)) == (Embed(True, frozenset(hidden)), [])
    assert query("preset=sft-fan", sorted(hidden)) == query("?preset=sft-fan", sorted(hidden, reverse=True))


@settings(max_examples=40)
@given(some.text(string.printable, max_size=60), parts, some.integers(SMALLEST, LARGEST))
def test_nothing_in_a_link_gets_out_of_the_frames_attributes(link: str, hidden: set[str], size: int) -> None:
    html = iframe(link, hidden, size, size)
    found = attributes(html)
    assert found["src"] == f"{PAGE}?{query(link, hidden)}"
    assert (found["width"], found["height"]) == (str(size), str(size))
    assert found["title"] == "gradcloud"
    assert html.count("<") == html.count(">") == 2


def test_a_frame_has_the_page_that_is_given_and_a_size_by_default() -> None:
    html = iframe("preset=sft-fan&view=1;draw=2", ["side"], page="https://x.org/app?theme=dark#top")
    found = attributes(html)
    split = urlsplit(found["src"] or "")
    assert (split.scheme, split.netloc, split.path) == ("https", "x.org", "/app")
    assert split.query == "preset=sft-fan&view=1;draw=2&embed=1&hide=side"
    assert (found["width"], found["height"]) == (str(WIDTH), str(HEIGHT))
    assert html.endswith("></iframe>")


def test_sizes_and_parts_that_there_are_not_are_refused_by_name() -> None:
    with pytest.raises(InvalidInput) as refused:
        iframe("", [], SMALLEST - 1, LARGEST + 1)
    assert refused.value.problems == [
        f"width: got {SMALLEST - 1}, allowed a whole number, {SMALLEST} to {LARGEST}",
        f"height: got {LARGEST + 1}, allowed a whole number, {SMALLEST} to {LARGEST}",
    ]
    with pytest.raises(InvalidInput, match="width: got true"):
        iframe("", [], True)
    with pytest.raises(InvalidInput, match='hide: unknown part "plane"'):
        iframe("", ["plane"])


def test_every_choice_of_parts_fills_each_grid_with_each_part_in_one_block() -> None:
    others = [name for name in framed.PLACES if name != "plane"]
    for count in range(len(others) + 1):
        for chosen in combinations(others, count):
            shown = {"plane", *chosen}
            for grid in (framed.small(shown), framed.wide(shown), framed.upright(shown)):
                lines = [area.split() for area in grid.areas]
                assert {name for line in lines for name in line} == shown
                (width,) = {len(line) for line in lines}
                assert width == len(tracks(grid.columns))
                assert len(lines) == len(tracks(grid.rows))
                for name in shown:
                    cells = [(i, j) for i, line in enumerate(lines) for j, each in enumerate(line) if each == name]
                    rows, columns = ({cell[axis] for cell in cells} for axis in (0, 1))
                    assert len(cells) == len(rows) * len(columns)
                    assert max(columns) - min(columns) < len(columns)
                    assert max(rows) - min(rows) < len(rows)


def tracks(text: str) -> list[str]:
    """The tracks of a list, each a function with its own spaces."""
    found, depth = [""], 0
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == " " and not depth:
            found.append("")
        else:
            found[-1] += letter
    return found
