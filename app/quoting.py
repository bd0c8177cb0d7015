"""What a number that a tour quotes is called, and the dial or reading that shows it."""

from collections.abc import Mapping

from app.fields import FIELDS
from sim.quotes import Quote

#: What a tour may point at beside the dials, as it is called on the page.
POINTED: Mapping[str, str] = {
    "verdict": "the verdict",
    "update": "Update",
    "kl": "KL of the step",
    "density": "Density",
    "bias": "Bias",
    "concentration": "Concentration",
    "spread": "Spread",
    "mean_norm": "Mean norm",
    "picture": "the picture",
}
_PATHS: Mapping[str, tuple[str, str]] = {
    "update.ratio": ("length of the update over the safe radius", "update"),
    "update.clip_ratio": ("length of the update with the clip over its length without", "update"),
    "update.norm": ("length of the step", "update"),
    "update.safe_radius": ("safe radius along the update", "update"),
    "update.step_size": ("step size", "step_size"),
    "update.kl_predicted": ("predicted KL of the step, nats a token", "kl"),
    "update.kl_measured": ("measured KL of the step, nats a token", "kl"),
    "update.reward_cosine": ("cosine of the step with the reward gradient", "bias"),
    "measures.density.within_share": ("share of the signal's variance that lies within answers", "density"),
    "measures.density.active_share": ("share of tokens with a signal", "density"),
    "measures.density.silent_groups": ("share of groups without a signal", "density"),
    "measures.bias.coherence": ("coherence of the rollouts' gradients", "bias"),
    "measures.bias.noise_scale": ("noise scale, in rollouts", "bias"),
    "measures.bias.reward_cosine": ("cosine of the mean gradient with the reward gradient", "bias"),
    "measures.concentration.effective_share": ("effective share of tokens", "concentration"),
    "measures.concentration.top1_share": ("share of the update that the top 1 % of tokens pull", "concentration"),
    "measures.concentration.leave_out_angle": ("turn of the update without its largest token", "concentration"),
    "measures.spread.participation_ratio": ("directions that the rollouts' gradients span", "spread"),
    "measures.mean_norm": ("mean length of a token's gradient", "mean_norm"),
    "plane.captured_share": ("share of the arrows' squared length that lies in the plane", "picture"),
    "plane.update_share": ("share of the update's squared length that lies in the plane", "picture"),
    "rollouts": ("answers in this batch", "prompts"),
    "sites": ("words in this batch, an arrow each", "picture"),
}
_SITE: Mapping[str, str] = {
    "student_p": "what the student gives the word at the longest arrow",
    "teacher_p": "what the teacher gives the word at the longest arrow",
    "raised_student_p": "what the student gives the word that the longest arrow raises most",
    "raised_teacher_p": "what the teacher gives the word that the longest arrow raises most",
    "signal": "signal of the longest arrow, nats",
    "kl": "KL at the longest arrow, nats",
    "norm": "gradient's length of the longest arrow",
    "share": "share of the update that the longest arrow has",
}
_DIALS: Mapping[str, tuple[str, str]] = {each.path: (each.label, each.name) for each in FIELDS}
_NAMES: Mapping[str, str] = {each.name: each.label for each in FIELDS}


def called(look: str) -> str:
    """What a dial or a reading is called on the page; "" for a name that neither has."""
    return POINTED.get(look) or _NAMES.get(look, "")


def described(quote: Quote) -> tuple[str, str]:
    """What a quoted number is, in words, and the dial or reading that shows it; "" where the page has none.

    KeyError for a source that has no name.
    """
    kind, colon, rest = quote.source.partition(":")
    if not colon:
        words, look = _PATHS[quote.source]
    elif kind == "site":
        words, look = _SITE[rest.partition(".")[2]], "picture"
    elif kind == "set":
        words, look = _DIALS[rest]
    else:
        name, _, measurement = rest.partition("/")
        return f"{measurement}: mean over the seeds of the ledger, claim {name}", ""
    return (words if quote.step is None else f"at step {quote.step} of this tour: {words}"), look
