"""How hypothesis runs here: without a deadline, since no test is timed."""

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
