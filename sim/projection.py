"""The projection of a batch: which plane, the arrows' derivatives along it, and what is read off it."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from sim import safety
from sim.config import Config
from sim.frame import NO_UPDATE, PENDING, Frame, PlaneReadings, Reading, Undetermined
from sim.gradients import Gradient, Linearisation, fisher, norm
from sim.plane import Basis, component_directions, even_units, project, random_directions, to_units
from sim.policy import Params
from sim.signals import Signal
from sim.world import CheckpointPlane

#: Derivatives along directions; those with a name may be remembered.
Push = Callable[[str, Params], Tensor]
RESCALED = Undetermined("Adam rescales each coordinate, so the arrows and the gradients differ in length")


def choose(
    point: Linearisation,
    signal: Signal,
    weights_N: Tensor,
    config: Config,
    checkpoint: CheckpointPlane,
    gram_BB: NDArray[np.float64],
    push: Push,
) -> tuple[Basis, Tensor]:
    """The plane, and the log-probabilities' derivatives along its directions.

    The checkpoint's is drawn in units of its own safe region, a circle; the others in lengths of parameter space.
    """
    kind, delta = config.plane.basis, config.safety.delta
    shown, name, directions = "checkpoint", "checkpoint", checkpoint.directions
    if kind == "random":
        shown, name, directions = kind, f"random {config.seed}", random_directions(point.params, config.seed)
    elif kind == "components":
        components = component_directions(point, signal.rows_NV, weights_N, gram_BB)
        if components is not None:
            shown, name, directions = kind, "", components
    D_KNV = push(name, directions)
    if shown == "checkpoint":
        return Basis(shown, directions, to_units(checkpoint.fisher_22, delta)), D_KNV
    return Basis(shown, directions, even_units(fisher(D_KNV, point.p_NV).numpy(), delta)), D_KNV


def turned(basis: Basis, plain_KNV: Tensor, preconditioner: Params | None, push: Push) -> Tensor:
    """Derivatives that give each token's arrow: Adam's P g_n has the coordinates <P g_n, e> = <g_n, P e>."""
    if preconditioner is None:
        return plain_KNV
    return push("", {name: value * preconditioner[name] for name, value in basis.directions.items()})


def readings(
    point: Linearisation, config: Config, basis: Basis, D_KNV: Tensor, taken: Gradient, step: int
) -> PlaneReadings:
    """The readings of the plane, its captured share still to come."""
    length, inside = norm(taken), project(taken, basis.directions)
    ellipse_22 = np.eye(2)
    if basis.name != "checkpoint" or step > 0:
        fisher_22 = fisher(D_KNV, point.p_NV).numpy()
        ellipse_22 = safety.safe_ellipse(fisher_22, basis.to_units_22, config.safety.delta)
    share: Reading = float(inside @ inside) / length**2 if length > 0 else NO_UPDATE
    return PlaneReadings(basis.name, PENDING, share, basis.to_units_22, ellipse_22)


def captured_share(frame: Frame, norm_N: NDArray[np.float64]) -> Reading:
    """The share of the sites' squared length that lies in the plane."""
    if frame.config.update.optimiser == "adam":
        return RESCALED
    squared = float((norm_N**2).sum())
    if squared == 0:
        return NO_UPDATE
    return float(_inside(frame).sum()) / squared


def held(frame: Frame) -> NDArray[np.float64] | Undetermined:
    """The share of each site's squared length that lies in the plane, |p_n|^2 / |g_n|^2 [N]; NaN where g_n is zero.

    Pending while the norms are.
    """
    if frame.config.update.optimiser == "adam":
        return RESCALED
    if frame.sites.norm is None:
        return PENDING
    squared_N = frame.sites.norm**2
    share_N = np.divide(_inside(frame).sum(-1), squared_N, out=np.full_like(squared_N, np.nan), where=squared_N > 0)
    # Norms and coordinates are rounded apart: what lies in the plane wholly must not come out longer than it is.
    return np.minimum(share_N, 1.0)


def _inside(frame: Frame) -> NDArray[np.float64]:
    """The squares [N, 2] of each site's gradient along the plane's two directions."""
    xy_N2 = np.stack([frame.sites.x, frame.sites.y], 1)
    inside_N2 = xy_N2 @ np.linalg.inv(frame.config.update.step_size * frame.plane.to_units.T)
    return np.asarray(inside_N2**2)
