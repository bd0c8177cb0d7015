"""One observation: from a linearised batch and its weight rows to a frame."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sim import cloud, measures, projection, safety
from sim.config import Config
from sim.errors import NonFinite
from sim.frame import (
    NO_UPDATE,
    PENDING,
    Concentration,
    Frame,
    Measures,
    Reading,
    Spread,
    Undetermined,
    UpdateReadings,
    readings,
)
from sim.ghost import rollout_gram, site_norms
from sim.gradients import Gradient, Linearisation, coordinates, dot, fisher, norm, stack
from sim.optimiser import Moments, Step, propose, token_weights
from sim.plane import Basis, project
from sim.projection import Push
from sim.signals import Signal, mean_kl
from sim.teachers import weigh
from sim.world import CheckpointPlane


@dataclass(frozen=True)
class Weighed:
    """Weight rows, and the mean gradient and step that they give.

    `log_q_NV` are the teacher's log-probabilities, None for a label or where no teacher speaks; `weights_N` the a_n of
    G = sum_n a_n g_n.
    """

    log_q_NV: Tensor | None
    signal: Signal
    weights_N: Tensor
    gradient: Gradient
    proposed: Step


def weighed(
    point: Linearisation, log_q_NV: Tensor | None, config: Config, moments: Moments, log_ref_NV: Tensor | None = None
) -> Weighed:
    """The weight rows of a configuration, the mean gradient G and the step that it would take."""
    weights_N = token_weights(point.batch, config.update.aggregation)
    signal = weigh(point.batch, point.log_p_NV, log_q_NV, config, log_ref_NV)
    gradient = point.pull(signal.rows_NV, weights_N)
    return Weighed(log_q_NV, signal, weights_N, gradient, propose(gradient, config.update, moments))


def require_finite(seen: Weighed, config: Config) -> None:
    """Raise NonFinite, naming the stage, if weights, gradient or step are not finite."""
    _require_finite(seen.signal.rows_NV, "weights", config)
    for name, value in seen.gradient.items():
        _require_finite(value, f"gradient of {name}", config)
    for name, value in seen.proposed.step.items():
        _require_finite(value, f"step of {name}", config)


def observe(
    point: Linearisation,
    seen: Weighed,
    toggled: Weighed,
    config: Config,
    step: int,
    draw: int,
    checkpoint: CheckpointPlane,
    push: Push,
) -> Frame:
    """The frame of a batch, but for the exact norms and what needs them: these are pending.

    Args:
        point: the linearised student at the batch's sites.
        seen: its weight rows, gradient and step.
        toggled: the same with the clip toggled.
        config: the settings.
        step: number of updates taken.
        draw: number of the batch.
        checkpoint: the shipped plane.
        push: derivatives along directions; those with a name may be remembered.

    Raises:
        NonFinite: naming the stage where a number was not finite.
    """
    batch, rows_NV, G = point.batch, seen.signal.rows_NV, seen.gradient
    gram_BB = rollout_gram(point, rows_NV, seen.weights_N).numpy()
    basis, plain_KNV = projection.choose(point, seen.signal, seen.weights_N, config, checkpoint, gram_BB, push)
    D_KNV = projection.turned(basis, plain_KNV, seen.proposed.preconditioner, push)
    units = config.update.step_size * basis.to_units_22.T
    xy_N2 = coordinates(D_KNV, rows_NV).numpy() @ units
    unclipped_N2 = coordinates(D_KNV, toggled.signal.rows_NV).numpy() @ units if config.clip.on else xy_N2
    along_1NV = push("", stack([seen.proposed.step]))
    update = _update(point, seen, norm(toggled.proposed.step), config, basis, along_1NV, checkpoint)
    signal_N = seen.signal.signal_N.double().numpy()
    share_N = _shares(seen, config, along_1NV, push)
    silent_N = (rows_NV == 0).all(-1).numpy()
    frame = Frame(
        config=config,
        step=step,
        draw=draw,
        sites=cloud.sites(batch, point.p_NV, seen.signal, seen.log_q_NV, xy_N2, unclipped_N2, share_N),
        rollouts=cloud.rollouts(batch, config),
        update=update,
        measures=Measures(
            density=measures.density(signal_N, silent_N, batch.sequence_N, batch.group_B),
            bias=measures.bias(gram_BB, batch.group_B, _reward_cosine(G, checkpoint)),
            concentration=Concentration(PENDING, measures.top_share(share_N), PENDING),
            spread=Spread(measures.participation_ratio(gram_BB)),
            mean_norm=PENDING,
        ),
        plane=projection.readings(point, config, basis, plain_KNV, seen.proposed.step, step),
        verdict=safety.judge(update.ratio, update.kl_measured, config.safety.delta),
    )
    for path, value in readings(frame):
        if isinstance(value, float) and not np.isfinite(value):
            raise _not_finite(path, config)
    if not (np.isfinite(xy_N2).all() and np.isfinite(unclipped_N2).all()):
        raise _not_finite("coordinates of the sites", config)
    return frame


def complete(frame: Frame, point: Linearisation, seen: Weighed, cancel: Callable[[], bool] | None = None) -> Frame:
    """A frame with its exact norms, concentration and captured share.

    Raises:
        Cancelled: if `cancel` says so.
    """
    norm_N = site_norms(point, seen.signal.rows_NV, cancel).numpy()
    weights_N = seen.weights_N.double().numpy()
    concentration = measures.concentration(norm_N, weights_N, frame.sites.share, norm(seen.gradient))
    return replace(
        frame,
        sites=replace(frame.sites, norm=norm_N),
        measures=replace(frame.measures, concentration=concentration, mean_norm=float(norm_N.mean())),
        plane=replace(frame.plane, captured_share=projection.captured_share(frame, norm_N)),
    )


def _require_finite(values: Tensor, stage: str, config: Config) -> None:
    if not bool(torch.isfinite(values).all()):
        raise _not_finite(stage, config)


def _not_finite(stage: str, config: Config) -> NonFinite:
    return NonFinite(
        f"{stage}: a number is not finite (step size {config.update.step_size:g}, temperature "
        f"{config.source.temperature:g}); go back and take smaller steps"
    )


def _shares(seen: Weighed, config: Config, along_1NV: Tensor, push: Push) -> NDArray[np.float64]:
    """Each site's signed share <a_n g_n, G> / |G|^2 of the mean gradient; NaN where that is zero."""
    squared = norm(seen.gradient) ** 2
    if squared == 0:
        return np.full(len(seen.weights_N), np.nan)
    if seen.proposed.preconditioner is None:
        # The step of SGD is eta G, so what was pushed along it serves.
        toward_N = coordinates(along_1NV, seen.signal.rows_NV).numpy()[:, 0] / config.update.step_size
    else:
        toward_N = coordinates(push("", stack([seen.gradient])), seen.signal.rows_NV).numpy()[:, 0]
    return np.asarray(seen.weights_N.double().numpy() * toward_N / squared)


def _update(
    point: Linearisation,
    seen: Weighed,
    toggled: float,
    config: Config,
    basis: Basis,
    D_1NV: Tensor,
    checkpoint: CheckpointPlane,
) -> UpdateReadings:
    """What the step would do; `toggled` is its length with the clip toggled."""
    step, eta = seen.proposed.step, config.update.step_size
    length = norm(step)
    if length == 0:
        none = NO_UPDATE
        return UpdateReadings(0.0, 0.0, 0.0, eta, 0.0, 0.0, none, none, none, none)
    predicted = 0.5 * float(fisher(D_1NV, point.p_NV)[0, 0])
    log_after_NV = point.after(step)
    _require_finite(log_after_NV, "measured KL: the policy after the step", config)
    radius = safety.safe_radius(2 * predicted / length**2, config.safety.delta)
    x, y = (basis.to_units_22 @ project(step, basis.directions)).tolist()
    return UpdateReadings(
        x=x,
        y=y,
        norm=length,
        step_size=eta,
        kl_predicted=predicted,
        kl_measured=mean_kl(point.log_p_NV, log_after_NV),
        safe_radius=radius if np.isfinite(radius) else Undetermined("this direction does not change the policy"),
        ratio=length / radius,
        reward_cosine=_reward_cosine(step, checkpoint),
        clip_ratio=_clip_ratio(*((length, toggled) if config.clip.on else (toggled, length))),
    )


def _clip_ratio(clipped: float, free: float) -> Reading:
    """The step's length with the clip over its length without."""
    if not np.isfinite(free):
        return Undetermined("without the clip the step is not finite")
    return clipped / free if free > 0 else NO_UPDATE


def _reward_cosine(vector: Gradient, checkpoint: CheckpointPlane) -> Reading:
    """The cosine with the checkpoint's reward gradient, the shipped plane's first direction."""
    reward = {name: value[0] for name, value in checkpoint.directions.items()}
    length = norm(vector)
    return dot(vector, reward) / length if length > 0 else NO_UPDATE
