"""Numbers with a lower limit, as options take them: click's, but in plain words."""

from __future__ import annotations

from typing import Any

import click


class IntRange(click.IntRange):
    """A whole number."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{str(value)!r} is not a whole number, {self._describe_range()}.", param, ctx)

    def _describe_range(self) -> str:
        return _at_least(self.min, self.min_open)


class FloatRange(click.FloatRange):
    """A number that may have a fraction."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{str(value)!r} is not a number, {self._describe_range()}.", param, ctx)

    def _describe_range(self) -> str:
        return _at_least(self.min, self.min_open)


def _at_least(limit: float | None, above: bool) -> str:
    """As help and mistakes say it."""
    return f"more than {limit}" if above else f"{limit} or more"
