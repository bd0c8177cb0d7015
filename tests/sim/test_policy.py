"""The transformer against torch's own layers, and its decoder against its whole forward pass."""

import pytest
import torch
from torch import Tensor, nn

from sim.policy import Params, Tap, Transformer
from tests import reference as slow

MODEL = slow.TINY
TOKENS = torch.tensor([[1, 4, 4, 9, 2, 7, 3], [3, 1, 10, 10, 0, 0, 5]])


def torch_logits(model: Transformer, params: Params, tokens_BT: Tensor) -> Tensor:
    """The same architecture, from torch.nn.TransformerEncoderLayer."""
    T = tokens_BT.shape[1]
    x = params["embed.tokens"][tokens_BT] + params["embed.positions"][:T]
    mask = nn.Transformer.generate_square_subsequent_mask(T, dtype=x.dtype)
    names = {
        "norm1": "attention.norm",
        "self_attn.in_proj": "attention.qkv",
        "self_attn.out_proj": "attention.out",
        "norm2": "mlp.norm",
        "linear1": "mlp.up",
        "linear2": "mlp.down",
    }
    for i in range(model.layers):
        layer = nn.TransformerEncoderLayer(
            model.width, model.heads, 4 * model.width, 0.0, "gelu", norm_first=True, batch_first=True, dtype=x.dtype
        )
        state = {}
        for theirs, ours in names.items():
            for part in ("weight", "bias"):
                join = "_" if theirs.endswith("in_proj") else "."
                state[f"{theirs}{join}{part}"] = params[f"{i}.{ours}.{part}"]
        layer.load_state_dict(state)
        x = layer.train()(x, src_mask=mask, is_causal=True)
    x = nn.functional.layer_norm(x, (model.width,), params["norm.weight"], params["norm.bias"])
    return x @ params["head.weight"].T


def test_logits_are_those_of_torchs_own_transformer_layers() -> None:
    params = slow.random_params(MODEL, 1)
    found = MODEL.logits(params, TOKENS)
    torch.testing.assert_close(found, torch_logits(MODEL, params, TOKENS).detach(), rtol=1e-10, atol=1e-10)


def test_taps_change_no_logit_and_name_every_parameter_once() -> None:
    params = slow.random_params(MODEL, 2)
    taps: list[Tap] = []
    torch.testing.assert_close(MODEL.logits(params, TOKENS, taps), MODEL.logits(params, TOKENS), rtol=1e-12, atol=1e-12)
    tensors = sum(1 if tap.kind in ("tokens", "positions") else 1 + tap.biased for tap in taps)
    assert tensors == len(params)


def test_a_word_does_not_see_what_comes_after_it() -> None:
    params = slow.random_params(MODEL, 3)
    other = TOKENS.clone()
    other[:, 4:] = 6
    assert torch.equal(MODEL.logits(params, TOKENS)[:, :4], MODEL.logits(params, other)[:, :4])


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("cuts", [[7], [1] * 7, [3, 1, 2, 1]])
def test_the_decoder_gives_the_logits_of_the_whole_forward_pass(dtype: torch.dtype, cuts: list[int]) -> None:
    params = slow.random_params(MODEL, 4, dtype)
    whole_BTV = MODEL.logits(params, TOKENS)
    decoder = MODEL.decoder(params, len(TOKENS))
    end, tolerance = 0, 1e-11 if dtype == torch.float64 else 1e-5
    for cut in cuts:
        last_BV = decoder.append(TOKENS[:, end : end + cut])
        end += cut
        torch.testing.assert_close(last_BV, whole_BTV[:, end - 1], rtol=tolerance, atol=tolerance)


def test_what_does_not_fit_the_context_is_refused_and_never_cut() -> None:
    params = slow.random_params(MODEL)
    with pytest.raises(ValueError, match=r"17 tokens does not fit the model's context of 16"):
        MODEL.logits(params, torch.ones(1, 17, dtype=torch.int64))
    decoder = MODEL.decoder(params, 1)
    decoder.append(torch.ones(1, 16, dtype=torch.int64))
    with pytest.raises(ValueError, match="context of 16"):
        decoder.append(torch.ones(1, 1, dtype=torch.int64))


def test_initial_parameters_follow_from_the_generator() -> None:
    one, two = (MODEL.initial(torch.Generator().manual_seed(3)) for _ in range(2))
    assert all(torch.equal(value, two[name]) for name, value in one.items())
