"""Teachers speak of the student's own prefixes; and the mixture of their term with the reward's."""

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch

from sim.batch import Batch, draw_batch
from sim.config import Clip, Config, Reward, Source, Teacher
from sim.gradients import Linearisation
from sim.policy import Transformer
from sim.signals import advantages, forward, jsd, label, onehot, reverse, sampled_reverse
from sim.teachers import teacher_log_probs, weigh
from tests import reference as slow

MODEL = Transformer(layers=1, width=16, heads=2)
PARAMS = slow.random_params(MODEL, 0)
TEACHER = Transformer(layers=2, width=12, heads=3)
TEACHER_PARAMS = slow.random_params(TEACHER, 1)
CONTEXTS = ("none", "hint", "wrong-hint", "rule", "careful", "hasty", "example")
BATCH = draw_batch(MODEL, PARAMS, Source(prompts=3, group_size=2, alpha=0.5), 0, 0, 0)
TOKENS = torch.from_numpy(BATCH.token_N)


def taught(batch: Batch = BATCH, context: str = "hint", temperature: float = 1.0, **models: Any) -> torch.Tensor:
    model, params = models.get("model", TEACHER), models.get("params", TEACHER_PARAMS)
    return teacher_log_probs(model, params, batch, context, 0, 0, 0, temperature)


def test_a_demonstration_is_one_for_a_group_and_stays_with_the_draw() -> None:
    one, two = taught(context="example"), taught(context="example")
    assert torch.equal(one, two)
    other = teacher_log_probs(TEACHER, TEACHER_PARAMS, BATCH, "example", 0, 0, 1, 1.0)
    assert not torch.allclose(one, other)
    # Rollouts of one group read the same row before their first token.
    for group in range(3):
        first = [int(np.flatnonzero(BATCH.sequence_N == r)[0]) for r in np.flatnonzero(BATCH.group_B == group)]
        torch.testing.assert_close(one[first[0]], one[first[1]], rtol=1e-12, atol=1e-12)


def test_a_teacher_reads_each_row_by_itself() -> None:
    whole = taught()
    for r in range(len(BATCH.answers)):
        sites = BATCH.sequence_N == r
        alone = dataclasses.replace(
            BATCH,
            problems=BATCH.problems[r : r + 1],
            prompts=BATCH.prompts[r : r + 1],
            answers=BATCH.answers[r : r + 1],
            group_B=BATCH.group_B[r : r + 1],
            on_policy_B=BATCH.on_policy_B[r : r + 1],
            reward_B=BATCH.reward_B[r : r + 1],
        )
        torch.testing.assert_close(taught(alone), whole[sites], rtol=1e-10, atol=1e-10)


LOG_P = slow.log_probs(MODEL, PARAMS, BATCH)
LOG_Q = taught()
TERMS = {
    "sampled-reverse": lambda clip: sampled_reverse(LOG_P, LOG_Q, TOKENS, clip),
    "reverse": lambda clip: reverse(LOG_P, LOG_Q, clip),
    "forward": lambda clip: forward(LOG_P, LOG_Q, clip),
    "jsd": lambda clip: jsd(LOG_P, LOG_Q, 0.5, clip),
}
# Rewards that differ within each group, so that the reward term is not zero.
GRADED = dataclasses.replace(BATCH, reward_B=np.array([1.0, 0, 0, 1, 1, 0]))


@pytest.mark.parametrize("divergence", list(TERMS))
@pytest.mark.parametrize("mix", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("clip", [Clip(), Clip(on=True, threshold=0.1)])
def test_lambda_mixes_the_clipped_teacher_term_with_the_advantage(divergence: Any, mix: float, clip: Clip) -> None:
    config = Config(teacher=Teacher(weight=mix, divergence=divergence), clip=clip)
    found = weigh(GRADED, LOG_P, LOG_Q, config)
    A_N = torch.from_numpy(advantages(GRADED.reward_B, GRADED.group_B, Reward())[GRADED.sequence_N])
    term = TERMS[divergence](clip)
    torch.testing.assert_close(found.rows_NV, mix * term.rows_NV + (1 - mix) * onehot(TOKENS, A_N, LOG_P))
    torch.testing.assert_close(found.signal_N, mix * term.signal_N + (1 - mix) * A_N)
    # With lambda 0 no teacher speaks.
    expected = term.kl_N if mix > 0 else torch.full_like(term.kl_N, torch.nan)
    torch.testing.assert_close(found.kl_N, expected, equal_nan=True)
    assert torch.equal(found.clipped_N, term.clipped_N & (mix > 0))


@pytest.mark.parametrize("divergence", list(TERMS))
def test_equal_rewards_give_exactly_zero_policy_rows_whatever_the_teacher(divergence: Any) -> None:
    equal = dataclasses.replace(BATCH, reward_B=np.ones(6))
    found = weigh(equal, LOG_P, LOG_Q, Config(teacher=Teacher(weight=0, divergence=divergence)))
    assert not found.rows_NV.any()
    assert not found.signal_N.any()


def test_equal_rewards_leave_the_teachers_share_of_the_row() -> None:
    equal = dataclasses.replace(BATCH, reward_B=np.ones(6))
    found = weigh(equal, LOG_P, LOG_Q, Config(teacher=Teacher(weight=0.5, divergence="reverse")))
    torch.testing.assert_close(found.rows_NV, 0.5 * reverse(LOG_P, LOG_Q, Clip()).rows_NV)
    assert found.rows_NV.any()


def test_a_label_is_known_on_the_datas_own_prefixes_only() -> None:
    found = weigh(BATCH, LOG_P, None, Config(teacher=Teacher(policy="label", divergence="forward")))
    own = torch.from_numpy(BATCH.on_policy_B[BATCH.sequence_N])
    assert own.any()
    assert not own.all()
    expected = label(LOG_P, TOKENS, Clip())
    assert not found.rows_NV[own].any()
    assert found.kl_N[own].isnan().all()
    torch.testing.assert_close(found.rows_NV[~own], expected.rows_NV[~own])
    torch.testing.assert_close(found.kl_N[~own], expected.kl_N[~own])


def test_supervised_fine_tuning_is_the_gradient_of_the_cross_entropy() -> None:
    """The mean of log p(y) over the answers' tokens, prompts left out."""
    data = draw_batch(MODEL, PARAMS, Source(prompts=2, group_size=1, alpha=0), 0, 0, 0)
    config = Config(teacher=Teacher(policy="label", divergence="forward"))
    point = Linearisation(MODEL, PARAMS, data)
    found = point.pull(weigh(data, point.log_p_NV, None, config).rows_NV / len(data.token_N))
    leaves = {name: value.clone().requires_grad_() for name, value in PARAMS.items()}
    likelihood = sum(slow.next_word(MODEL, leaves, prefix)[token] for _, prefix, token in slow.prefixes(data))
    expected = torch.autograd.grad(likelihood / len(data.token_N), list(leaves.values()))  # type: ignore[operator]
    expected_P = slow.flat(dict(zip(leaves, expected, strict=True)))
    torch.testing.assert_close(slow.flat(found), expected_P, rtol=0, atol=1e-10)
