"""How hypothesis runs here: without a deadline, since no test is timed, on a few dozen examples."""

from hypothesis import settings

settings.register_profile("untimed", deadline=None, max_examples=40)
settings.load_profile("untimed")
