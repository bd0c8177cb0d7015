"""The sites on show: their texts, numbers and arrows, against a plain float64 backward pass a token."""

import json
from typing import Any

import numpy as np
import pytest
import torch

from sim.config import Config
from sim.language import EOS, decode, encode
from sim.rollout import MAX_NEW_TOKENS
from sim.world import World
from tests import reference as slow
from tests.shipped import HINTED, RL, SFT, batch_of, changed, frame, graded, hints, log_probs_of, rows_of, units

METHODS = {
    "hinted self": HINTED,
    "hinted self, clipped": changed(HINTED, clip={"on": True, "threshold": 0.2}),
    "reverse, same family": changed(
        HINTED, teacher={"policy": "same-family", "context": "none", "divergence": "reverse"}
    ),
    "forward, hinted, warm": changed(HINTED, teacher={"divergence": "forward"}, source={"temperature": 1.5}),
    "RL": RL,
    "SFT": SFT,
}


@pytest.mark.parametrize("name", list(METHODS))
def test_arrows_are_a_float64_backward_pass_a_token(name: str) -> None:
    config = graded(changed(METHODS[name], update={"step_size": 0.5}))
    found, base = frame(config), World.load().policies["base"]
    rows = rows_of(config, found)
    lengths = found.sites.x**2 + found.sites.y**2
    # The longest arrows and a few in between: an elementwise error means nothing where a coordinate crosses zero.
    some = sorted({int(n) for n in np.argsort(lengths)[[-1, -2, -3, len(lengths) // 2, len(lengths) // 3]]})
    g = slow.site_gradients(base.model, base.params, batch_of(config), rows, config.source.temperature, only=some)
    plane = torch.stack(
        [slow.flat({name: value[k] for name, value in World.load().plane.directions.items()}) for k in range(2)]
    )
    expected = 0.5 * (g @ plane.T).numpy() @ units(config).T
    largest = float(np.sqrt(lengths.max()))
    assert largest > 0
    np.testing.assert_allclose(found.sites.x[some], expected[:, 0], rtol=0, atol=1e-4 * largest)
    np.testing.assert_allclose(found.sites.y[some], expected[:, 1], rtol=0, atol=1e-4 * largest)
    assert found.sites.norm is not None
    np.testing.assert_allclose(
        found.sites.norm[some], g.norm(dim=1).numpy(), rtol=0, atol=1e-4 * found.sites.norm.max()
    )


@pytest.mark.parametrize("aggregation", ["token", "sequence", "constant"])
def test_the_update_and_its_shares_are_those_of_the_plain_gradients(aggregation: str) -> None:
    config = changed(HINTED, source={"group_size": 1}, update={"aggregation": aggregation, "step_size": 2.0})
    found, base = frame(config), World.load().policies["base"]
    batch = batch_of(config)
    lengths = [len(answer) for answer in batch.answers]
    g = slow.site_gradients(base.model, base.params, batch, rows_of(config, found))
    G = slow.mean_gradient(g, lengths, aggregation)
    weight = {
        "token": np.full(sum(lengths), 1 / sum(lengths)),
        "sequence": np.repeat([1 / (len(lengths) * length) for length in lengths], lengths),
        "constant": np.full(sum(lengths), 1 / (len(lengths) * MAX_NEW_TOKENS)),
    }[aggregation]
    np.testing.assert_allclose(found.sites.share, slow.shares(torch.from_numpy(weight)[:, None] * g), atol=1e-4)
    assert found.update.norm == pytest.approx(2 * float(G.norm()), rel=1e-4)
    reward = slow.flat({name: value[0] for name, value in World.load().plane.directions.items()})
    assert found.update.reward_cosine == pytest.approx(float(G @ reward / G.norm()), abs=1e-4)
    spread = torch.stack([part.sum(0) for part in (torch.from_numpy(weight)[:, None] * g).split(lengths)])
    C = spread @ spread.T
    ratio = float(C.trace() ** 2 / (C**2).sum())
    assert found.measures.spread.participation_ratio == pytest.approx(ratio, rel=1e-4)
    assert found.measures.mean_norm == pytest.approx(float(g.norm(dim=1).mean()), rel=1e-4)
    plane = torch.stack(
        [slow.flat({name: value[k] for name, value in World.load().plane.directions.items()}) for k in range(2)]
    )
    captured = float((g @ plane.T).square().sum() / g.square().sum())
    assert found.plane.captured_share == pytest.approx(captured, rel=1e-3)
    assert found.plane.update_share == pytest.approx(float((G @ plane.T).square().sum() / (G @ G)), rel=1e-3)


@pytest.mark.parametrize("config", [HINTED, RL, SFT])
def test_arrows_average_to_the_update_and_shares_add_up_to_one(config: Config) -> None:
    found = frame(graded(config))
    assert found.sites.share.sum() == pytest.approx(1, abs=1e-4)
    scale = float(np.abs(found.sites.x).max())
    assert found.update.x == pytest.approx(found.sites.x.mean(), abs=1e-5 * scale)
    assert found.update.y == pytest.approx(found.sites.y.mean(), abs=1e-5 * scale)


def test_probabilities_on_show_are_those_of_student_and_teacher() -> None:
    found, base = frame(HINTED), World.load().policies["base"]
    y = torch.tensor(encode(found.sites.text))[:, None]
    log_p, log_q = (log_probs_of(base, found, shown, 1.0) for shown in ({}, hints(found)))
    np.testing.assert_allclose(found.sites.student_p, log_p.gather(1, y)[:, 0].exp(), rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(found.sites.teacher_p, log_q.gather(1, y)[:, 0].exp(), rtol=1e-3, atol=1e-7)
    divergence = (log_p.exp() * (log_p - log_q)).sum(1)
    np.testing.assert_allclose(found.sites.kl, divergence, rtol=1e-3, atol=1e-5)
    signal = (log_q - log_p).gather(1, y)[:, 0]
    np.testing.assert_allclose(found.sites.signal, signal, rtol=1e-3, atol=1e-4)


def test_the_unclipped_arrows_are_those_without_the_clip() -> None:
    clipped = changed(HINTED, clip={"on": True, "threshold": 0.1})
    free, held = frame(HINTED), frame(clipped)
    np.testing.assert_allclose(held.sites.unclipped_x, free.sites.x, rtol=1e-6)
    np.testing.assert_allclose(held.sites.unclipped_y, free.sites.y, rtol=1e-6)
    assert held.sites.clipped.any()
    assert not free.sites.clipped.any()
    assert isinstance(free.update.norm, float)
    assert isinstance(held.update.norm, float)
    assert held.update.clip_ratio == pytest.approx(held.update.norm / free.update.norm, rel=1e-5)


def test_sites_stand_where_their_text_says() -> None:
    found = frame(HINTED)
    n = 0
    for r, rollout in enumerate(found.rollouts):
        words = rollout.answer.split()
        for j, word in enumerate(words):
            assert found.sites.text[n] == word
            assert found.sites.prefix[n] == " ".join([rollout.prompt, *words[:j]])
            assert (found.sites.sequence[n], found.sites.position[n]) == (r, j)
            n += 1
    assert n == len(found.sites.text)


def test_a_json_frame_has_a_reason_for_each_null_and_no_nan() -> None:
    for config in (HINTED, SFT, changed(SFT, source={"alpha": 0.5}), changed(RL, source={"alpha": 0.0})):
        body = json.loads(frame(config).dumps(), parse_constant=lambda text: pytest.fail(f"{text} in the JSON"))
        reasons = set(body.pop("reasons"))
        nulls = {f"sites.{key}" for site in body.pop("sites") for key, value in site.items() if value is None}

        def walk(path: str, value: Any, nulls: set[str] = nulls) -> None:
            if isinstance(value, dict):
                for key, inner in value.items():
                    walk(f"{path}.{key}" if path else key, inner)
            elif value is None:
                nulls.add(path)

        walk("", body)
        assert nulls == reasons


def test_every_teacher_and_context_speaks() -> None:
    for context in ("none", "hint", "wrong-hint", "rule", "example", "careful", "hasty"):
        for policy in ("self", "same-family", "cross-family", "over-trained"):
            found = frame(changed(HINTED, teacher={"policy": policy, "context": context}), complete=False)
            assert np.isfinite(found.sites.teacher_p).all()
            assert found.sites.x.any() == (policy != "self" or context != "none")


def test_the_word_that_a_step_raises_most_is_what_the_teacher_wants_and_the_student_does_not_expect() -> None:
    """For a label it is the label; for a reward the word itself if it was good, another if it was not."""
    label = frame(SFT, complete=False).sites
    assert label.raised == label.text
    np.testing.assert_array_equal(label.raised_student_p, label.student_p)
    np.testing.assert_array_equal(label.raised_teacher_p, label.teacher_p)
    hinted = frame(changed(HINTED, teacher={"divergence": "forward"}), complete=False).sites
    other = np.array([text != raised for text, raised in zip(hinted.text, hinted.raised, strict=True)])
    assert other.any()
    assert (hinted.raised_teacher_p > hinted.raised_student_p)[hinted.kl > 1e-3].all()
    found = frame(graded(RL), complete=False)
    assert {site > 0 for site in found.sites.signal} == {True, False}
    for text, raised, signal in zip(found.sites.text, found.sites.raised, found.sites.signal, strict=True):
        assert (raised == "") if signal == 0 else (raised == text) == (signal > 0)


def test_an_answer_that_was_cut_still_has_its_sites() -> None:
    """At a high temperature some answers never end."""
    found = frame(changed(HINTED, source={"temperature": 5.0, "prompts": 16}), complete=False)
    cut = [rollout for rollout in found.rollouts if EOS not in decode(encode(rollout.answer.split()))]
    assert cut
    assert all(len(rollout.answer.split()) == 36 for rollout in cut)
    assert all(rollout.reward == 0 for rollout in cut)
