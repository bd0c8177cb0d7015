"""Forward mode against backward mode, and the two routes against each other."""

import pytest
import torch

from sim.policy import Params, Transformer
from sim.tangents import analytic, directional_logits, general
from tests import reference as slow

# torch.func compiles decompositions of its own with torch.jit on first use.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")

MODEL = slow.TINY
TOKENS = torch.tensor([[1, 4, 4, 9, 2, 7], [3, 1, 10, 10, 0, 0]])
TOLERANCE = {torch.float64: 1e-11, torch.float32: 1e-4}


def two_directions(params: Params) -> dict[str, torch.Tensor]:
    pair = [slow.random_direction(params, seed) for seed in (1, 2)]
    return {name: torch.stack([direction[name] for direction in pair]) for name in params}


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("model", [MODEL, Transformer(layers=1, width=12, heads=3, context=6, vocabulary=11)])
def test_the_analytic_route_agrees_with_the_general_one(model: Transformer, dtype: torch.dtype) -> None:
    params = slow.random_params(model, 3, dtype)
    directions = two_directions(params)
    logits, tangents = analytic(model, params, TOKENS, directions)
    expected_logits, expected = general(model, params, TOKENS, directions)
    torch.testing.assert_close(logits, expected_logits, rtol=0, atol=TOLERANCE[dtype])
    scale = float(expected.abs().max())
    torch.testing.assert_close(tangents, expected, rtol=0, atol=TOLERANCE[dtype] * scale)


@pytest.mark.parametrize("route", [analytic, general])
def test_a_tangent_is_the_derivative_along_its_direction(route: object) -> None:
    params = slow.random_params(MODEL, 4)
    directions = two_directions(params)
    _, tangents = route(MODEL, params, TOKENS, directions)  # type: ignore[operator]
    h = 1e-5
    for k in range(2):
        ahead, behind = (
            MODEL.logits({name: params[name] + s * h * directions[name][k] for name in params}, TOKENS) for s in (1, -1)
        )
        torch.testing.assert_close(tangents[k], (ahead - behind) / (2 * h), rtol=1e-6, atol=1e-6)


def test_a_direction_in_one_parameter_alone_is_exact_for_each_parameter() -> None:
    """So a parameter that the analytic route forgets, or counts twice, is named."""
    params = slow.random_params(MODEL, 5)
    whole = two_directions(params)
    for name in params:
        alone = {other: value if other == name else torch.zeros_like(value) for other, value in whole.items()}
        _, tangents = analytic(MODEL, params, TOKENS, alone)
        _, expected = general(MODEL, params, TOKENS, alone)
        assert float(expected.abs().max()) > 0, name
        torch.testing.assert_close(tangents, expected, rtol=1e-10, atol=1e-11, msg=lambda text, name=name: name + text)


def test_tangents_are_linear_in_the_direction() -> None:
    params = slow.random_params(MODEL, 6)
    pair = two_directions(params)
    mixed = {name: (2 * value[0] - 3 * value[1])[None] for name, value in pair.items()}
    _, both = directional_logits(MODEL, params, TOKENS, pair)
    _, one = directional_logits(MODEL, params, TOKENS, mixed)
    torch.testing.assert_close(one[0], 2 * both[0] - 3 * both[1], rtol=1e-10, atol=1e-10)


def test_any_other_model_takes_the_general_route() -> None:
    class Bag:
        context, vocabulary = 16, 11

        def logits(self, params: Params, tokens_BT: torch.Tensor) -> torch.Tensor:
            return (params["table"][tokens_BT].cumsum(1)).tanh()

    rng = torch.Generator().manual_seed(0)
    params = {"table": torch.randn(11, 11, generator=rng, dtype=torch.float64)}
    direction = {"table": torch.randn(1, 11, 11, generator=rng, dtype=torch.float64)}
    logits, tangents = directional_logits(Bag(), params, TOKENS, direction)  # type: ignore[arg-type]
    expected = (1 - logits**2) * direction["table"][0][TOKENS].cumsum(1)
    torch.testing.assert_close(tangents[0], expected)


def test_a_row_longer_than_the_context_is_refused_by_the_analytic_route() -> None:
    params = slow.random_params(MODEL)
    with pytest.raises(ValueError, match=r"17 tokens.*context of 16"):
        directional_logits(MODEL, params, torch.ones(1, 17, dtype=torch.int64), two_directions(params))
