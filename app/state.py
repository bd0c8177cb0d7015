"""The dials: one param class that mirrors the settings, and the only map between the page's controls and them."""

from typing import Any

import param
from pydantic import ValidationError

from app.fields import BY_NAME, FIELDS, values
from sim.config import MAX_ROLLOUTS, Config


def _choice(name: str, default: str = "") -> Any:
    choices = list(BY_NAME[name].choices)
    return param.Selector(default=default or choices[0], objects=choices)


class Dials(param.Parameterized):
    """What the controls stand at; `config` is the same as a validated Config, and follows every change.

    Settings that exclude each other are reconciled here, where it can be seen: `note` says what was done.
    `dragging` is True while a slider is held, so that a drag is one event of the log and not fifty.
    """

    alpha = param.Number(default=1.0, bounds=(0, 1))
    weight = param.Number(default=1.0, bounds=(0, 1))
    policy = _choice("policy", "same-family")
    context = _choice("context")
    clip = param.Boolean(default=False)
    clip_kind = _choice("clip_kind")
    clip_threshold = param.Number(default=1.0, bounds=(1e-6, 100))
    prompts = param.Integer(default=8, bounds=(1, 256))
    divergence = _choice("divergence")
    jsd_beta = param.Number(default=0.5, bounds=(0.001, 0.999))
    continuation = param.Integer(default=8, bounds=(1, 36))
    label_weight = _choice("label_weight")
    parameters = _choice("parameters")
    decay = param.Number(default=0.95, bounds=(0, 0.9999))
    group_size = param.Integer(default=8, bounds=(1, 64))
    temperature = param.Number(default=1.0, bounds=(0.05, 5))
    keep = _choice("keep")
    seed = param.Integer(default=0, bounds=(0, 2**31 - 1))
    data_style = _choice("data_style")
    data_skill = param.Number(default=1.0, bounds=(0, 1))
    replay = param.Number(default=0.0, bounds=(0, 1))
    baseline = _choice("baseline")
    normalise = param.Boolean(default=False)
    reference_beta = param.Number(default=0.0, bounds=(0, 100))
    reference_divergence = _choice("reference_divergence")
    aggregation = _choice("aggregation")
    optimiser = _choice("optimiser")
    step_size = param.Number(default=0.3, bounds=(1e-6, 100))
    delta = param.Number(default=0.001, bounds=(1e-6, 10))
    basis = _choice("basis")

    config = param.ClassSelector(default=Config(), class_=Config, instantiate=False)
    note = param.String(default="")
    dragging = param.Boolean(default=False)

    def __init__(self, config: Config | None = None, **params: Any) -> None:
        super().__init__(**params)
        self._before_label: dict[str, Any] = {}
        self.param.watch(self._follow, [each.name for each in FIELDS])
        self._turn_all(config or Config())

    def load(self, config: Config) -> None:
        """Turn every dial to where a configuration has it; where it stands there already, nothing is forgotten."""
        if config != self.config:
            self._turn_all(config)

    def _turn_all(self, config: Config) -> None:
        self._before_label = {}
        with param.parameterized.discard_events(self):
            self.param.update(**values(config), dragging=False, note="")
        self.param.update(config=config)
        self.param.trigger("config", "note")

    def _follow(self, *changes: param.parameterized.Event) -> None:
        turned = {change.name for change in changes}
        forced, notes = self._reconciled(turned)
        with param.parameterized.discard_events(self):
            self.param.update(**forced)
        try:
            config = Config.model_validate(nested(self))
        except ValidationError as error:
            with param.parameterized.discard_events(self):
                self.param.update(**values(self.config))
            self.note = "; ".join(str(problem["msg"]) for problem in error.errors())
            self.param.trigger("config")
            return
        self.param.update(config=config, note="; ".join(notes))

    def _reconciled(self, turned: set[str]) -> tuple[dict[str, Any], list[str]]:
        """The dials that must follow the ones that were turned, and what to say about it."""
        forced: dict[str, Any] = {}
        notes = []
        if self.policy == "label":
            wanted = {"divergence": "forward", "context": "none"}
            was = {name: getattr(self, name) for name in wanted}
            if was != wanted:
                if "policy" in turned:
                    self._before_label = was
                forced |= wanted
                notes.append("The data's own word is one right word: its forward KL, and nothing shown.")
        elif "policy" in turned and self._before_label:
            forced |= self._before_label
            self._before_label = {}
        if self.prompts * self.group_size > MAX_ROLLOUTS:
            kept, given = ("group_size", "prompts") if "group_size" in turned else ("prompts", "group_size")
            forced[given] = MAX_ROLLOUTS // getattr(self, kept)
            notes.append(f"A batch has at most {MAX_ROLLOUTS} answers: {BY_NAME[given].label.lower()} set to "
                         f"{forced[given]}.")  # fmt: skip
        return forced, notes


def nested(dials: Dials) -> dict[str, Any]:
    """The dials' values as the nested dictionary that Config validates."""
    tree: dict[str, Any] = {}
    for each in FIELDS:
        *groups, leaf = each.path.split(".")
        branch = tree
        for group in groups:
            branch = branch.setdefault(group, {})
        branch[leaf] = getattr(dials, each.name)
    return tree
