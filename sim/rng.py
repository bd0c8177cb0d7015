"""Every random draw, from a generator keyed by (seed, step, draw, stream); there is no global one."""

import zlib

import numpy as np


def generator(seed: int, stream: str, step: int = 0, draw: int = 0) -> np.random.Generator:
    """The random generator of one named stream at one moment.

    The same key gives the same numbers in whatever order moments are asked for, which is what makes
    rewinding exact. Arrays of uniforms are filled row by row, so the first rows of a larger batch
    are those of a smaller one.

    Args:
        seed: the user's seed, a non-negative integer.
        stream: what the numbers are for, such as ``"rollouts"``.
        step: number of updates taken.
        draw: number of the batch at that step.
    """
    key = np.random.SeedSequence([seed, step, draw, zlib.crc32(stream.encode())])
    return np.random.Generator(np.random.Philox(key))
