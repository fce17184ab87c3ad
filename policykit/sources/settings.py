"""Lint settings where there is no policy: `[tool.policykit.lint]` of pyproject.toml."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from policykit.errors import UsageError
from policykit.model.cluster import LintSettings
from policykit.sources.files import ancestors, read, repository_root

_LISTS = ("select", "ignore", "exclude", "extra-plugins")


@cache
def pyproject_settings(folder: str) -> LintSettings:
    """The nearest pyproject.toml with such a table, up to the repository root.

    Raises UsageError for unknown keys and wrong types.
    """
    limit = repository_root(folder)
    for here in ancestors(folder):
        path = os.path.join(here, "pyproject.toml")
        if os.path.isfile(path):
            table = _table(path)
            if table is not None:
                return _settings(path, table)
        if here == limit:
            break
    return LintSettings()


def _table(path: str) -> dict[str, Any] | None:
    raw = read(path)
    if b"tool.policykit" not in raw:
        return None
    import tomllib

    try:
        data = tomllib.loads(raw.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"not TOML: {error}", "mend the file", path) from None
    found = data.get("tool", {}).get("policykit", {}).get("lint")
    return found if isinstance(found, dict) else None


def _settings(path: str, table: dict[str, Any]) -> LintSettings:
    known = {*_LISTS, "severity", "per-path"}
    for key in table:
        if key not in known:
            raise UsageError(
                f"[tool.policykit.lint] has no setting {key!r}", f"known: {', '.join(sorted(known))}", path
            )
    lists = {key: _texts(path, key, table.get(key, [])) for key in _LISTS}
    per_path = tuple(
        (glob, _texts(path, "per-path", codes)) for glob, codes in table.get("per-path", {}).items()
    )
    return LintSettings(
        lists["select"],
        lists["ignore"],
        dict(table.get("severity", {})),
        per_path,
        lists["exclude"],
        lists["extra-plugins"],
    )


def _texts(path: str, key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise UsageError(f"[tool.policykit.lint] {key} must be a list of texts", "write it in brackets", path)
    return tuple(value)
