"""Types and words of values in configurations of device plugins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.placeholders import is_filled_in
from policykit.linter.rule import Violation
from policykit.manifests.path import Path
from policykit.model.severity import Severity
from policykit.namedtuple import NamedTuple
from policykit.nearest import nearest

TEXT, FLAG, COUNT, NUMBER, LIST, MAP = (
    "a string",
    "true or false",
    "a whole number",
    "a number",
    "a list",
    "a mapping",
)
_YAML_FLAGS = frozenset({"y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "n", "N", "no", "No", "NO", "off"})
"""Texts that Go's YAML reads as booleans where it needs one."""


class Reader(NamedTuple):
    """A program that reads a configuration."""

    name: str
    effect: str
    """What happens if a value has another type."""
    severity: Severity | None = None
    """Of a value of another type."""
    folds: bool = False
    """Whether keys are read in any case, as JSON in Go is."""


def wrong_types(
    written: Mapping[str, Any], path: Path, types: Mapping[str, str], who: Reader
) -> Iterator[Violation]:
    """Values whose type is not that of their field."""
    for key, value in written.items():
        wanted = types.get(key.lower() if who.folds else key) if isinstance(key, str) else None
        if wanted and value is not None and not _is(value, wanted):
            there = f"the string {value!r}" if isinstance(value, str) else _named(value)
            yield Violation(
                (*path, key),
                f"{key} is {there}, but {who.name} needs {wanted}: {who.effect}",
                _advice(value, wanted),
                who.severity,
            )


def _is(value: object, wanted: str) -> bool:
    if isinstance(value, str) and is_filled_in(value):
        return True
    if wanted == FLAG:
        return isinstance(value, bool) or (isinstance(value, str) and value in _YAML_FLAGS)
    if wanted == COUNT:
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        return whole and not isinstance(value, bool)
    if wanted == NUMBER:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if wanted == LIST:
        return isinstance(value, list)
    if wanted == MAP:
        return isinstance(value, dict)
    return isinstance(value, str)


def _named(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "a list" if isinstance(value, list) else "a mapping" if isinstance(value, dict) else str(value)


def _advice(value: object, wanted: str) -> str:
    if isinstance(value, str) and wanted in (COUNT, NUMBER):
        return "write the number without quotes"
    if isinstance(value, str) and wanted == FLAG:
        return "write true or false, without quotes"
    if wanted == TEXT and not isinstance(value, list | dict):
        return "put the value in quotes"
    return f"write {wanted}"


def wrong_word(
    value: object, path: Path, known: tuple[str, ...], what: str, severity: Severity | None = None
) -> Iterator[Violation]:
    """A text that is none of the known ones; `what` says what happens."""
    if not isinstance(value, str) or not value or value in known or is_filled_in(value):
        return
    near = nearest(value, known)
    advice = f"did you mean {near}?" if near else f"write {', '.join(known[:-1])} or {known[-1]}"
    yield Violation(
        path, f"{path[-1] if isinstance(path[-1], str) else path[-2]} is {value!r}, {what}", advice, severity
    )


def unknown_keys(
    written: Mapping[str, Any],
    path: Path,
    known: tuple[str, ...],
    who: str,
    likeness: float = 0.75,
    *,
    folds: bool = False,
) -> Iterator[Violation]:
    """Keys that are nearly one of the known ones; `folds`: they are read in any case."""
    lower = {each.lower() for each in known} if folds else ()
    for key in written:
        if isinstance(key, str) and key.lower() in lower:
            continue
        likely = nearest(key, known, likeness) if isinstance(key, str) and key not in known else ""
        if likely and likely not in written:
            yield Violation(
                (*path, key),
                f"{who} does not read {key}",
                f"did you mean {likely}?",
                Severity.WARNING,
                key=True,
            )
