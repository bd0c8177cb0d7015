"""The simulator: frames and states of any moment, with what does not change remembered."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

import torch
from torch import Tensor

from sim.batch import Batch, Continuing, draw_batch
from sim.config import Clip, Config, Plane, Safety
from sim.errors import Cancelled
from sim.frame import Frame
from sim.gradients import Gradient, Linearisation
from sim.observe import Weighed, observe, require_finite, weighed
from sim.observe import complete as complete_frame
from sim.policy import Params
from sim.state import State
from sim.teachers import teacher_log_probs
from sim.timeline import Moment, Path
from sim.world import Weights, World

Value = TypeVar("Value")
Cancel = Callable[[], bool]

#: Tokens, padding included, whose forward pass is kept (a thousand take about 25 MB); a batch counts as BATCH at least.
TOKENS, BATCH = 10_000, 1_250
STATES, ANCHORS = 32, 64
ANCHOR_EVERY = 10


class Recent(Generic[Value]):
    """The values of the last few keys, within a budget of their costs; safe to share between threads."""

    def __init__(self, budget: int, cost: Callable[[Value], int] = lambda _: 1) -> None:
        self._budget, self._cost = budget, cost
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Value | None:
        """The value of a key, or None; it becomes the most recent."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: Hashable, value: Value) -> Value:
        """Remember a value, forgetting the oldest beyond the budget; the newest is always kept."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            spent = sum(self._cost(each) for each in self._values.values())
            while spent > self._budget and len(self._values) > 1:
                _, dropped = self._values.popitem(last=False)
                spent -= self._cost(dropped)
        return value


class Point:
    """A linearised batch with what was derived from it, under a lock of its own."""

    def __init__(self, linearisation: Linearisation) -> None:
        self.linearisation = linearisation
        self.lock = threading.RLock()
        self.pushes: Recent[Tensor] = Recent(2)
        self.teachers: Recent[Tensor] = Recent(4)
        self.weighed: Recent[Weighed] = Recent(4)
        self.frames: Recent[Frame] = Recent(2)

    def cost(self) -> int:
        """What keeping it counts, in tokens."""
        return max(BATCH, self.linearisation.batch.tokens_BT.numel())

    def push(self, name: str, directions: Params) -> Tensor:
        """Derivatives along directions; remembered where they have a name."""
        known = self.pushes.get(name) if name else None
        if known is not None:
            return known
        pushed = self.linearisation.push(directions)
        return self.pushes.put(name, pushed) if name else pushed


class Simulator:
    """Frames of any moment, a pure function of it: initial state, observe, advance.

    What a change does not touch is not computed again: a batch and its forward pass serve every clip, lambda,
    divergence and teacher. Caches are bounded. One simulator serves many threads.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self._points: Recent[Point] = Recent(TOKENS, Point.cost)
        self._states: Recent[State] = Recent(STATES)
        self._anchors: Recent[State] = Recent(ANCHORS)
        self._initial = State.initial(world.policies["base"].params)

    def frame(self, moment: Moment, complete: bool = True, cancel: Cancel | None = None) -> Frame:
        """The frame of a moment.

        Args:
            moment: settings, steps taken and draw.
            complete: with exact norms and what needs them; without, these are pending and it comes sooner.
            cancel: asked now and then.

        Raises:
            NonFinite: naming the stage where a number was not finite.
            Cancelled: if `cancel` says so.
            InvalidInput: if a teacher's context does not fit its model.
        """
        state = self.state(moment.path, cancel)
        point = self._point(state, moment)
        config = moment.config
        with point.lock:
            seen = self._weighed(point, state, moment, config)
            require_finite(seen, config)
            frame = point.frames.get(config)
            if frame is None:
                clip = config.clip.model_copy(update={"on": not config.clip.on})
                toggled = self._weighed(point, state, moment, config.model_copy(update={"clip": clip}))
                at = (moment.step, moment.draw)
                frame = observe(point.linearisation, seen, toggled, config, *at, self.world.plane, point.push)
                point.frames.put(config, frame)
        # Not under the lock: norms take long, and read what nobody writes.
        return complete_frame(frame, point.linearisation, seen, cancel) if complete else frame

    def aside(self) -> "Simulator":
        """A simulator that shares what is remembered of states, and has batches of its own: for a run beside others."""
        other = Simulator(self.world)
        other._states, other._anchors = self._states, self._anchors
        return other

    def remember(self, path: Path, state: State) -> None:
        """Take a state, as of a run that was interrupted, as what the steps of a path lead to."""
        self._anchors.put(path.key, state)

    def gradient(self, moment: Moment, cancel: Cancel | None = None) -> tuple[Gradient, Batch]:
        """The mean gradient G of a moment's batch, and the batch.

        Raises:
            NonFinite: naming the stage where a number was not finite.
            Cancelled: if `cancel` says so.
        """
        state = self.state(moment.path, cancel)
        point = self._point(state, moment)
        with point.lock:
            seen = self._weighed(point, state, moment, moment.config)
        require_finite(seen, moment.config)
        return seen.gradient, point.linearisation.batch

    def cotangents(self, moment: Moment, cancel: Cancel | None = None) -> Tensor:
        """The arrow of each site of a moment in its logits, w - pi sum_v w, over the temperature: [N, V]."""
        state = self.state(moment.path, cancel)
        point = self._point(state, moment)
        with point.lock:
            rows_NV = self._weighed(point, state, moment, moment.config).signal.rows_NV
        return point.linearisation.logit_cotangent(rows_NV)

    def distance(self, path: Path) -> int:
        """How many steps must be taken again to be at the end of a path."""
        node, steps = path, 0
        while node.parent is not None and not self._known(node):
            node, steps = node.parent, steps + 1
        return steps

    def state(self, path: Path, cancel: Cancel | None = None) -> State:
        """The state after the steps of a path, replayed from the nearest one that is remembered."""
        ahead: list[Path] = []
        node: Path | None = path
        state = self._initial
        while node is not None and node.parent is not None:
            known = self._known(node)
            if known is not None:
                state = known
                break
            ahead.append(node)
            node = node.parent
        for node in reversed(ahead):
            if cancel is not None and cancel():
                raise Cancelled(f"replaying the steps: stopped before step {node.length}")
            state = self._advance(state, node)
            self._states.put(node.key, state)
            if node.length % ANCHOR_EVERY == 0:
                self._anchors.put(node.key, state)
        return state

    def _known(self, path: Path) -> State | None:
        return self._states.get(path.key) or self._anchors.get(path.key)

    def _advance(self, state: State, node: Path) -> State:
        if node.config is None or node.parent is None:
            return state
        moment = Moment(node.config, node.parent, node.draw)
        point = self._point(state, moment)
        with point.lock:
            seen = self._weighed(point, state, moment, node.config)
        require_finite(seen, node.config)
        return state.advance(seen.proposed, node.config)

    def _point(self, state: State, moment: Moment) -> Point:
        """The batch of a moment, linearised at its parameters."""
        config = moment.config
        source, seed, teacher = config.source, config.seed, config.teacher
        # A teacher that continues the student's answers is part of what the batch is.
        key = (moment.path.key, seed, source, moment.draw, teacher if _continues(config) else None)
        known = self._points.get(key)
        if known is not None:
            return known
        continuing = None
        if _continues(config):
            speaker = self._speaker(config, state)
            continuing = Continuing(speaker.model, speaker.params, teacher.context, teacher.continuation)
        model = self.world.policies["base"].model
        batch = draw_batch(model, state.params, source, seed, moment.step, moment.draw, continuing)
        return self._points.put(key, Point(Linearisation(model, state.params, batch, source.temperature)))

    def _weighed(self, point: Point, state: State, moment: Moment, config: Config) -> Weighed:
        """The weight rows, gradient and step of some settings at a moment."""
        clip = config.clip if config.clip.on else Clip()
        key = config.model_copy(update={"clip": clip, "plane": Plane(), "safety": Safety()})
        known = point.weighed.get(key)
        if known is not None:
            return known
        log_q_NV, log_ref_NV = self._teacher(point, state, moment), self._reference(point, state, moment)
        return point.weighed.put(key, weighed(point.linearisation, log_q_NV, config, state.moments, log_ref_NV))

    def _teacher(self, point: Point, state: State, moment: Moment) -> Tensor | None:
        """The teacher's log-probabilities at the batch's sites; None for a label, and where lambda is 0."""
        config, teacher = moment.config, moment.config.teacher
        if teacher.policy == "label" or teacher.weight == 0:
            return None
        decay = teacher.decay if teacher.parameters == "average" else None
        key = (teacher.policy, teacher.context, teacher.parameters, decay)
        return self._log_probs(point, state, moment, self._speaker(config, state), teacher.context, key)

    def _reference(self, point: Point, state: State, moment: Moment) -> Tensor | None:
        """The reference policy's log-probabilities at the batch's sites; None where beta is 0."""
        if moment.config.reference.beta == 0:
            return None
        return self._log_probs(point, state, moment, self.world.policies["base"], "none", ("reference",))

    def _log_probs(
        self, point: Point, state: State, moment: Moment, speaker: Weights, context: str, key: Hashable
    ) -> Tensor:
        linearisation, config = point.linearisation, moment.config
        if speaker.model == linearisation.model and context == "none" and _equal(speaker.params, state.params):
            # Another forward pass would differ by rounding; the student itself says exactly the same.
            return linearisation.log_p_NV
        known = point.teachers.get(key)
        if known is not None:
            return known
        at = (config.seed, moment.step, moment.draw, config.source.temperature)
        log_q_NV = teacher_log_probs(speaker.model, speaker.params, linearisation.batch, context, *at)
        return point.teachers.put(key, log_q_NV)

    def _speaker(self, config: Config, state: State) -> Weights:
        teacher = config.teacher
        if teacher.policy != "self":
            return self.world.policies[teacher.policy]
        base = self.world.policies["base"]
        params = {"live": state.params, "frozen": base.params, "average": state.average}[teacher.parameters]
        return Weights(base.model, params)


def _continues(config: Config) -> bool:
    """Whether the teacher writes on from the student's answers."""
    return config.teacher.divergence == "continuation" and config.teacher.weight > 0


def _equal(one: Params, other: Params) -> bool:
    """Whether two policies have the same numbers."""
    return one is other or all(torch.equal(value, other[name]) for name, value in one.items())


def use_one_thread() -> None:
    """Let torch compute on one thread: on a small shared machine more are slower, and bits stay the same."""
    torch.set_num_threads(1)
