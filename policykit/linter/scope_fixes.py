"""Fixes of findings about scopes."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from policykit.linter.engine import fixes_of
from policykit.linter.finding import TextFix
from policykit.linter.input_file import InputFile
from policykit.linter.reader import decode
from policykit.linter.rule import AnyRule, Violation
from policykit.linter.violations import Location
from policykit.linter.workspace import Run

if TYPE_CHECKING:
    from policykit.linter.text_fixes import Fixes


class ScopeFixes:
    """Computes fixes of findings about scopes, for which each file is read once more."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._files: dict[str, Fixes] = {}

    def at(
        self, input_file: InputFile, rule: AnyRule, violation: Violation, location: Location
    ) -> TextFix | None:
        """The fix of a violation; None: there is none."""
        from policykit.linter.text_fixes import FixTarget

        fixes = self._files.get(input_file.path)
        if fixes is None:
            raw = self._run.workspace.read(input_file.file)
            fixes = self._files[input_file.path] = fixes_of(input_file.path, decode(raw).text, raw)
        return fixes.at(rule.code, location.place.span, FixTarget(location.document), violation.fix)

    @property
    def dropped(self) -> tuple[str, ...]:
        """Fixes that could not be made, as messages."""
        return tuple(chain.from_iterable(fixes.dropped for fixes in self._files.values()))
