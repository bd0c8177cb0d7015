"""Numbers as the page writes them: three significant digits, always, so that nothing jumps while it plays."""

from collections.abc import Callable
from html import escape

from sim.frame import PENDING, Reading, Undetermined

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def significant(value: float, digits: int = 3) -> str:
    """A number with a fixed count of significant digits; very small and very large ones as powers of ten."""
    if value == 0:
        return "0"
    rounded = float(f"{value:.{digits - 1}e}")
    if not 1e-3 <= abs(rounded) < 10**5:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        return f"{mantissa} × 10{str(int(exponent)).translate(_SUPERSCRIPTS)}".replace("-", "−")
    decimals = max(0, digits - 1 - int(f"{rounded:e}".split("e")[1]))
    return f"{rounded:.{decimals}f}".replace("-", "−")


def percent(value: float) -> str:
    """A share as a whole percentage; one that is not zero never reads as 0 %."""
    if 0 < abs(value) < 0.005:
        return "< 1 %"
    return f"{100 * value:.0f} %".replace("-", "−")


def html(value: Reading, write: Callable[[float], str] = significant, pending: str = "computing") -> str:
    """A reading as HTML: its number, "computing", or a dash that carries the reason."""
    if value is PENDING:
        return f'<span class="pending" title="{escape(PENDING.reason)}">{pending}</span>'
    if isinstance(value, Undetermined):
        return f'<span title="{escape(value.reason)}">–</span>'
    return escape(write(value))
