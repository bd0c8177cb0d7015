"""What is drawn on a canvas follows the theme: style sheets do not reach there."""

from collections.abc import Callable
from typing import Any, TypeVar

from app.look import Look

Drawn = TypeVar("Drawn")


class Paints:
    """Colours, widths and letters of Bokeh models by their role in the palette, set now and whenever the theme changes.

    Args:
        look: whose theme is followed.
    """

    def __init__(self, look: Look) -> None:
        self._look = look
        self._again: list[Callable[[], None]] = []
        look.param.watch(lambda *_: self.repaint(), "theme")

    def __call__(self, model: Drawn, **roles: Any) -> Drawn:
        """Paint a model.

        A string is a role of the palette, several are a list of colours; a number is a width, or a size of letters in
        pixels.
        """

        def paint() -> None:
            model.update(**{name: self._value(name, role) for name, role in roles.items()})  # type: ignore[attr-defined]

        self._again.append(paint)
        paint()
        return model

    def repaint(self) -> None:
        """Set everything again."""
        for paint in self._again:
            paint()

    def _value(self, name: str, role: Any) -> Any:
        palette = self._look.palette
        if isinstance(role, tuple):
            return [self._value(name, each) for each in role]
        if isinstance(role, str):
            return getattr(palette, role)
        return f"{role * palette.type:g}px" if name.endswith("font_size") else role * palette.stroke
