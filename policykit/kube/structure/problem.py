"""Problems of the structure of an object: their kinds, and values and types in words."""

from __future__ import annotations

from typing import Any

from policykit.manifests.path import Path, dotted
from policykit.manifests.problem import Problem

UNKNOWN_FIELD = "unknown-field"
WRONG_TYPE = "wrong-type"
BAD_VALUE = "bad-value"
MISSING_FIELD = "missing-field"
INVALID_QUANTITY = "invalid-quantity"
INVALID_LABEL = "invalid-label"
INCONSISTENT = "inconsistent"
"""Values that are valid on their own but contradict each other."""
CONFLICTING = "conflicting"
"""Values of one part that exclude each other, even in a patch."""
MISSING_REFERENCE = "missing-reference"
"""A name of something the object does not contain; a program that completes the object may add it."""


IN_NO_NAMESPACE = "a binding for the whole cluster is in none"
"""In the message about an account without a namespace, which a kustomization may give it."""


def value_problem(kind: str, predicate: str, help_: str = "", path: Path = ()) -> Problem:
    """A problem of a value on its own: `predicate` follows its name, and `path` starts at the value."""
    return Problem(path, predicate, help_, kind=kind)


def located(problem: Problem, base: Path, name: str = "", *, key: bool = False) -> Problem:
    """A problem of a value as one of the object that contains it at `base`."""
    path = (*base, *problem.path)
    return problem._replace(path=path, message=f"{name or dotted(path)} {problem.message}", key=key)


_EXPECTED = {
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
}
_LONGEST = 60


def expected(types: str | list[str]) -> str:
    """The type in a schema."""
    if isinstance(types, str):
        return _EXPECTED.get(types, types)
    return " or ".join(_EXPECTED.get(name, name) for name in types)


def described(value: Any) -> str:
    """The type and value found."""
    if isinstance(value, bool):
        return "the boolean " + quoted(value)
    if isinstance(value, (int, float)):
        return "the number " + quoted(value)
    if isinstance(value, str):
        return "the string " + quoted(value)
    if isinstance(value, list):
        return "a list"
    return "a mapping" if isinstance(value, dict) else "nothing"


def quoted(value: Any) -> str:
    """A scalar as in YAML, shortened if it is long."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return str(value)
    text = value if len(value) <= _LONGEST else value[: _LONGEST - 3] + "..."
    return '"' + text.replace("\n", "\\n") + '"'


def conversion_hint(types: str | list[str], value: Any) -> str:
    """How to turn a value into the expected type; empty: no obvious way."""
    wanted = types if isinstance(types, str) else types[0]
    if isinstance(value, str):
        if wanted == "array":
            return _as_list(value)
        numeric = wanted in ("integer", "number") and value.strip().lstrip("+-").isdigit()
        if numeric or (wanted == "boolean" and value in ("true", "false")):
            return "remove the quotes"
        return ""
    if wanted == "string" and isinstance(value, (bool, int, float)):
        return "put the value in quotes"
    if wanted == "array" and isinstance(value, dict):
        return "begin each item with `- `"
    if wanted == "string" and isinstance(value, (list, dict)):
        return "write it as one text in single quotes"
    if wanted == "object" and isinstance(value, list):
        return "it takes `key: value` lines without `- `"
    return ""


def _as_list(text: str) -> str:
    """A command as a list of its words; other text as one item."""
    if not text.strip() or len(text) > _LONGEST or not text.strip().count(" "):
        return f"write it as a list: [{quoted(text)}]"
    if any(sign in text for sign in "\"'\\|&;<>$`*?()\n"):
        return "write it as a list, with one item for each word"
    return f"write it as a list: [{', '.join(quoted(word) for word in text.split())}]"
