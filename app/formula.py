"""Formulas as MathML, which browsers draw themselves: no script, no font and no network is needed."""

from functools import cache

from latex2mathml.converter import convert

from sim.errors import InvalidInput
from sim.sentences import shown

#: Math fonts of the systems in use; where there is none, a serif of the text has the letters and signs.
STYLE = """
math {
  font-family: "STIX Two Math", "Cambria Math", "Latin Modern Math", "Libertinus Math", "DejaVu Math TeX Gyre",
    "Noto Sans Math", math, "STIX Two Text", Cambria, "DejaVu Serif", serif;
  font-size: 1.08em;
}
"""


@cache
def mathml(latex: str) -> str:
    """A formula as a <math> element in a line of its own; "" for none.

    Args:
        latex: the formula, of the program's own: what comes from elsewhere is never made into elements.

    Raises:
        InvalidInput: if it is no formula.
    """
    if not latex:
        return ""
    try:
        made = convert(latex, display="block")
    except Exception as error:
        raise InvalidInput(
            [f"formula: got {shown(latex)}, allowed is LaTeX mathematics; correct it ({type(error).__name__})"]
        ) from None
    # The converter lets pass a brace that is open, and writes a command that it does not know as its name.
    braces = latex.replace("\\{", "").replace("\\}", "")
    if braces.count("{") != braces.count("}"):
        raise InvalidInput([f"formula: got {shown(latex)}, in which a brace is missing; add it"])
    if "\\" in made:
        raise InvalidInput([f"formula: got {shown(latex)}, which has a command that is not known; use another"])
    return made
