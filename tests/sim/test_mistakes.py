"""Thirteen mistakes found in public code, each looked for in every method and every kind of batch."""

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from sim.batch import Batch, Continuing, draw_batch
from sim.config import Clip, Config, Reference, Reward, Source, Teacher
from sim.errors import InvalidInput
from sim.gradients import Linearisation, coordinates, stack
from sim.language import VOCABULARY, context_words, encode
from sim.optimiser import token_weights
from sim.policy import Transformer
from sim.signals import kl
from sim.simulator import Simulator
from sim.teachers import teacher_log_probs, weigh
from sim.timeline import Moment
from sim.world import Weights, World
from tests import reference as slow
from tests.shipped import HINTED, changed, frame, fresh, log_probs_of, shared

MODEL = Transformer(layers=1, width=16, heads=2)
STUDENT, START = (slow.random_params(MODEL, seed) for seed in (0, 2))
TEACHER = Transformer(layers=2, width=12, heads=3)
TEACHER_PARAMS = slow.random_params(TEACHER, 1)
CONTEXTS = ("none", "hint", "wrong-hint", "rule", "careful", "hasty", "example")
LABEL = {"policy": "label", "divergence": "forward"}
#: The kinds of batch: settings of the source beside 3 prompts of 2, and who goes on from the student's answers.
KINDS: dict[str, tuple[dict[str, Any], Continuing | None]] = {
    "own and data": ({"alpha": 0.5}, None),
    "data and replay": ({"alpha": 0.0, "replay": 0.5, "data_skill": 0.5}, None),
    "rejection": ({"alpha": 0.5, "keep": "right"}, None),
    "continuation": ({"alpha": 0.5}, Continuing(TEACHER, TEACHER_PARAMS, "hint", 6)),
    "one word": ({}, Continuing(TEACHER, TEACHER_PARAMS, "none", 1)),
}
METHODS = {
    "SFT": Config(teacher=Teacher(**LABEL)),
    "DFT": Config(teacher=Teacher(**LABEL, label_weight="probability")),
    "anchored": Config(
        teacher=Teacher(**LABEL, label_weight="probability"), reference=Reference(beta=0.1, divergence="forward")
    ),
    "RL": Config(teacher=Teacher(weight=0), reward=Reward(normalise=True)),
    "RL with a reference": Config(teacher=Teacher(weight=0), reference=Reference(beta=0.3)),
    "sampled reverse": Config(),
    "reverse": Config(teacher=Teacher(divergence="reverse")),
    "forward": Config(teacher=Teacher(divergence="forward")),
    "jsd": Config(teacher=Teacher(divergence="jsd")),
    "jsd, nearly forward": Config(teacher=Teacher(divergence="jsd", jsd_beta=0.001)),
    "jsd, nearly reverse": Config(teacher=Teacher(divergence="jsd", jsd_beta=0.999)),
    "continuation": Config(teacher=Teacher(divergence="continuation")),
    "mixture": Config(teacher=Teacher(divergence="jsd", weight=0.5), reference=Reference(beta=1.0)),
}


def batch_of(kind: str) -> Batch:
    """Two rollouts of three prompts; rewards differ in the first group, and rejection keeps the right."""
    source, continuing = KINDS[kind]
    full = Source.model_validate({"prompts": 3, "group_size": 2} | source)
    found = draw_batch(MODEL, STUDENT, full, 0, 0, 0, continuing)
    # A random student is never right, so its rewards are given.
    reward_B = np.array([1.0, 0, 1, 1, 0, 1])
    kept_B = ~found.on_policy_B | (reward_B == 1) if full.keep == "right" else found.kept_B
    labelled_B = found.labelled_B | (kept_B & (full.keep == "right"))
    return dataclasses.replace(found, reward_B=reward_B, kept_B=kept_B, labelled_B=labelled_B)


BATCHES = {kind: batch_of(kind) for kind in KINDS}
on_every_batch = pytest.mark.parametrize("kind", list(KINDS))
with_every_method = pytest.mark.parametrize("method", list(METHODS))


def taught(batch: Batch, context: str = "hint", temperature: float = 1.0, **models: Any) -> Tensor:
    model, params = models.get("model", TEACHER), models.get("params", TEACHER_PARAMS)
    return teacher_log_probs(model, params, batch, context, 0, 0, 0, temperature)


def rows_of(batch: Batch, config: Config, log_p: Tensor, context: str = "hint") -> Tensor:
    """The weight rows of a method, with a hinted teacher of another size and the start as reference."""
    log_ref = Linearisation(MODEL, START, batch).log_p_NV
    return weigh(batch, log_p, taught(batch, context), config, log_ref).rows_NV


def select(batch: Batch, rows: list[int]) -> Batch:
    """Some rollouts of a batch, in another order."""
    lists = {name: tuple(getattr(batch, name)[r] for r in rows) for name in ("problems", "prompts", "answers")}
    arrays = {
        name: getattr(batch, name)[rows] for name in ("group_B", "on_policy_B", "reward_B", "kept_B", "labelled_B")
    }
    return Batch(**lists, **arrays)


def sites_of(batch: Batch, rows: list[int]) -> np.ndarray:
    return np.concatenate([np.flatnonzero(batch.sequence_N == r) for r in rows])


@pytest.mark.parametrize("divergence", ["sampled-reverse", "reverse", "forward", "jsd"])
@pytest.mark.parametrize(
    "source", [{"alpha": 0.5, "replay": 0.5}, {"keep": "right"}, {"temperature": 0.5}], ids=["data", "right", "cold"]
)
def test_1_a_teacher_equal_to_the_student_gives_exactly_zero(divergence: str, source: dict[str, Any]) -> None:
    """Before and after a step, and with a pull to a reference that is the student too."""
    config = changed(HINTED, source=source, teacher={"context": "none", "divergence": divergence})
    held = changed(config, teacher={"parameters": "frozen"}, reference={"beta": 1.0})
    for moment in (Moment(held), Moment(config), Moment(HINTED).next_step().with_config(config)):
        assert not shared().cotangents(moment).any()
        found = shared().frame(moment, complete=False)
        assert not found.sites.kl.any()
        assert not found.sites.signal.any()
        assert not found.sites.x.any()
        assert found.update.norm == 0


def test_1_a_student_that_continues_itself_stays_where_it_is_in_the_mean() -> None:
    """Over every one word that it may write, weighed as it writes them; an answer of one token works."""
    V, prompt = len(VOCABULARY), BATCHES["own and data"].prompts[0]
    batch = dataclasses.replace(
        slow.make_batch([prompt] * V, [[v] for v in range(V)], group_size=V), labelled_B=np.ones(V, bool)
    )
    point = Linearisation(MODEL, STUDENT, batch)
    rows = weigh(batch, point.log_p_NV, None, METHODS["continuation"]).rows_NV
    assert (rows.sum(-1) == 1).all()
    mean = slow.flat(point.pull(rows, point.p_NV[0]))
    torch.testing.assert_close(mean, torch.zeros_like(mean), rtol=0, atol=1e-12)


@on_every_batch
@pytest.mark.parametrize("context", [one for one in CONTEXTS if one != "example"])
def test_2_a_teacher_is_aligned_with_the_answers_tokens(kind: str, context: str) -> None:
    """Site by site: begin mark, context, the rest of the student's own prefix; other skills have no context."""
    batch, expected = BATCHES[kind], []
    for r, prefix, _ in slow.prefixes(batch):
        problem = batch.problems[r]
        shown = [] if problem is None else encode(context_words(context, problem))
        expected.append(slow.next_word(TEACHER, TEACHER_PARAMS, [prefix[0], *shown, *prefix[1:]], 0.5))
    torch.testing.assert_close(taught(batch, context, 0.5), torch.stack(expected), rtol=1e-10, atol=1e-10)


@on_every_batch
def test_2_the_students_prefix_is_byte_for_byte_the_same_with_the_hint_on_and_off(kind: str) -> None:
    batch = BATCHES[kind]
    before = (batch.tokens_BT.clone(), batch.column_N.copy(), batch.prompts)
    log_p = Linearisation(MODEL, STUDENT, batch).log_p_NV.clone()
    for context in CONTEXTS:
        taught(batch, context)
        assert batch.tokens_BT.numpy().tobytes() == before[0].numpy().tobytes()
        assert (batch.column_N == before[1]).all()
        assert batch.prompts == before[2]
    assert torch.equal(Linearisation(MODEL, STUDENT, batch).log_p_NV, log_p)
    first = [tuple(VOCABULARY[token] for token in prompt[:2]) for prompt in batch.prompts]
    assert set(first) <= {("<bos>", word) for word in ("ask", "tell", "copy", "reverse")}


def test_2_a_hint_to_the_teacher_who_continues_is_on_no_students_page() -> None:
    """The frames' prefixes, with and without the hint: the same up to the teacher's first word."""
    config = changed(HINTED, teacher={"divergence": "continuation", "continuation": 3})
    hinted, plain = (frame(changed(config, teacher={"context": each}), complete=False) for each in ("hint", "none"))
    assert [one.prompt for one in hinted.rollouts] == [one.prompt for one in plain.rollouts]
    assert not any("hint" in prefix for prefix in hinted.sites.prefix)


def test_3_a_context_that_does_not_fit_is_refused_and_never_cut() -> None:
    batch = BATCHES["own and data"]
    longest = batch.tokens_BT.shape[1]
    snug = Transformer(layers=1, width=16, heads=2, context=longest)
    params = slow.random_params(snug)
    assert taught(batch, "none", model=snug, params=params).shape[0] == len(batch.token_N)
    with pytest.raises(InvalidInput, match=rf"does not fit the model's context of {longest}"):
        taught(batch, "rule", model=snug, params=params)


def test_3_a_context_that_leaves_a_continuing_teacher_no_room_is_refused_and_never_cut() -> None:
    small = Transformer(layers=1, width=16, heads=2, context=46)
    params, source = slow.random_params(small), Source(prompts=20, group_size=1)
    fits = draw_batch(MODEL, STUDENT, source, 0, 0, 0, Continuing(small, params, "none", 36))
    assert max(map(len, fits.answers)) > 10
    with pytest.raises(InvalidInput, match="does not fit the model's context of 46"):
        draw_batch(MODEL, STUDENT, source, 0, 0, 0, Continuing(small, params, "example", 36))


@with_every_method
@on_every_batch
def test_4_weights_do_not_depend_on_row_order_or_on_what_else_is_in_the_batch(kind: str, method: str) -> None:
    batch, config = BATCHES[kind], METHODS[method]
    log_p = Linearisation(MODEL, STUDENT, batch).log_p_NV
    whole = rows_of(batch, config, log_p)
    for order in ([4, 1, 3, 0, 5, 2], [1, 0], [5, 4, 2, 3]):
        other, sites = select(batch, order), sites_of(batch, order)
        found = rows_of(other, config, Linearisation(MODEL, STUDENT, other).log_p_NV)
        torch.testing.assert_close(found, whole[sites], rtol=1e-9, atol=1e-11)


@on_every_batch
def test_5_only_an_answers_tokens_pull_and_prompt_padding_and_the_students_own_words_do_not(kind: str) -> None:
    """d/d(logits) of the objective at every column: zero but where a token of an answer is predicted, and kept."""
    batch = BATCHES[kind]
    point = Linearisation(MODEL, STUDENT, batch)
    rows = rows_of(batch, METHODS["continuation" if batch.labelled_B.all() else "mixture"], point.log_p_NV)
    objective = ((batch.gather(point.logits_BTV)).log_softmax(-1) * rows).sum()
    (pull_BTV,) = torch.autograd.grad(objective, point.logits_BTV, retain_graph=True)
    expected = np.zeros(pull_BTV.shape[:2], bool)
    for r, (prompt, answer) in enumerate(zip(batch.prompts, batch.answers, strict=True)):
        expected[r, len(prompt) - 1 : len(prompt) + len(answer) - 1] = batch.kept_B[r]
    assert ((pull_BTV != 0).any(-1).numpy() == expected).all()
    assert not expected.all()


@with_every_method
def test_5_a_row_without_answer_tokens_adds_nothing_and_no_nan(method: str) -> None:
    whole = BATCHES["own and data"]
    empty = dataclasses.replace(whole, answers=((), *whole.answers[1:4], (), whole.answers[5]))
    log_p = Linearisation(MODEL, STUDENT, whole).log_p_NV
    point, expected = Linearisation(MODEL, STUDENT, empty), rows_of(whole, METHODS[method], log_p)
    rows = rows_of(empty, METHODS[method], point.log_p_NV)
    torch.testing.assert_close(rows, expected[sites_of(whole, [1, 2, 3, 5])], rtol=1e-9, atol=1e-11)
    for aggregation in ("token", "sequence", "constant"):
        weights = token_weights(empty, aggregation)
        assert torch.isfinite(weights).all()
        assert torch.isfinite(slow.flat(point.pull(rows, weights.double()))).all()


@pytest.mark.parametrize("normalise", [False, True])
@pytest.mark.parametrize("rewards", [[0.0] * 6, [1.0] * 6, [0.1 + 0.2, 0.3] * 3], ids=["wrong", "right", "rounding"])
@on_every_batch
def test_6_equal_rewards_pull_exactly_nothing_and_the_reference_still_does(
    kind: str, rewards: list[float], normalise: bool
) -> None:
    batch = dataclasses.replace(BATCHES[kind], reward_B=np.array(rewards), kept_B=np.ones(6, bool))
    log_p = Linearisation(MODEL, STUDENT, batch).log_p_NV
    for beta in (0.0, 0.3):
        config = Config(teacher=Teacher(weight=0), reward=Reward(normalise=normalise), reference=Reference(beta=beta))
        rows = rows_of(batch, config, log_p)
        log_ref = Linearisation(MODEL, START, batch).log_p_NV
        assert bool(rows.any()) == (beta > 0)
        torch.testing.assert_close(rows, beta * log_p.exp() * (log_ref - log_p), rtol=1e-12, atol=1e-15)


@on_every_batch
@pytest.mark.parametrize("method", ["RL", "RL with a reference", "mixture"])
def test_7_another_groups_rewards_change_nothing_in_a_group(kind: str, method: str) -> None:
    batch = BATCHES[kind]
    other = dataclasses.replace(batch, reward_B=np.array([1.0, 0, 0, 1, 1, 0]))
    log_p = Linearisation(MODEL, STUDENT, batch).log_p_NV
    here, there = (rows_of(each, METHODS[method], log_p) for each in (batch, other))
    same = batch.group_B[batch.sequence_N] == 0
    assert torch.equal(here[same], there[same])
    assert not torch.equal(here[~same], there[~same])


@pytest.mark.parametrize("divergence", ["sampled-reverse", "jsd", "continuation"])
def test_8_the_probabilities_that_weigh_are_those_of_the_policy_that_samples(divergence: str) -> None:
    """softmax(logits / T) for student, teacher and reference; the frames' own numbers, from the texts."""
    config = changed(HINTED, source={"temperature": 0.6}, teacher={"divergence": divergence, "policy": "same-family"})
    found, policies = frame(config, complete=False), World.load().policies
    y = torch.tensor(encode(found.sites.text))[:, None]
    hints = {r: ["hint", str(eval("".join(one.prompt.split()[1:6]))), ":"] for r, one in enumerate(found.rollouts)}
    for values, weights, shown in (
        (found.sites.student_p, policies["base"], {}),
        (found.sites.teacher_p, policies["same-family"], hints),
    ):
        at, warm = (log_probs_of(weights, found, shown, T).gather(1, y)[:, 0].exp() for T in (0.6, 1.0))
        np.testing.assert_allclose(values, at, rtol=1e-3, atol=1e-6)
        assert np.abs(values - warm.numpy()).max() > 0.01


def test_8_a_label_and_a_reference_weigh_at_the_students_temperature() -> None:
    config = Config(
        source=Source(prompts=2, group_size=1, alpha=0, temperature=0.6),
        teacher=Teacher(**LABEL, label_weight="probability"),
        reference=Reference(beta=0.5, divergence="forward"),
    )
    moment = Moment(changed(HINTED, update={"step_size": 1.0})).next_step().with_config(config)
    found, base = shared().frame(moment, complete=False), World.load().policies["base"]
    student = Weights(base.model, shared().state(moment.path).params)
    p, ref = (log_probs_of(each, found, {}, 0.6).exp() for each in (student, base))
    one = torch.nn.functional.one_hot(torch.tensor(encode(found.sites.text)), len(VOCABULARY))
    rows = one * p + 0.5 * (ref - p)
    expected = (rows - p * rows.sum(-1, keepdim=True)) / 0.6
    torch.testing.assert_close(shared().cotangents(moment).double(), expected, rtol=0, atol=1e-5)


@with_every_method
@pytest.mark.parametrize(
    "clip",
    [
        Clip(),
        *(
            Clip.model_validate({"on": True, "kind": kind, "threshold": 0.05})
            for kind in ("advantage", "entry-clamp", "token-scale")
        ),
    ],
)
def test_9_extreme_logits_at_a_low_temperature_leave_no_nan(method: str, clip: Clip) -> None:
    """Student, teacher and reference all but certain, each of another word, in float32."""
    batch = BATCHES["rejection"]
    heads = {}
    for name, seed in (("student", 0), ("teacher", 1), ("reference", 2)):
        params = slow.random_params(MODEL, seed, torch.float32)
        heads[name] = params | {"head.weight": params["head.weight"] * 1e4}
    point = Linearisation(MODEL, heads["student"], batch, 0.05)
    assert float(point.p_NV.min()) == 0
    log_q = taught(batch, "none", 0.05, model=MODEL, params=heads["teacher"])
    log_ref = Linearisation(MODEL, heads["reference"], batch, 0.05).log_p_NV
    config = METHODS[method].model_copy(update={"clip": clip})
    found = weigh(batch, point.log_p_NV, log_q, config, log_ref)
    gradient = point.pull(found.rows_NV, token_weights(batch, "token"))
    pushed = coordinates(point.push(stack([slow.random_direction(heads["student"], 3)])), found.rows_NV)
    for values in (found.rows_NV, found.signal_N, slow.flat(gradient), pushed):
        assert torch.isfinite(values).all()


@pytest.mark.parametrize("size", [len(VOCABULARY) - 1, len(VOCABULARY) + 1, 20])
def test_10_a_teacher_of_another_vocabulary_is_refused_with_the_reason(size: int) -> None:
    other = Transformer(layers=1, width=16, heads=2, vocabulary=size)
    params = slow.random_params(other)
    with pytest.raises(InvalidInput, match=f"vocabulary of {size}"):
        taught(BATCHES["own and data"], "none", model=other, params=params)
    with pytest.raises(InvalidInput, match=f"vocabulary of {size}"):
        draw_batch(MODEL, STUDENT, Source(prompts=2), 0, 0, 0, Continuing(other, params, "none", 4))
    world = World.load()
    foreign = World({**world.policies, "cross-family": Weights(other, params)}, world.plane)
    for divergence in ("forward", "jsd", "continuation"):
        config = changed(HINTED, teacher={"policy": "cross-family", "context": "none", "divergence": divergence})
        with pytest.raises(InvalidInput, match=f"vocabulary of {size}"):
            Simulator(foreign).frame(Moment(config))


def test_11_no_teacher_and_no_reference_takes_a_gradient_and_none_draws_at_random() -> None:
    """Nothing is dropped out: twice the same numbers; and parameters that ask for gradients get none."""
    params = {name: value.clone().requires_grad_() for name, value in TEACHER_PARAMS.items()}
    source = Source(prompts=2, group_size=2)
    found = [draw_batch(MODEL, STUDENT, source, 0, 0, 0, Continuing(TEACHER, params, "hint", 6)) for _ in range(2)]
    assert found[0].answers == found[1].answers
    one, two = (taught(found[0], params=params) for _ in range(2))
    assert not one.requires_grad
    assert torch.equal(one, two)
    assert all(value.grad is None for value in params.values())
    world = World.load()
    asking = {
        name: Weights(each.model, {key: value.clone().requires_grad_() for key, value in each.params.items()})
        for name, each in world.policies.items()
    }
    simulator = Simulator(World(asking, world.plane))
    for config in (
        changed(HINTED, teacher={"divergence": "jsd", "parameters": "frozen"}, reference={"beta": 0.1}),
        changed(HINTED, teacher={"divergence": "continuation", "policy": "same-family"}),
    ):
        moment = Moment(config).next_step()
        G, _ = simulator.gradient(moment)
        expected, _ = fresh().gradient(moment)
        assert slow.flat(G).equal(slow.flat(expected))
    assert all(value.grad is None for each in asking.values() for value in each.params.values())


@pytest.mark.parametrize("aggregation", ["token", "sequence", "constant"])
@pytest.mark.parametrize("method", ["DFT", "mixture", "continuation"])
@on_every_batch
def test_12_two_micro_batches_of_unequal_length_give_the_gradient_of_the_one_batch(
    kind: str, method: str, aggregation: str
) -> None:
    """Weighed by the tokens, or rollouts, that each keeps."""
    batch, config = BATCHES[kind], METHODS[method]

    def gradient(part: Batch) -> tuple[Tensor, float]:
        point = Linearisation(MODEL, STUDENT, part)
        rows, a_N = rows_of(part, config, point.log_p_NV), token_weights(part, aggregation).double()
        kept = part.kept_B[part.sequence_N].sum() if aggregation == "token" else part.kept_B.sum()
        return slow.flat(point.pull(rows, a_N)), float(kept)

    (whole, count), parts = gradient(batch), [gradient(select(batch, rows)) for rows in ([0, 1], [2, 3, 4, 5])]
    assert sum(kept for _, kept in parts) == count
    mean = torch.stack([kept * one for one, kept in parts]).sum(0) / count
    torch.testing.assert_close(mean, whole, rtol=0, atol=1e-6 * float(whole.abs().max()))


def test_13_each_divergence_has_its_direction() -> None:
    """p = (.9, .1), q = (.5, .5): KL(p || q) = .368 and KL(q || p) = .511, and the rows are those of the one named."""
    p, q = [0.9, 0.1], [0.5, 0.5]
    log_p, log_q = (torch.tensor([each], dtype=torch.float64).log() for each in (p, q))
    batch = slow.make_batch([[1]], [[0]], 1)
    assert kl(log_p, log_q).item() == pytest.approx(0.368, abs=1e-3)
    assert kl(log_q, log_p).item() == pytest.approx(0.511, abs=1e-3)
    for divergence, expected in (("sampled-reverse", 0.368), ("reverse", 0.368), ("forward", 0.511)):
        config = Config(teacher=Teacher.model_validate({"divergence": divergence}))
        assert weigh(batch, log_p, log_q, config).kl_N.item() == pytest.approx(expected, abs=1e-3)
    for divergence, signal, row in (
        ("reverse", 0.368, [0.9 * np.log(0.5 / 0.9), 0.1 * np.log(0.5 / 0.1)]),
        ("forward", 0.511, [0.5 - 0.9, 0.5 - 0.1]),
    ):
        reference = Reference.model_validate({"beta": 2.0, "divergence": divergence})
        found = weigh(batch, log_p, None, Config(teacher=Teacher(weight=0), reference=reference), log_q)
        assert found.signal_N.item() == pytest.approx(2 * signal, abs=2e-3)
        np.testing.assert_allclose(found.rows_NV[0], 2 * np.array(row), rtol=1e-12)


def test_13_a_mixture_that_is_nearly_the_student_is_like_the_forward_kl_and_one_nearly_the_teacher_the_reverse() -> (
    None
):
    """beta is the teacher's share: of b = .001 one thousandth of .511 is left, of b = .999 one of .368."""
    log_p, log_q = (torch.tensor([each], dtype=torch.float64).log() for each in ([0.9, 0.1], [0.5, 0.5]))
    batch = slow.make_batch([[1]], [[0]], 1)
    for method, expected in (("jsd, nearly forward", 0.511), ("jsd, nearly reverse", 0.368)):
        found = weigh(batch, log_p, log_q, METHODS[method]).kl_N.item()
        assert found == pytest.approx(expected / 1000, rel=5e-3)
