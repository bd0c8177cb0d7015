"""One observation: from a linearised batch and its weight rows to a frame."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sim import measures, safety
from sim.batch import Batch
from sim.config import Config
from sim.errors import NonFinite
from sim.frame import (
    PENDING,
    Concentration,
    Frame,
    Measures,
    PlaneReadings,
    Reading,
    Rollout,
    Sites,
    Spread,
    Undetermined,
    UpdateReadings,
)
from sim.ghost import rollout_gram, site_norms
from sim.gradients import Gradient, Linearisation, coordinates, dot, fisher, norm, scaled, stack
from sim.language import VOCABULARY, decode
from sim.optimiser import Moments, Step, propose, token_weights
from sim.plane import Basis, component_directions, random_directions, to_units
from sim.signals import Signal, advantages, kl
from sim.teachers import weigh
from sim.world import CheckpointPlane

NO_UPDATE = "the update is zero: no token of this batch carries a signal"


@dataclass(frozen=True)
class Weighed:
    """Weight rows with the clip as set and as it is not, and the mean gradient and step that they give."""

    signal: Signal
    other: Signal
    weights_N: Tensor
    gradient: Gradient
    proposed: Step


def weighed(point: Linearisation, log_q_NV: Tensor | None, config: Config, moments: Moments) -> Weighed:
    """The weight rows, mean gradient G = sum_n a_n g_n and step of one configuration.

    Raises:
        NonFinite: if the weights or the gradient are not finite.
    """
    batch = point.batch
    toggled = config.model_copy(update={"clip": config.clip.model_copy(update={"on": not config.clip.on})})
    signal = weigh(batch, point.log_p_NV, log_q_NV, config)
    finite(signal.rows_NV, "weights", config)
    weights_N = token_weights(batch, config.update.aggregation)
    gradient = point.pull(signal.rows_NV, weights_N)
    for name, value in gradient.items():
        finite(value, f"gradient of {name}", config)
    proposed = propose(gradient, config.update, moments)
    return Weighed(signal, weigh(batch, point.log_p_NV, log_q_NV, toggled), weights_N, gradient, proposed)


def observe(
    point: Linearisation,
    seen: Weighed,
    config: Config,
    *,
    step: int,
    draw: int,
    moments: Moments,
    checkpoint: CheckpointPlane,
    log_q_NV: Tensor | None,
    push: Callable[[str, Gradient], Tensor],
    complete: bool,
    cancel: Callable[[], bool] | None = None,
) -> Frame:
    """The frame of a batch.

    Args:
        point: the linearised student at the batch's sites.
        seen: its weight rows, gradient and step.
        config: the settings.
        step: number of updates taken.
        draw: number of the batch.
        moments: the optimiser's state before the step.
        checkpoint: the shipped plane.
        log_q_NV: the teacher's log-probabilities, None for a label.
        push: derivatives along named directions, remembered where the name says that they do not change.
        complete: compute exact norms and what needs them; else they are pending.
        cancel: asked now and then; see `site_norms`.

    Raises:
        NonFinite: naming the stage where a number was not finite.
        Cancelled: if `cancel` says so.
    """
    batch, rows_NV = point.batch, seen.signal.rows_NV
    gram_BB = rollout_gram(point, rows_NV, seen.weights_N).numpy()
    basis, D_KNV = _basis(point, seen, config, checkpoint, gram_BB, push)
    eta = config.update.step_size
    to_units_T = eta * basis.to_units_22.T
    coordinates_N2 = coordinates(D_KNV, rows_NV).numpy()
    xy_N2 = coordinates_N2 @ to_units_T
    if config.clip.on:
        unclipped_N2 = coordinates(D_KNV, seen.other.rows_NV).numpy() @ to_units_T
    else:
        unclipped_N2 = xy_N2
    taken, G = seen.proposed.step, seen.gradient
    G_norm = norm(G)
    D_1NV = push("", stack([taken, G] if seen.proposed.preconditioner else [taken]))
    toward_N = coordinates(D_1NV[-1:], rows_NV).numpy()[:, 0] / (1 if seen.proposed.preconditioner else eta)
    weights_N = seen.weights_N.double().numpy()
    share_N = weights_N * toward_N / G_norm**2 if G_norm > 0 else np.full(len(toward_N), np.nan)
    update, clip_off_length = _update(point, seen, config, basis, D_1NV[:1], checkpoint, moments)
    norm_N = site_norms(point, rows_NV, cancel).numpy() if complete else None
    concentration = (
        Concentration(PENDING, PENDING, PENDING)
        if norm_N is None
        else measures.concentration(norm_N, weights_N, share_N, G_norm)
    )
    reward_cosine = _cosine(G, checkpoint) if G_norm > 0 else Undetermined(NO_UPDATE)
    signal_N = seen.signal.signal_N.double().numpy()
    silent_N = (rows_NV == 0).all(-1).numpy()
    frame = Frame(
        config=config,
        step=step,
        draw=draw,
        sites=_sites(point, seen, log_q_NV, xy_N2, unclipped_N2, norm_N, share_N),
        rollouts=_rollouts(batch, config),
        update=update,
        measures=Measures(
            density=measures.density(signal_N, silent_N, batch.sequence_N, batch.group_B),
            bias=measures.bias(gram_BB, batch.group_B, reward_cosine),
            concentration=concentration,
            spread=Spread(measures.participation_ratio(gram_BB)),
            mean_norm=PENDING if norm_N is None else float(norm_N.mean()),
        ),
        plane=_plane(point, config, basis, D_KNV, coordinates_N2, norm_N, taken, step),
        verdict=safety.judge(update.ratio),
    )
    return frame


def finite(values: Tensor, stage: str, config: Config) -> None:
    """Raise NonFinite, with the stage and the settings that most often cause it, where a value is not finite."""
    if not bool(torch.isfinite(values).all()):
        raise NonFinite(
            f"{stage}: a number is not finite (step size {config.update.step_size:g}, temperature "
            f"{config.source.temperature:g}); go back and take smaller steps"
        )


def _basis(
    point: Linearisation,
    seen: Weighed,
    config: Config,
    checkpoint: CheckpointPlane,
    gram_BB: NDArray[np.float64],
    push: Callable[[str, Gradient], Tensor],
) -> tuple[Basis, Tensor]:
    """The plane, and the derivatives along its directions, as Adam's preconditioner turns them."""
    name, delta = config.plane.basis, config.safety.delta
    directions: Gradient | None = dict(checkpoint.directions)
    if name == "random":
        directions = random_directions(point.params, config.seed)
    elif name == "components":
        directions = component_directions(point, seen.signal.rows_NV, seen.weights_N, gram_BB)
        if directions is None:
            name, directions = "checkpoint", dict(checkpoint.directions)
    plain_KNV = push("" if name == "components" else f"{name} {config.seed if name == 'random' else ''}", directions)
    fisher_22 = checkpoint.fisher_22 if name == "checkpoint" else fisher(plain_KNV, point.p_NV).numpy()
    basis = Basis(directions, to_units(fisher_22, delta))
    turn = seen.proposed.preconditioner
    if turn is None:
        return basis, plain_KNV
    # <P g_n, u> = <g_n, P u>: Adam's arrows are the plain ones along turned directions.
    return basis, push("", {key: value * turn[key] for key, value in directions.items()})


def _update(
    point: Linearisation,
    seen: Weighed,
    config: Config,
    basis: Basis,
    D_1NV: Tensor,
    checkpoint: CheckpointPlane,
    moments: Moments,
) -> tuple[UpdateReadings, float]:
    taken = seen.proposed.step
    length = norm(taken)
    if length == 0:
        none = Undetermined(NO_UPDATE)
        return UpdateReadings(
            0.0, 0.0, 0.0, config.update.step_size, 0.0, 0.0, none, none, none, none
        ), 0.0
    predicted = 0.5 * float(fisher(D_1NV, point.p_NV)[0, 0])
    log_after_NV = point.after(taken)
    finite(log_after_NV, "measured KL: the policy after the step", config)
    measured = float(kl(point.log_p_NV.double(), log_after_NV.double()).mean())
    radius = safety.safe_radius(2 * predicted / length**2, config.safety.delta)
    xy_2 = basis.to_units_22 @ _project(taken, basis.directions)
    other = propose(point.pull(seen.other.rows_NV, seen.weights_N), config.update, moments)
    other_length = norm(other.step)
    clip_ratio: Reading
    longer, shorter = (other_length, length) if config.clip.on else (length, other_length)
    clip_ratio = shorter / longer if longer > 0 else Undetermined(NO_UPDATE)
    return UpdateReadings(
        x=float(xy_2[0]),
        y=float(xy_2[1]),
        norm=length,
        step_size=config.update.step_size,
        kl_predicted=predicted,
        kl_measured=measured,
        safe_radius=radius if np.isfinite(radius) else Undetermined("this direction does not change the policy"),
        ratio=length / radius,
        reward_cosine=_cosine(taken, checkpoint),
        clip_ratio=clip_ratio,
    ), other_length


def _plane(
    point: Linearisation,
    config: Config,
    basis: Basis,
    D_KNV: Tensor,
    coordinates_N2: NDArray[np.float64],
    norm_N: NDArray[np.float64] | None,
    taken: Gradient,
    step: int,
) -> PlaneReadings:
    length, inside = norm(taken), _project(taken, basis.directions)
    captured: Reading = PENDING
    if config.update.optimiser == "adam":
        captured = Undetermined("Adam rescales each coordinate, so the arrows have no one length to share")
    elif norm_N is not None:
        squared = float((norm_N**2).sum())
        captured = float((coordinates_N2**2).sum()) / squared if squared > 0 else Undetermined(NO_UPDATE)
    ellipse_22 = np.eye(2)
    if config.plane.basis == "checkpoint" and step > 0:
        plain_KNV = D_KNV if config.update.optimiser == "sgd" else point.push(basis.directions)
        ellipse_22 = safety.safe_ellipse(
            fisher(plain_KNV, point.p_NV).numpy(), basis.to_units_22, config.safety.delta
        )
    share: Reading = float(inside @ inside) / length**2 if length > 0 else Undetermined(NO_UPDATE)
    return PlaneReadings(config.plane.basis, captured, share, ellipse_22)


def _sites(
    point: Linearisation,
    seen: Weighed,
    log_q_NV: Tensor | None,
    xy_N2: NDArray[np.float64],
    unclipped_N2: NDArray[np.float64],
    norm_N: NDArray[np.float64] | None,
    share_N: NDArray[np.float64],
) -> Sites:
    batch = point.batch
    token_N = torch.from_numpy(batch.token_N)
    student_N = point.p_NV.gather(-1, token_N[:, None])[:, 0].double().numpy()
    on_policy_N = batch.on_policy_B[batch.sequence_N]
    if log_q_NV is None:
        teacher_N = np.where(on_policy_N, np.nan, 1.0)
    else:
        teacher_N = log_q_NV.gather(-1, token_N[:, None])[:, 0].exp().double().numpy()
    spoken = [decode(prompt[1:]) + decode(answer) for prompt, answer in zip(batch.prompts, batch.answers, strict=True)]
    ends_N = batch.column_N[:]
    return Sites(
        text=tuple(VOCABULARY[token] for token in batch.token_N),
        prefix=tuple(" ".join(spoken[r][:end]) for r, end in zip(batch.sequence_N, ends_N, strict=True)),
        sequence=batch.sequence_N,
        position=batch.position_N,
        x=xy_N2[:, 0],
        y=xy_N2[:, 1],
        norm=norm_N,
        signal=seen.signal.signal_N.double().numpy(),
        share=share_N,
        student_p=student_N,
        teacher_p=teacher_N,
        kl=seen.signal.kl_N.double().numpy(),
        clipped=seen.signal.clipped_N.numpy(),
        on_policy=on_policy_N,
        unclipped_x=unclipped_N2[:, 0],
        unclipped_y=unclipped_N2[:, 1],
    )


def _rollouts(batch: Batch, config: Config) -> tuple[Rollout, ...]:
    A_B = advantages(batch.reward_B, batch.group_B, config.reward)
    return tuple(
        Rollout(
            prompt=" ".join(decode(batch.prompts[r][1:])),
            answer=" ".join(decode(batch.answers[r])),
            reward=float(batch.reward_B[r]),
            advantage=float(A_B[r]),
            group=int(batch.group_B[r]),
            on_policy=bool(batch.on_policy_B[r]),
        )
        for r in range(len(batch.answers))
    )


def _project(vector: Gradient, directions: Gradient | dict[str, Tensor]) -> NDArray[np.float64]:
    return np.array([dot(vector, {name: value[k] for name, value in directions.items()}) for k in range(2)])


def _cosine(vector: Gradient, checkpoint: CheckpointPlane) -> float:
    """The cosine with the checkpoint's reward gradient, the plane's first direction."""
    reward = {name: value[0] for name, value in checkpoint.directions.items()}
    return dot(vector, reward) / norm(vector)
