"""How far a step may go: the safe radius along a direction, and the verdict on one step."""

import math

import numpy as np
from numpy.typing import NDArray

from sim.frame import Reading, Undetermined, Verdict

#: From this share of the safe radius on, a step that is still inside is called near.
NEAR = 0.8
#: From this many times delta on, a measured KL overrules the prediction.
BROKEN = 2.0


def safe_radius(unit_fisher: float, delta: float) -> float:
    """r = sqrt(2 delta / u'Fu): the length along a unit direction u at which the predicted KL is delta nats.

    Infinite where the direction does not change the policy.
    """
    return math.sqrt(2 * delta / unit_fisher) if unit_fisher > 0 else math.inf


def safe_ellipse(fisher_22: NDArray[np.float64], to_units_22: NDArray[np.float64], delta: float) -> NDArray[np.float64]:
    """M [2, 2] that maps the unit circle to the rim {p : p'Fp = 2 delta} of a plane, in the picture's units y = U p.

    With A = U^-T F U^-1 / (2 delta), the rim is y'Ay = 1, so M = A^(-1/2).
    """
    inverse = np.linalg.inv(to_units_22)
    values, vectors = np.linalg.eigh(inverse.T @ fisher_22 @ inverse / (2 * delta))
    return np.asarray(vectors @ np.diag(np.maximum(values, 1e-12) ** -0.5) @ vectors.T)


def judge(ratio: Reading, kl_measured: Reading, delta: float) -> Verdict:
    """The verdict on one step, from its length over the safe radius and from the KL that it was measured to cost.

    The ratio is a prediction; where the measured KL is over BROKEN times delta all the same, it does not hold, and the
    step is past. The verdict says nothing of a run: "collapsed" is for steps that were really taken.
    """
    if isinstance(ratio, Undetermined):
        return Verdict("none", "no signal", ratio.reason)
    rule = (
        f"update / safe radius: up to {NEAR:g} inside, up to 1 near the rim, above 1 past it; "
        f"past it also where the measured KL is over {BROKEN:g} times delta"
    )
    if ratio > 1 or (isinstance(kl_measured, float) and kl_measured > BROKEN * delta):
        return Verdict("past", "past the safe radius", rule)
    if ratio > NEAR:
        return Verdict("near", "near the safe radius", rule)
    return Verdict("inside", "inside the safe radius", rule)
