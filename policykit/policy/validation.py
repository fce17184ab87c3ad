"""Validates plain data into the typed Policy and reports every schema error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from policykit.manifests.path import Path
from policykit.policy.models.policy import Policy
from policykit.policy.problems import Problems

_ROUNDS = 20


def read_policy(data: dict[str, Any], problems: Problems) -> Policy:
    """The policy without its invalid parts, which are reported.

    Going on without them finds semantic errors in the same run.
    """
    for _ in range(_ROUNDS):
        try:
            return Policy.model_validate(data)
        except ValidationError as failed:
            for path in _report(failed, data, problems):
                data = _without(data, path)
    return Policy.model_validate({})


def _report(failed: ValidationError, data: dict[str, Any], problems: Problems) -> list[Path]:
    """Reports every error; returns the paths of the invalid values."""
    # Imported only for a policy with mistakes: building the schema is slow.
    from policykit.policy.schema import model_schema
    from policykit.policy.schema_errors import explain

    schema = model_schema()
    paths = []
    for error in failed.errors(include_url=False):
        path, message, hint = explain(error, schema, data, problems.written)
        problems.shape(path, message, hint, key=error["type"] == "extra_forbidden")
        paths.append(path)
    return paths


def _without(data: Any, path: Sequence[str | int]) -> Any:
    """The data without the value at a path, or without the nearest map entry above it."""
    keys = [number for number, step in enumerate(path) if isinstance(step, str)]
    return _removed(data, tuple(path[: keys[-1] + 1])) if keys else {}


def _removed(data: Any, path: Path) -> Any:
    step, rest = path[0], path[1:]
    if isinstance(data, tuple) and isinstance(step, int):
        return tuple(_removed(item, rest) if number == step else item for number, item in enumerate(data))
    if not isinstance(data, dict) or step not in data:
        return data
    if not rest:
        return {key: value for key, value in data.items() if key != step}
    return {key: _removed(value, rest) if key == step else value for key, value in data.items()}
