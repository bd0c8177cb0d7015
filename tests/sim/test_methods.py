"""Each method's update is the gradient of the objective that it is named after, written out and differenced."""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from sim.batch import Batch
from sim.config import Clip, Config, Reference, Reward, Source, Teacher
from sim.gradients import Linearisation, dot
from sim.optimiser import token_weights
from sim.signals import forward, reverse
from sim.teachers import weigh
from sim.timeline import Moment
from sim.world import World
from tests import reference as slow
from tests.shipped import HINTED, SFT, batch_of, changed, fresh, right, rows_of, shared

MODEL, T = slow.TINY, 0.8
STUDENT, OTHER, START = (slow.random_params(MODEL, seed) for seed in (0, 1, 2))
#: Four rollouts in two groups, of 5, 1, 7 and 4 tokens, with rewards 0, 1, 0, 1.
OWN = slow.random_batch()
DATA, ACCEPTED = slow.data_batch(OWN), slow.accepted_batch(OWN)
HALF = dataclasses.replace(OWN, on_policy_B=np.array([1, 1, 0, 0], bool), labelled_B=np.array([0, 0, 1, 1], bool))
WRITTEN = dataclasses.replace(OWN, labelled_B=np.ones(4, bool))
LOG_P, LOG_Q, LOG_REF = (slow.log_probs(MODEL, params, OWN, T) for params in (STUDENT, OTHER, START))
Site = Callable[[Tensor, int], Tensor]


def kl(log_a_V: Tensor, log_b_V: Tensor) -> Tensor:
    return (log_a_V.exp() * (log_a_V - log_b_V)).sum()


def jsd(log_p_V: Tensor, log_q_V: Tensor, b: float) -> Tensor:
    log_m_V = (b * log_q_V.exp() + (1 - b) * log_p_V.exp()).log()
    return b * kl(log_q_V, log_m_V) + (1 - b) * kl(log_p_V, log_m_V)


def log_ratio(n: int) -> Tensor:
    """log q(y) - log p(y), at the parameters where the objective is differentiated."""
    return LOG_Q[n, OWN.token_N[n]] - LOG_P[n, OWN.token_N[n]]


def of_rollout(*values: float) -> Site:
    """A detached number a rollout times log p(y)."""
    return lambda log_p_V, n: values[OWN.sequence_N[n]] * log_p_V[OWN.token_N[n]]


LIKELIHOOD = of_rollout(1, 1, 1, 1)
ADVANTAGE = of_rollout(-0.5, 0.5, -0.5, 0.5)
NORMALISED = 0.5 / (math.sqrt(0.5) + 1e-4)
LABEL = {"policy": "label", "divergence": "forward"}


@dataclass(frozen=True)
class Method:
    """A configuration, the kind of batch that it reads, and the objective of a site: what the update climbs."""

    config: Config
    batch: Batch
    site: Site


def method(site: Site, batch: Batch = OWN, clip: Clip | None = None, **parts: Any) -> Method:
    groups = {"teacher": Teacher, "reward": Reward, "reference": Reference}
    made = {name: groups[name](**values) for name, values in parts.items()}
    return Method(Config(clip=clip or Clip(), **made), batch, site)


METHODS = {
    "SFT": method(LIKELIHOOD, DATA, teacher=LABEL),
    "SFT on the data's half of a batch": method(of_rollout(0, 0, 1, 1), HALF, teacher=LABEL),
    "rejection-sampled SFT": method(LIKELIHOOD, ACCEPTED, teacher=LABEL),
    "DFT": method(lambda log_p, n: log_p[OWN.token_N[n]].exp(), DATA, teacher=LABEL | {"label_weight": "probability"}),
    "anchored SFT": method(
        lambda log_p, n: log_p[OWN.token_N[n]].exp() - 0.1 * kl(LOG_REF[n], log_p),
        DATA,
        teacher=LABEL | {"label_weight": "probability"},
        reference={"beta": 0.1, "divergence": "forward"},
    ),
    "RL, Dr. GRPO": method(ADVANTAGE, teacher={"weight": 0.0}),
    "RL, GRPO": method(
        of_rollout(-NORMALISED, NORMALISED, -NORMALISED, NORMALISED),
        teacher={"weight": 0.0},
        reward={"normalise": True},
    ),
    "RL, leave one out": method(
        of_rollout(-1, 1, -1, 1), teacher={"weight": 0.0}, reward={"baseline": "leave-one-out"}
    ),
    "RL without a baseline": method(of_rollout(0, 1, 0, 1), teacher={"weight": 0.0}, reward={"baseline": "none"}),
    "RL with a KL to the reference": method(
        lambda log_p, n: ADVANTAGE(log_p, n) - 0.3 * kl(log_p, LOG_REF[n]),
        teacher={"weight": 0.0},
        reference={"beta": 0.3},
    ),
    "sampled distillation": method(lambda log_p, n: log_ratio(n) * log_p[OWN.token_N[n]]),
    "sampled distillation, clipped": method(
        lambda log_p, n: log_ratio(n).clamp(-0.5, 0.5) * log_p[OWN.token_N[n]], clip=Clip(on=True, threshold=0.5)
    ),
    "reverse KL": method(lambda log_p, n: -kl(log_p, LOG_Q[n]), teacher={"divergence": "reverse"}),
    "forward KL": method(lambda log_p, n: -kl(LOG_Q[n], log_p), teacher={"divergence": "forward"}),
    "forward KL, entries clamped": method(
        lambda log_p, n: -(LOG_Q[n].exp() * (LOG_Q[n] - log_p)).clamp(max=0.05).sum(),
        teacher={"divergence": "forward"},
        clip=Clip(on=True, kind="entry-clamp", threshold=0.05),
    ),
    "JSD": method(lambda log_p, n: -jsd(log_p, LOG_Q[n], 0.3), teacher={"divergence": "jsd", "jsd_beta": 0.3}),
    "continuation distillation": method(
        LIKELIHOOD, WRITTEN, teacher={"policy": "self", "context": "hint", "divergence": "continuation"}
    ),
    "a mixture of JSD, reward and reference": method(
        lambda log_p, n: -0.6 * jsd(log_p, LOG_Q[n], 0.5) + 0.4 * ADVANTAGE(log_p, n) - 2 * kl(log_p, LOG_REF[n]),
        teacher={"divergence": "jsd", "weight": 0.6},
        reference={"beta": 2.0},
    ),
    "a mixture of DFT on accepted answers and the reference": method(
        lambda log_p, n: 0.7 * log_p[OWN.token_N[n]].exp() + 0.3 * ADVANTAGE(log_p, n) - 0.5 * kl(LOG_REF[n], log_p),
        ACCEPTED,
        teacher=LABEL | {"label_weight": "probability", "weight": 0.7},
        reference={"beta": 0.5, "divergence": "forward"},
    ),
}


@pytest.mark.parametrize("aggregation", ["token", "sequence", "constant"])
@pytest.mark.parametrize("name", list(METHODS))
def test_the_update_is_the_finite_difference_of_the_objective(name: str, aggregation: str) -> None:
    given, direction = METHODS[name], slow.random_direction(STUDENT, 7)
    batch, lengths = given.batch, [len(answer) for answer in given.batch.answers]
    point = Linearisation(MODEL, STUDENT, batch, T)
    rows = weigh(batch, point.log_p_NV, LOG_Q, given.config, LOG_REF).rows_NV
    found = dot(point.pull(rows, token_weights(batch, aggregation)), direction)

    def objective(h: float) -> float:
        moved = {name: value + h * direction[name] for name, value in STUDENT.items()}
        log_p_NV = slow.log_probs(MODEL, moved, batch, T)
        values = torch.stack([given.site(log_p_V, n) for n, log_p_V in enumerate(log_p_NV)])
        return float(slow.mean_gradient(values[:, None], lengths, aggregation, batch.kept_B.tolist()))

    h = 1e-6
    expected = (objective(h) - objective(-h)) / (2 * h)
    assert abs(expected) > 1e-3
    # The weights a_n are float32.
    assert found == pytest.approx(expected, rel=3e-6, abs=1e-8)


def test_policy_gradient_without_a_baseline_is_the_acceptance_rate_times_rejection_sampled_sft() -> None:
    """Of rollouts where means are over rollouts, of tokens where they are over tokens: 2 of 4, and 5 of 17."""
    reward, label = METHODS["RL without a baseline"].config, METHODS["rejection-sampled SFT"].config
    point = Linearisation(MODEL, STUDENT, OWN, T)
    for aggregation, rate in (("token", 5 / 17), ("sequence", 1 / 2), ("constant", 1 / 2)):
        climbed, copied = (
            slow.flat(
                point.pull(
                    weigh(batch, point.log_p_NV, None, config).rows_NV, token_weights(batch, aggregation).double()
                )
            )
            for batch, config in ((OWN, reward), (ACCEPTED, label))
        )
        torch.testing.assert_close(climbed, rate * copied, rtol=1e-6, atol=1e-9)


def one_word(count: int = MODEL.vocabulary) -> tuple[Batch, Linearisation]:
    """A policy of one word: every answer of one token to one prompt, so that means over p(y) are exact sums."""
    batch = slow.make_batch([[1, 5, 6]] * count, [[v] for v in range(count)], group_size=count)
    batch = dataclasses.replace(batch, reward_B=np.linspace(-1, 2, count) ** 2)
    return batch, Linearisation(MODEL, STUDENT, batch)


@pytest.mark.parametrize("baseline", ["none", "mean", "leave-one-out"])
@pytest.mark.parametrize("beta", [0.0, 0.3])
def test_the_expected_update_of_kl_regularised_rl_is_the_gradient_of_its_objective(baseline: Any, beta: float) -> None:
    """grad { E_p[r] - beta KL(p || ref) } by enumeration, whatever the baseline; leave-one-out is V / (V - 1) of r."""
    batch, point = one_word()
    V, reward_V = MODEL.vocabulary, torch.from_numpy(batch.reward_B)
    config = Config(
        teacher=Teacher(weight=0),
        reward=Reward(baseline=baseline),
        reference=Reference(beta=beta) if beta else Reference(),
    )
    log_ref_V = slow.next_word(MODEL, START, batch.prompts[0])
    rows = weigh(batch, point.log_p_NV, None, config, log_ref_V.expand(V, V) if beta else None).rows_NV
    found = slow.flat(point.pull(rows, point.p_NV[0]))
    leaves = {name: value.clone().requires_grad_() for name, value in STUDENT.items()}
    log_p_V = slow.next_word(MODEL, leaves, batch.prompts[0])
    gain = V / (V - 1) if baseline == "leave-one-out" else 1.0
    objective = gain * (log_p_V.exp() * reward_V).sum() - beta * kl(log_p_V, log_ref_V)
    expected = torch.autograd.grad(objective, list(leaves.values()))
    torch.testing.assert_close(found, slow.flat(dict(zip(leaves, expected, strict=True))), rtol=0, atol=1e-12)


def test_kl_regularised_rl_rests_at_the_policy_that_reward_and_reference_imply() -> None:
    """At p* proportional to ref * exp(r / beta) the expected arrow vanishes, and at the reference it does not."""
    beta, case = 0.5, slow.golden()["implicit_target"][0]
    assert case["beta"] == beta
    batch = dataclasses.replace(slow.make_batch([[1]] * 2, [[0], [1]]), reward_B=np.array(case["reward"]))
    config = Config(teacher=Teacher(weight=0), reward=Reward(baseline="none"), reference=Reference(beta=beta))
    log_ref = torch.tensor([case["reference"]] * 2, dtype=torch.float64).log()

    def expected_arrow(p: list[float]) -> Tensor:
        p_NV = torch.tensor([p] * 2, dtype=torch.float64)
        rows = weigh(batch, p_NV.log(), None, config, log_ref).rows_NV
        return ((rows - p_NV * rows.sum(-1, keepdim=True)) * p_NV[0][:, None]).sum(0)

    torch.testing.assert_close(expected_arrow(case["target"]), torch.zeros(2, dtype=torch.float64), rtol=0, atol=1e-12)
    torch.testing.assert_close(
        expected_arrow(case["reference"]), torch.tensor([0.25, -0.25], dtype=torch.float64), rtol=0, atol=1e-12
    )


def test_the_pull_to_the_reference_is_the_exact_sum_that_the_estimators_only_have_in_the_mean() -> None:
    """As losses at sampled words, k1 pulls nowhere, k2 like the reverse KL and k3 like the forward one."""
    batch, point = one_word()
    V, log_p = MODEL.vocabulary, point.log_p_NV[0]
    log_ref = slow.next_word(MODEL, START, batch.prompts[0])
    z = log_p.clone().requires_grad_()
    now = z.log_softmax(-1)
    ratio = log_ref - now
    arrows = {}
    for name, loss_V in {"k1": -ratio, "k2": 0.5 * ratio**2, "k3": ratio.exp() - 1 - ratio}.items():
        (gradient,) = torch.autograd.grad((log_p.exp() * loss_V).sum(), z, retain_graph=True)
        arrows[name] = -gradient
    pulls = {}
    for divergence in ("reverse", "forward"):
        config = Config(
            teacher=Teacher(weight=0), reference=Reference.model_validate({"beta": 1.0, "divergence": divergence})
        )
        equal = dataclasses.replace(batch, reward_B=np.ones(V))
        rows = weigh(equal, point.log_p_NV, None, config, log_ref.expand(V, V)).rows_NV
        # No sampled word comes into it.
        torch.testing.assert_close(rows, rows[:1].expand(V, V), rtol=0, atol=1e-12)
        pulls[divergence] = rows[0] - log_p.exp() * rows[0].sum()
    torch.testing.assert_close(arrows["k1"], torch.zeros(V, dtype=torch.float64), rtol=0, atol=1e-12)
    torch.testing.assert_close(pulls["reverse"], arrows["k2"], rtol=0, atol=1e-12)
    torch.testing.assert_close(pulls["forward"], arrows["k3"], rtol=0, atol=1e-12)
    assert float((pulls["reverse"] - pulls["forward"]).norm()) > 0.01


def test_sampled_distillation_is_reverse_kl_in_the_mean_and_continuation_of_one_word_is_forward_kl() -> None:
    """Over words from the student's own policy the one, over words that the teacher writes the other."""
    batch, point = one_word()
    V = MODEL.vocabulary
    log_q = slow.next_word(MODEL, OTHER, batch.prompts[0]).expand(V, V)
    sampled = weigh(batch, point.log_p_NV, log_q, Config()).rows_NV
    written = dataclasses.replace(batch, labelled_B=np.ones(V, bool))
    config = Config(teacher=Teacher(divergence="continuation", continuation=1))
    continued = weigh(written, point.log_p_NV, log_q, config).rows_NV
    off = Clip()
    for rows, weights, exact in (
        (sampled, point.p_NV[0], reverse(point.log_p_NV[:1], log_q[:1], off)),
        (continued, log_q[0].exp(), forward(point.log_p_NV[:1], log_q[:1], off)),
    ):
        found, expected = point.pull(rows, weights), Linearisation(MODEL, STUDENT, slow.make_batch([[1, 5, 6]], [[0]]))
        torch.testing.assert_close(slow.flat(found), slow.flat(expected.pull(exact.rows_NV)), rtol=0, atol=1e-12)


FEW = Source(prompts=3, group_size=2, temperature=T)


def rejecting(**source: Any) -> Config:
    """Rejection sampling at the first seed at which some of the student's answers are dropped and some are not."""
    config = changed(SFT, source={"alpha": 1.0, "keep": "right"} | source)
    for seed in range(50):
        found = config.model_copy(update={"seed": seed})
        batch = batch_of(found)
        if 0 < batch.reward_B[batch.on_policy_B].sum() < batch.on_policy_B.sum():
            return found
    raise AssertionError("answers are all right or all wrong")


#: Methods on the shipped weights, and the steps of hinted distillation that were taken before.
SHIPPED: dict[str, tuple[Config, int]] = {
    "JSD to the hinted self": (changed(HINTED, teacher={"divergence": "jsd", "jsd_beta": 0.3}), 0),
    "JSD to the hinted self, frozen": (
        changed(HINTED, source={"temperature": T}, teacher={"divergence": "jsd", "parameters": "frozen"}),
        1,
    ),
    "DFT on a fallible foreign annotator, with replay": (
        Config(
            source=Source(
                prompts=4, group_size=1, alpha=0, temperature=T, data_style="foreign", data_skill=0.5, replay=0.5
            ),
            teacher=changed(SFT, teacher={"label_weight": "probability"}).teacher,
        ),
        0,
    ),
    "anchored SFT": (
        changed(
            SFT,
            teacher={"label_weight": "probability"},
            reference={"beta": 0.1, "divergence": "forward"},
            update={"aggregation": "sequence"},
        ),
        1,
    ),
    "rejection-sampled SFT": (rejecting(prompts=3, group_size=2), 0),
    "rejection-sampled SFT beside data": (
        changed(rejecting(prompts=4, group_size=2, alpha=0.5), update={"aggregation": "sequence"}),
        0,
    ),
    "KL-regularised RL": (
        Config(source=FEW, teacher=Teacher(weight=0), reward=Reward(baseline="none"), reference=Reference(beta=0.3)),
        1,
    ),
    "continuation by the hinted self": (
        changed(HINTED, source={"temperature": T}, teacher={"divergence": "continuation", "continuation": 4}),
        1,
    ),
    "one word of another teacher, beside the reward": (
        Config(source=FEW, teacher=Teacher(divergence="continuation", continuation=1, weight=0.6)),
        0,
    ),
    "half JSD, half reward, with a reference": (
        Config(source=FEW, teacher=Teacher(divergence="jsd", weight=0.5), reference=Reference(beta=0.5)),
        1,
    ),
}


def moment_of(name: str) -> Moment:
    config, steps = SHIPPED[name]
    before = changed(HINTED, update={"step_size": 1.0})
    return Moment(config) if steps == 0 else Moment(before).next_step().with_config(config)


@pytest.mark.parametrize("name", list(SHIPPED))
def test_the_simulators_update_and_arrows_are_the_float64_ones(name: str) -> None:
    moment, simulator, base = moment_of(name), shared(), World.load().policies["base"]
    config, params = moment.config, simulator.state(moment.path).params
    found = simulator.frame(moment, complete=False)
    rows = rows_of(config, found, params)
    G, batch = simulator.gradient(moment)
    g = slow.site_gradients(base.model, params, batch, rows, config.source.temperature)
    lengths = [len(answer) for answer in batch.answers]
    kept = [config.source.keep == "all" or not one.on_policy or right(one) for one in found.rollouts]
    expected = slow.mean_gradient(g, lengths, config.update.aggregation, kept)
    assert float(expected.norm()) > 1e-3
    assert all(kept) == (config.source.keep == "all")
    torch.testing.assert_close(slow.flat(G), expected, rtol=0, atol=1e-4 * float(expected.abs().max()))
    assert found.update.norm == pytest.approx(config.update.step_size * float(expected.norm()), rel=1e-4)
    p = slow.log_probs(base.model, params, batch, config.source.temperature).exp().detach()
    arrows = (rows - p * rows.sum(-1, keepdim=True)) / config.source.temperature
    torch.testing.assert_close(simulator.cotangents(moment).double(), arrows, rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", list(SHIPPED))
def test_a_method_gives_the_same_bytes_in_a_fresh_simulator(name: str) -> None:
    assert fresh().frame(moment_of(name)).dumps() == shared().frame(moment_of(name)).dumps()
