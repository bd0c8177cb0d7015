"""The errors that a user may see; all of them say what came, what is allowed and what to do."""


class GradcloudError(Exception):
    """The root of every error that is meant for the user's eyes."""


class InvalidInput(GradcloudError, ValueError):
    """A preset, option, file or URL that is not accepted; `problems` holds one line each."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("; ".join(problems))


class NonFinite(GradcloudError, ArithmeticError):
    """A computation gave a number that is not finite; the message names the stage where it arose."""


class WeightsError(GradcloudError, RuntimeError):
    """Shipped weights are missing, altered or miss a target."""


class Cancelled(GradcloudError):
    """A long computation was told to stop."""
