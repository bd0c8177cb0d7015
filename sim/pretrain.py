"""How the shipped weights were made: corpora, recipes, and one deterministic training loop."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from sim.language import (
    BOS,
    EOS,
    FOREIGN,
    HOUSE,
    PROMPTED,
    Style,
    choose,
    context_words,
    draw_copying,
    draw_fact,
    draw_problem,
    encode,
    write_solution,
)
from sim.policy import Params, Transformer
from sim.rng import generator
from sim.rollout import pad

Document = tuple[list[int], list[int]]


@dataclass(frozen=True)
class Corpus:
    """Shares of a pretraining corpus; what is left over are plain problems.

    `key_move` and `correction` are the shares of plain problems solved by the key move, and by it after
    a false start; `stranger` the share of plain problems written in the other family's style.
    """

    style: Style = HOUSE
    other_style: Style = FOREIGN
    facts: float = 0.12
    copying: float = 0.12
    hinted: float = 0.23
    prompted: float = 0.15
    key_move: float = 0.02
    correction: float = 0.015
    stranger: float = 0.03

    def draw(self, rng: np.random.Generator) -> Document:
        """A random document: prompt tokens, answer tokens."""
        u = rng.random()
        if u < self.facts + self.copying:
            prompt, answer = draw_fact(rng) if u < self.facts else draw_copying(rng)
        else:
            u -= self.facts + self.copying
            if u < self.hinted:
                prompt, answer = self._hinted(rng)
            elif u < self.hinted + self.prompted:
                prompt, answer = self._prompted(rng)
            else:
                prompt, answer = self._plain(rng)
        return encode([BOS, *prompt]), encode([*answer, EOS])

    def _plain(self, rng: np.random.Generator) -> tuple[list[str], list[str]]:
        problem = draw_problem(rng)
        style = self.other_style if rng.random() < self.stranger else self.style
        u = rng.random()
        correction = u < self.correction
        key_move = u < self.correction + self.key_move
        return problem.words, write_solution(rng, problem, style, key_move=key_move, correction=correction)

    def _hinted(self, rng: np.random.Generator) -> tuple[list[str], list[str]]:
        """A hint is right (60 %), the answer from left to right (25 %), or any number, then ignored."""
        problem = draw_problem(rng)
        style = PROMPTED if self.style is HOUSE else self.style
        u = rng.random()
        if u < 0.6:
            shown = context_words("hint", problem)
            answer = write_solution(rng, problem, style, key_move=True, correction=rng.random() < 0.2)
        elif u < 0.85:
            shown = context_words("wrong-hint", problem)
            answer = write_solution(rng, problem, style, key_move=False)
        else:
            shown = ["hint", str(int(rng.integers(73))), ":"]
            answer = write_solution(rng, problem, self.style, key_move=False)
        return shown + problem.words, answer

    def _prompted(self, rng: np.random.Generator) -> tuple[list[str], list[str]]:
        """A rule, a demonstration or a careful persona calls for the key move; a hasty one does not."""
        problem = draw_problem(rng)
        kind = choose(rng, {"rule": 0.4, "example": 0.25, "careful": 0.2, "hasty": 0.15})[0]
        style = PROMPTED if self.style is HOUSE else self.style
        if kind == "hasty":
            answer = write_solution(rng, problem, self.style, key_move=False)
        else:
            answer = write_solution(rng, problem, style, key_move=rng.random() < 0.95)
        return context_words(kind, problem, rng) + problem.words, answer


@dataclass(frozen=True)
class Recipe:
    """What makes a set of weights again, to the bit on the same machine and libraries."""

    model: Transformer
    corpus: Corpus
    steps: int
    seed: int
    start: str | None = None
    learning_rate: float = 3e-3
    documents: int = 128


BASE = Corpus()
RECIPES: Mapping[str, Recipe] = {
    "base": Recipe(Transformer(), BASE, steps=3000, seed=1),
    "same-family": Recipe(
        Transformer(layers=4, width=96), replace(BASE, key_move=0.9, correction=0.001), steps=1800, seed=2
    ),
    "cross-family": Recipe(
        Transformer(),
        replace(BASE, style=FOREIGN, other_style=HOUSE, key_move=0.9, correction=0.001, stranger=0.1),
        steps=2000,
        seed=3,
    ),
    "over-trained": Recipe(
        Transformer(),
        Corpus(facts=0, copying=0, hinted=0, prompted=0, key_move=1.0, correction=0.0, stranger=0.0),
        steps=400,
        seed=4,
        start="base",
        learning_rate=4e-3,
    ),
}


def loss(model: Transformer, params: Params, documents: list[Document]) -> Tensor:
    """Summed cross-entropy (nats) of the answers' tokens."""
    tokens_BT = pad([prompt + answer for prompt, answer in documents])
    targets_BT = pad([[0] * (len(prompt) - 1) + answer for prompt, answer in documents])
    logits = model.logits(params, tokens_BT[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), targets_BT.flatten(), ignore_index=0, reduction="sum")


def train(
    recipe: Recipe, start: Params | None = None, progress: Callable[[int, float], None] | None = None
) -> dict[str, Tensor]:
    """Parameters trained by a recipe: Adam, linear warm-up, cosine decay, gradient norm at most 1.

    Args:
        recipe: model, corpus, number of steps and seed.
        start: parameters to go on from, for a recipe that names a start.
        progress: called after each step with its number and the loss a token in nats.
    """
    torch_rng = torch.Generator().manual_seed(recipe.seed)
    source = start if start is not None else recipe.model.initial(torch_rng)
    params = {name: value.clone().requires_grad_() for name, value in source.items()}
    adam = torch.optim.Adam(params.values(), lr=recipe.learning_rate, betas=(0.9, 0.98))
    warm_up = max(1, min(100, recipe.steps // 10))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        adam,
        lambda k: min(1.0, (k + 1) / warm_up) * (0.02 + 0.98 * 0.5 * (1 + np.cos(np.pi * k / recipe.steps))),
    )
    rng = generator(recipe.seed, "corpus")
    for step in range(recipe.steps):
        documents = [recipe.corpus.draw(rng) for _ in range(recipe.documents)]
        tokens = sum(len(answer) for _, answer in documents)
        total = 0.0
        adam.zero_grad()
        for part in _by_length(documents):
            part_loss = loss(recipe.model, params, part) / tokens
            part_loss.backward()
            total += part_loss.item()
        torch.nn.utils.clip_grad_norm_(params.values(), 1.0)
        adam.step()
        schedule.step()
        if progress is not None:
            progress(step + 1, total)
    return {name: value.detach() for name, value in params.items()}


def _by_length(documents: list[Document], parts: int = 4) -> Iterator[list[Document]]:
    """The documents in parts of like length, so that little is spent on padding."""
    ordered = sorted(documents, key=lambda document: len(document[0]) + len(document[1]))
    size = -(-len(ordered) // parts)
    return (ordered[i : i + size] for i in range(0, len(ordered), size))
