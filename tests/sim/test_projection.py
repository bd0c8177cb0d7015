"""The planes that a batch is shown on: their units, the rim of the safe region there, and what they hold."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from sim import projection
from sim.frame import PENDING, Frame, Undetermined
from sim.language import encode
from sim.plane import random_directions
from sim.timeline import Moment
from sim.world import World
from tests import reference as slow
from tests.shipped import HINTED, batch_of, changed, frame, rows_of, shared

BASES = ["checkpoint", "components", "random"]


@pytest.mark.parametrize("basis", ["components", "random"])
def test_in_the_other_planes_lengths_are_those_of_parameter_space_over_the_rims_mean_radius(basis: str) -> None:
    found = frame(changed(HINTED, plane={"basis": basis})).plane
    c = found.to_units[0, 0]
    assert c > 0
    np.testing.assert_array_equal(found.to_units, c * np.eye(2))
    axes = np.linalg.eigvalsh(found.safe_ellipse)
    assert np.sqrt(np.prod(axes)) == pytest.approx(1, rel=1e-6)
    assert axes[1] / axes[0] > 1.05


def test_a_random_planes_rim_is_where_the_fisher_matrix_there_puts_it() -> None:
    """Against E_n Cov_pi of finite differences along the plane's directions, in float64."""
    config = changed(HINTED, plane={"basis": "random"})
    found, base = frame(config), World.load().policies["base"]
    params, e = slow.double(base.params), random_directions(base.params, config.seed)
    D = []
    for k in range(2):
        step = {name: 1e-4 * value[k].double() for name, value in e.items()}
        ends = [slow_log_p(found, base.model, {n: v + sign * step[n] for n, v in params.items()}) for sign in (1, -1)]
        D.append((ends[0] - ends[1]) / 2e-4)
    p = slow_log_p(found, base.model, params).exp()
    F = np.array([[float(((p * one * two).sum(-1) - (p * one).sum(-1) * (p * two).sum(-1)).mean()) for two in D]
                  for one in D])  # fmt: skip
    for angle in np.linspace(0, np.pi, 5):
        rim = np.linalg.solve(found.plane.to_units, found.plane.safe_ellipse @ [np.cos(angle), np.sin(angle)])
        assert rim @ F @ rim == pytest.approx(2 * config.safety.delta, rel=1e-3)


def slow_log_p(found: Frame, model: Any, params: Any) -> torch.Tensor:
    rows = [slow.next_word(model, params, encode(["<bos>", *prefix.split()]), 1.0) for prefix in found.sites.prefix]
    return torch.stack(rows).detach()


@pytest.mark.parametrize("step", [0, 1])
def test_an_update_that_lies_in_the_plane_crosses_the_rim_exactly_at_the_safe_radius(step: int) -> None:
    """As in the components of two rollouts, which span their mean."""
    moment = Moment(changed(HINTED, source={"prompts": 1}, plane={"basis": "components"}))
    found = shared().frame(moment.next_step() if step else moment, complete=False)
    at = np.linalg.solve(found.plane.safe_ellipse, [found.update.x, found.update.y])
    assert found.plane.update_share == pytest.approx(1, abs=1e-5)
    assert np.linalg.norm(at) == pytest.approx(found.update.ratio, rel=1e-3)


@pytest.mark.parametrize("basis", BASES)
def test_what_the_plane_holds_of_each_arrow_is_a_plain_gradients_share(basis: str) -> None:
    config = changed(HINTED, plane={"basis": basis})
    found = frame(config)
    share = projection.held(found)
    assert isinstance(share, np.ndarray)
    assert found.sites.norm is not None
    squared = found.sites.norm**2
    assert np.nansum(share * squared) / squared.sum() == pytest.approx(found.plane.captured_share, rel=1e-6)
    if basis == "random":
        base = World.load().policies["base"]
        some = sorted(np.argsort(squared)[-4:].tolist())
        g = slow.site_gradients(base.model, base.params, batch_of(config), rows_of(config, found), only=some)
        e = random_directions(base.params, config.seed)
        plane = torch.stack([slow.flat({name: value[k] for name, value in e.items()}) for k in range(2)])
        expected = (g @ plane.double().T).square().sum(1) / g.square().sum(1)
        np.testing.assert_allclose(share[some], expected.numpy(), rtol=1e-3)


def test_what_the_plane_holds_is_pending_with_the_norms_and_undetermined_under_adam() -> None:
    found = frame(HINTED)
    assert projection.held(replace(found, sites=replace(found.sites, norm=None))) is PENDING
    adam = projection.held(frame(changed(HINTED, update={"optimiser": "adam"})))
    assert isinstance(adam, Undetermined)
    assert "Adam" in adam.reason


def test_an_arrow_of_no_length_has_no_share_and_none_is_over_one() -> None:
    found = frame(HINTED)
    assert found.sites.norm is not None
    short = found.sites.norm * 1e-3
    short[0] = 0
    share = projection.held(replace(found, sites=replace(found.sites, norm=short)))
    assert isinstance(share, np.ndarray)
    assert np.isnan(share[0])
    assert np.nanmax(share) == 1
