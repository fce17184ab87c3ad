"""Lint settings without a policy: `[tool.policykit.lint]` of pyproject.toml."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from policykit.errors import SourceError, UsageError
from policykit.linter.selection import PRESETS
from policykit.model.severity import Severity
from policykit.workspace.boundary import SMALL
from policykit.workspace.disk import cached
from policykit.workspace.files import is_there, read, upwards

if TYPE_CHECKING:
    from policykit.model.cluster import LintSettings

_LISTS = ("select", "ignore", "exclude", "extra-plugins", "crds")
_TABLES = ("per-path", "severity", "accept-not-judged")


@cached
def nearest_settings(folder: str) -> str:
    """The nearest pyproject.toml that mentions policykit, up to the repository's root; empty: none.

    It may be one that cannot be read: reading its settings reports why.
    """
    paths = (os.path.join(here, "pyproject.toml") for here in upwards(folder))
    return next((path for path in paths if is_there(path) and _may_speak(path)), "")


def _may_speak(path: str) -> bool:
    try:
        return b"tool.policykit" in read(path, most=SMALL)
    except SourceError:
        return True


@cached
def pyproject_settings(path: str) -> LintSettings:
    """The settings in a file. Raises UsageError for unknown keys, wrong types and invalid TOML, and
    SourceError if it cannot be read."""
    import tomllib

    from policykit.model.cluster import LintSettings

    try:
        data = tomllib.loads(read(path, most=SMALL).decode("utf-8"))
    except ValueError as error:  # also for text that is not UTF-8, and numbers of thousands of digits
        raise UsageError(f"not TOML: {error}", "fix the file", path) from None
    except RecursionError:
        raise UsageError("nested too deep to be read", "fix the file", path) from None
    found: Any = data
    for name in ("tool", "policykit", "lint"):
        found = found.get(name) if isinstance(found, dict) else None
    return _settings(path, found) if isinstance(found, dict) else LintSettings()


def _settings(path: str, table: dict[str, Any]) -> LintSettings:
    from policykit.linter.not_judged import REASONS
    from policykit.model.cluster import LintSettings

    known = {*_LISTS, *_TABLES, "preset"}
    for key in table:
        if key not in known:
            raise UsageError(
                f"[tool.policykit.lint] has no setting {key!r}", f"known: {', '.join(sorted(known))}", path
            )
    lists = {key: _texts(path, key, table.get(key, [])) for key in _LISTS}
    per_path, severity, accepted = (_table(path, key, table.get(key, {})) for key in _TABLES)
    return LintSettings(
        lists["select"],
        lists["ignore"],
        {
            rule: _one_of(path, f"severity of {rule}", given, tuple(Severity))
            for rule, given in severity.items()
        },
        tuple((glob, _texts(path, f"per-path {glob}", codes)) for glob, codes in per_path.items()),
        lists["exclude"],
        lists["extra-plugins"],
        _one_of(path, "preset", table.get("preset", "recommended"), PRESETS),
        lists["crds"],
        {
            _one_of(path, "reason in accept-not-judged", reason, tuple(REASONS)): _texts(
                path, f"accept-not-judged {reason}", globs
            )
            for reason, globs in accepted.items()
        },
    )


def _texts(path: str, key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise UsageError(
            f"[tool.policykit.lint] {key} must be a list of strings", "write it in brackets", path
        )
    return tuple(value)


def _table(path: str, key: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(
            f"[tool.policykit.lint] {key} must be a table", f"write it as [tool.policykit.lint.{key}]", path
        )
    return value


def _one_of(path: str, key: str, value: object, known: tuple[str, ...]) -> str:
    if value not in known:
        raise UsageError(
            f"[tool.policykit.lint] {key} is {value!r}", f"choose one of {', '.join(known)}", path
        )
    return str(value)
