"""Numbers as options of a command: what is not a number is refused, too."""

import math
from typing import Any

import click


class FiniteRange(click.FloatRange):
    """A number between two ends; `nan`, which no end keeps out, is none."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number, or refuse it as bad usage."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is no number", param, ctx)
        return float(number)
