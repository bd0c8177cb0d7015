"""The projection of a batch: which plane, the arrows' derivatives along it, and what is read off it."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from sim import safety
from sim.config import Config
from sim.frame import NO_UPDATE, PENDING, Frame, PlaneReadings, Reading, Undetermined
from sim.gradients import Gradient, Linearisation, fisher, norm
from sim.plane import Basis, component_directions, project, random_directions, to_units
from sim.policy import Params
from sim.signals import Signal
from sim.world import CheckpointPlane

#: Derivatives along directions; those with a name may be remembered.
Push = Callable[[str, Params], Tensor]

_RESCALED = "Adam rescales each coordinate, so the arrows and the gradients differ in length"


def choose(
    point: Linearisation,
    signal: Signal,
    weights_N: Tensor,
    config: Config,
    checkpoint: CheckpointPlane,
    gram_BB: NDArray[np.float64],
    push: Push,
) -> tuple[Basis, Tensor]:
    """The plane, and the log-probabilities' derivatives along its directions."""
    kind, delta = config.plane.basis, config.safety.delta
    shown, name, directions = "checkpoint", "checkpoint", checkpoint.directions
    if kind == "random":
        shown, name, directions = kind, f"random {config.seed}", random_directions(point.params, config.seed)
    elif kind == "components":
        components = component_directions(point, signal.rows_NV, weights_N, gram_BB)
        if components is not None:
            shown, name, directions = kind, "", components
    D_KNV = push(name, directions)
    fisher_22 = checkpoint.fisher_22 if name == "checkpoint" else fisher(D_KNV, point.p_NV).numpy()
    return Basis(shown, directions, to_units(fisher_22, delta)), D_KNV


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
    if basis.name == "checkpoint" and step > 0:
        fisher_22 = fisher(D_KNV, point.p_NV).numpy()
        ellipse_22 = safety.safe_ellipse(fisher_22, basis.to_units_22, config.safety.delta)
    share: Reading = float(inside @ inside) / length**2 if length > 0 else NO_UPDATE
    return PlaneReadings(basis.name, PENDING, share, basis.to_units_22, ellipse_22)


def captured_share(frame: Frame, norm_N: NDArray[np.float64]) -> Reading:
    """The share of the sites' squared length that lies in the plane."""
    if frame.config.update.optimiser == "adam":
        return Undetermined(_RESCALED)
    squared = float((norm_N**2).sum())
    if squared == 0:
        return NO_UPDATE
    return float((_inside(frame) ** 2).sum()) / squared


def length_inside(frame: Frame, site: int) -> Reading:
    """The share of a site's length, not squared, that lies in the plane."""
    norm_N, adam = frame.sites.norm, frame.config.update.optimiser == "adam"
    if norm_N is None:
        return PENDING
    if adam or norm_N[site] == 0:
        return Undetermined(_RESCALED if adam else "the token has no gradient")
    return float(np.linalg.norm(_inside(frame)[site]) / norm_N[site])


def _inside(frame: Frame) -> NDArray[np.float64]:
    """Each site's coordinates [N, 2] on the plane's orthonormal directions, the step size taken out."""
    xy_N2 = np.stack([frame.sites.x, frame.sites.y], 1)
    return np.asarray(xy_N2 @ np.linalg.inv(frame.config.update.step_size * frame.plane.to_units.T))
