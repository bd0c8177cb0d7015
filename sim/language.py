"""The small world: its words, its documents, and the verifier that grades an answer.

Arithmetic is solved in words. In ``ask 2 + 3 * 4 ?`` the *key move* is to multiply first; most writers
of the pretraining corpus go left to right and miss it. Style words vary freely, so that most sites
carry some entropy. Facts and letter copying are the skills that a post-training step may forget.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from sim.rng import generator

PAD, BOS, EOS = "<pad>", "<bos>", "<eos>"
LARGEST_NUMBER = 72
LARGEST_OPERAND = 6
LETTERS = "abcdefgh"
KINDS = ("bird", "fish", "tree")
VALUES = {
    "color": ("red", "blue", "green", "white", "black", "yellow"),
    "size": ("tiny", "small", "large", "giant"),
}

_WORDS = (
    [PAD, BOS, EOS]
    + [str(n) for n in range(LARGEST_NUMBER + 1)]
    + ["+", "*", "=", "?", ":", ";", "ask", "answer", "first", "wait", "tell", "of", "copy", "reverse"]
    + ["hint", "rule", "times", "before", "plus", "example", "you", "are", "careful", "hasty"]
    + ["well", "ok", "sure", "hmm", "right", "start", "take", "good", "fine", "then", "next", "now"]
    + ["so", "hence", "and", "let", "clearly", "thus", "simply", "finally"]
    + ["solution", "working", "compute", "evaluate", "afterwards", "whereupon", "therefore", "consequently", "result"]
    + [*KINDS, *VALUES, *(word for words in VALUES.values() for word in words), *LETTERS]
)
VOCABULARY: tuple[str, ...] = tuple(_WORDS)
TOKEN: Mapping[str, int] = {word: i for i, word in enumerate(VOCABULARY)}
PAD_ID, BOS_ID, EOS_ID = TOKEN[PAD], TOKEN[BOS], TOKEN[EOS]


@dataclass(frozen=True)
class Style:
    """How a writer says things: for each slot, words with their probabilities ("" says nothing)."""

    opener: Mapping[str, float]
    lead: Mapping[str, float]
    filler: Mapping[str, float]
    link: Mapping[str, float]
    close: Mapping[str, float]
    verdict: str = "answer"


#: The style of the model's own family.
HOUSE = Style(
    opener={"well": 0.35, "ok": 0.25, "sure": 0.15, "hmm": 0.15, "right": 0.1},
    lead={"first": 0.6, "start": 0.25, "take": 0.15},
    filler={"": 0.7, "good": 0.15, "fine": 0.15},
    link={"then": 0.5, "next": 0.3, "now": 0.2},
    close={"so": 0.5, "and": 0.3, "hence": 0.2},
)
#: How the same family writes when it was shown a context: almost the same, with a few words of its own.
PROMPTED = Style(
    opener={"well": 0.33, "ok": 0.24, "sure": 0.15, "hmm": 0.14, "right": 0.1, "let": 0.02, "clearly": 0.02},
    lead=HOUSE.lead,
    filler=HOUSE.filler,
    link={"then": 0.47, "next": 0.28, "now": 0.18, "simply": 0.07},
    close={"so": 0.46, "and": 0.28, "hence": 0.18, "thus": 0.06, "finally": 0.02},
)
#: An annotator from elsewhere: the same skill in foreign words.
FOREIGN = Style(
    opener={"solution": 0.6, "working": 0.4},
    lead={"compute": 0.6, "evaluate": 0.4},
    filler={";": 1.0},
    link={"afterwards": 0.6, "whereupon": 0.4},
    close={"therefore": 0.6, "consequently": 0.4},
    verdict="result",
)


@dataclass(frozen=True)
class Problem:
    """An arithmetic task ``a first_op b second_op c``."""

    a: int
    first_op: str
    b: int
    second_op: str
    c: int

    @property
    def truth(self) -> int:
        """The right answer: products before sums."""
        if self.needs_key_move:
            return self.a + self.b * self.c
        return self.left_to_right

    @property
    def left_to_right(self) -> int:
        """The answer of somebody who reads from left to right."""
        return _apply(_apply(self.a, self.first_op, self.b), self.second_op, self.c)

    @property
    def needs_key_move(self) -> bool:
        """Whether reading from left to right goes wrong."""
        return self.first_op == "+" and self.second_op == "*"

    @property
    def words(self) -> list[str]:
        """The prompt, ``ask a op b op c ?``."""
        return ["ask", str(self.a), self.first_op, str(self.b), self.second_op, str(self.c), "?"]


def _apply(x: int, op: str, y: int) -> int:
    return x + y if op == "+" else x * y


def draw_problem(rng: np.random.Generator, key_share: float = 0.6) -> Problem:
    """A random task; `key_share` of them need the key move (and give another result without it)."""
    a, b, c = (int(n) for n in rng.integers(1, LARGEST_OPERAND + 1, 3))
    u = rng.random()
    if u < key_share:
        return Problem(a, "+", b, "*", max(c, 2))
    return Problem(a, "*", b, "+", c) if u < (1 + key_share) / 2 else Problem(a, "+", b, "+", c)


def choose(rng: np.random.Generator, options: Mapping[str, float]) -> list[str]:
    """One word of a slot, as a list of no or one word."""
    words = list(options)
    word = words[int(np.searchsorted(np.cumsum(list(options.values())), rng.random(), side="right"))]
    return [word] if word else []


def write_solution(
    rng: np.random.Generator, problem: Problem, style: Style, *, key_move: bool, correction: bool = False
) -> list[str]:
    """A worked answer in words, without the end mark.

    Args:
        rng: chooses the style words.
        problem: the task.
        style: whose words.
        key_move: multiply first where that is needed.
        correction: begin from left to right, say ``wait``, and do it right. Needs `key_move`.
    """
    a, b, c = problem.a, problem.b, problem.c
    left = _apply(a, problem.first_op, b)
    from_left = [str(a), problem.first_op, str(b), "=", str(left)]
    product_first = [str(b), "*", str(c), "=", str(b * c)]
    words = choose(rng, style.opener) + choose(rng, style.lead)
    multiply = problem.needs_key_move and key_move
    if multiply and correction:
        words += from_left + ["wait"] + choose(rng, style.lead)
    words += product_first if multiply else from_left
    words += choose(rng, style.filler) + choose(rng, style.link)
    result = problem.truth if multiply else problem.left_to_right
    second = [str(a), "+", str(b * c)] if multiply else [str(left), problem.second_op, str(c)]
    words += [*second, "=", str(result), *choose(rng, style.filler), *choose(rng, style.close)]
    return [*words, style.verdict, str(result)]


def context_words(kind: str, problem: Problem, rng: np.random.Generator | None = None) -> list[str]:
    """What stands before the prompt of a self-teacher.

    Args:
        kind: ``none``, ``hint`` (the right answer), ``wrong-hint`` (the answer from left to right),
            ``rule``, ``example`` (one demonstration), ``careful`` or ``hasty`` (personas).
        problem: the task whose answer a hint gives away.
        rng: draws the demonstration; needed for ``example`` only.

    Raises:
        KeyError: for an unknown kind.
    """
    if kind == "example":
        if rng is None:
            raise KeyError("a demonstration is drawn: context_words needs a generator for it")
        shown = draw_problem(rng, key_share=1.0)
        solved = [str(shown.b), "*", str(shown.c), "=", str(shown.b * shown.c), "then"]
        solved += [str(shown.a), "+", str(shown.b * shown.c), "=", str(shown.truth), "answer", str(shown.truth)]
        return ["example", *shown.words[1:], *solved, ";"]
    return {
        "none": [],
        "hint": ["hint", str(problem.truth), ":"],
        "wrong-hint": ["hint", str(problem.left_to_right), ":"],
        "rule": ["rule", "times", "before", "plus", ":"],
        "careful": ["you", "are", "careful", ":"],
        "hasty": ["you", "are", "hasty", ":"],
    }[kind]


def style_words() -> frozenset[str]:
    """The words of all writers' styles, "wait" and the words of the closing statement among them."""
    slots = ("opener", "lead", "filler", "link", "close")
    chosen = {word for style in (HOUSE, PROMPTED, FOREIGN) for slot in slots for word in getattr(style, slot) if word}
    return frozenset(chosen | {style.verdict for style in (HOUSE, FOREIGN)} | {"wait"})


def encode(words: Iterable[str]) -> list[int]:
    """Token ids of words; KeyError names a word that the world does not have."""
    return [TOKEN[word] for word in words]


def decode(tokens: Iterable[int]) -> list[str]:
    """Words of token ids."""
    return [VOCABULARY[int(token)] for token in tokens]


def verify(problem: Problem, answer: Sequence[str]) -> float:
    """The reward of an answer: 1 if its closing statement is right, else 0.

    The last ``answer`` (or ``result``) must be followed by the right number and the end mark. How the
    number was reached is not looked at.
    """
    return float(
        len(answer) >= 3
        and answer[-3] in ("answer", "result")
        and answer[-2] == str(problem.truth)
        and answer[-1] == EOS
    )


@cache
def fact(attribute: str, kind: str, letter: str) -> str:
    """The value of one fact of this world: arbitrary, fixed once, each value equally often."""
    values = VALUES[attribute]
    order = generator(0, f"facts of {attribute}").permutation(len(KINDS) * len(LETTERS))
    return values[order[KINDS.index(kind) * len(LETTERS) + LETTERS.index(letter)] % len(values)]


def draw_fact(rng: np.random.Generator) -> tuple[list[str], list[str]]:
    """A random fact, as prompt and answer."""
    attribute = list(VALUES)[int(rng.integers(len(VALUES)))]
    kind, letter = KINDS[int(rng.integers(len(KINDS)))], LETTERS[int(rng.integers(len(LETTERS)))]
    return ["tell", attribute, "of", kind, letter, "?"], [fact(attribute, kind, letter)]


def draw_copying(rng: np.random.Generator) -> tuple[list[str], list[str]]:
    """A random line of letters to copy or to reverse, as prompt and answer."""
    letters = [LETTERS[int(i)] for i in rng.integers(len(LETTERS), size=int(rng.integers(3, 6)))]
    verb = "copy" if rng.random() < 0.5 else "reverse"
    return [verb, *letters, "?"], letters if verb == "copy" else letters[::-1]
