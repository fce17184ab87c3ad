"""Validates plain data into the typed Policy and reports every schema error in plain words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from policykit.manifests.path import Path, Step, dotted
from policykit.manifests.writer import scalar
from policykit.policy.models.base import FORMS
from policykit.policy.models.policy import Policy
from policykit.policy.problems import Problems, alternatives, describe, nearest

_WORDS = {
    "integer": "a whole number",
    "number": "a number",
    "string": "a string",
    "boolean": "true or false",
    "object": "a map",
    "array": "a list",
}
_KEY = "[key]"
"""Last step of pydantic's location of a key that is not among those of a map."""


def path_of(error: Mapping[str, Any], data: Any) -> Path:
    """The path in the data: the location without union tags, unless a key has that name."""
    path: list[Step] = []
    for step in error["loc"]:
        there = isinstance(data, dict) and step in data
        if there or step not in FORMS:
            path.append(step)
            in_list = isinstance(data, tuple) and isinstance(step, int)
            data = data[step] if there or in_list else None
    return tuple(path)


def explain(
    error: Mapping[str, Any],
    schema: Mapping[str, Any],
    data: Any,
    written: Callable[[Path], str] = lambda _: "",
) -> tuple[Path, str, str]:
    """Path, message and hint of one pydantic error, given the JSON Schema and the data.

    `written` gives the text of a value in the file, where it is read as something else.
    """
    path = path_of(error, data)
    kind, value = error["type"], error.get("input")
    if kind == "extra_forbidden":
        return path, *_unknown_key(path, schema)
    if path and path[-1] == _KEY:
        return path[:-1], *_unknown_key(path[:-1], schema)
    allowed = schemas_at(schema, path)
    if kind == "quantity":
        return path, f"{dotted(path)} is not a quantity: {describe(value)}", _quantity_hint(value)
    if kind == "duration":
        return path, f"{dotted(path)} is not a duration: {describe(value)}", _duration_hint(value)
    if kind == "below_zero":
        return path, f"{dotted(path)} is negative: {value}", "use 0 or more"
    if kind in ("greater_than_equal", "less_than_equal"):
        return path, f"{dotted(path)} must be {_bounds(allowed)}, not {value}", ""
    choices = allowed_values(allowed)
    if kind == "literal_error" and isinstance(value, str):
        near = nearest(value, choices)
        hint = f"did you mean {near}?" if near else ""
        return path, f"{dotted(path)} must be {alternatives(_forms(allowed))}, not {value!r}", hint
    expected = alternatives(_forms(allowed)) or "something else"
    hint = _form_hint(allowed, value, written(path))
    return path, f"{dotted(path)} must be {expected}, not {describe(value)}", hint


def _unknown_key(path: Path, schema: Mapping[str, Any]) -> tuple[str, str]:
    key, where = str(path[-1]), dotted(path[:-1]) if path[1:] else "a policy"
    names = allowed_keys(schema, path[:-1])
    message = f"{where} has no key {key!r}"
    if path[:1] == ("targets",) and key == "version" and path[1] in allowed_keys(schema, ()):
        return message, f"its release is a key of the policy itself: {path[1]}"
    near = nearest(key, names)
    if near:
        return message, f"did you mean {near}?"
    elsewhere = sections_with(schema, key)
    if elsewhere:
        return message, f"{key} belongs to {alternatives(elsewhere)}"
    return message, f"its keys are {', '.join(sorted(names))}"


def _quantity_hint(value: object) -> str:
    if isinstance(value, str):
        folded = value.strip().replace(" ", "")
        for wrong, right in (("KB", "k"), ("MB", "M"), ("GB", "G"), ("TB", "T"), ("K", "k")):
            if folded.endswith(wrong) and folded[: -len(wrong)].replace(".", "").isdigit():
                return (
                    f"did you mean {folded[: -len(wrong)]}{right} or {folded[: -len(wrong)]}{right.upper()}i?"
                )
    return "use a number with one of the suffixes m, k, M, G, T, Ki, Mi, Gi, Ti, for example 1900Gi"


def _duration_hint(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return f"add a unit: {value}s, {value}m or {value}h"
    return "use days, hours, minutes and seconds in this order, more than 0: 90s, 10m, 1h30m, 7d"


def _bounds(allowed: Sequence[Mapping[str, Any]]) -> str:
    for schema in allowed:
        low, high = schema.get("minimum"), schema.get("maximum")
        if low is not None and high is not None:
            return f"between {low} and {high}"
        if low is not None:
            return f"{low} or more"
    return "within bounds"


def _forms(allowed: Sequence[Mapping[str, Any]]) -> list[str]:
    words: list[str] = []
    for schema in allowed:
        if found := allowed_values([schema]):
            words.extend(found)
        elif isinstance(schema.get("type"), str):
            words.append(_WORDS[schema["type"]])
    return list(dict.fromkeys(words))


def _form_hint(allowed: Sequence[Mapping[str, Any]], value: object, written: str) -> str:
    types = {schema.get("type") for schema in allowed}
    choices = allowed_values(allowed)
    if isinstance(value, bool) and choices:
        # YAML reads yes, on, no and off as booleans.
        near = choices[0] if value else next((each for each in choices if each == "none"), "")
        return f"did you mean {near}?" if near else ""
    if isinstance(value, str) and "integer" in types:
        number = value if value.lstrip("-").isdigit() else ""
        return f"write it without quotes: {number}" if number else "write a number, such as 2"
    if isinstance(value, str) and any(_holds_text(schema) for schema in allowed):
        return f"write a list: [{scalar(value)}]"
    if isinstance(value, str) and types == {"object"} and (field := _first_text_field(allowed)):
        return f"write {{{field}: {value}}}"
    if isinstance(value, (int, float)):
        text = written or (str(value).lower() if isinstance(value, bool) else str(value))
        if any(_takes(schema, text) for schema in allowed):
            return f'write it in quotes: "{text}"'
        if types == {"object"} and not isinstance(value, bool) and (field := _first_text_field(allowed)):
            return f'write {{{field}: "{text}"}}'
    return ""


def _takes(schema: Schema, text: str) -> bool:
    """Whether it is a text, and this one is among those that it lists, if it lists any."""
    return schema.get("type") == "string" and text in (allowed_values([schema]) or [text])


def _holds_text(schema: Schema) -> bool:
    """Whether it is a list of texts."""
    return schema.get("type") == "array" and schema.get("items", {}).get("type") == "string"


def _first_text_field(allowed: Sequence[Schema]) -> str:
    """The first field of a map that accepts any text; empty if no field does."""
    fields = (field for schema in allowed for field in schema.get("properties", {}).items())
    return next((name for name, field in fields if field.get("type") == "string" and "enum" not in field), "")


Schema = Mapping[str, Any]


def schemas_at(schema: Schema, path: Path) -> list[Schema]:
    """The alternatives for the value at a path, references resolved."""
    here = list(_alternatives(schema, schema))
    for step in path:
        here = [found for option in here for found in _below(schema, option, step)]
    return here


def allowed_keys(schema: Schema, path: Path) -> tuple[str, ...]:
    """The keys a map at a path may have, if the schema lists them."""
    options = schemas_at(schema, path)
    named = [key for option in options for key in option.get("properties", ())]
    listed = [key for option in options for key in option.get("propertyNames", {}).get("enum", ())]
    return tuple(dict.fromkeys([*named, *listed]))


def allowed_values(options: Sequence[Schema]) -> list[str]:
    """The allowed values, if the schema lists them."""
    words: list[str] = []
    for option in options:
        words.extend(str(w) for w in option.get("enum", ()))
        if "const" in option:
            words.append(str(option["const"]))
    return words


def sections_with(schema: Schema, key: str) -> list[str]:
    """The top level keys whose entries, one or two levels down, may have a key."""
    found = []
    for top in allowed_keys(schema, ()):
        if key in allowed_keys(schema, (top,)):
            found.append(top)
        elif key in allowed_keys(schema, (top, "*")) and not allowed_keys(schema, (top,)):
            found.append(f"{top}.<name>")
    return found


def _below(schema: Schema, option: Schema, step: Step) -> Iterator[Schema]:
    if isinstance(step, int):
        below = option.get("items")
    else:
        below = option.get("properties", {}).get(step) or option.get("additionalProperties")
    if isinstance(below, Mapping):
        yield from _alternatives(schema, below)


def _alternatives(schema: Schema, option: Schema) -> Iterator[Schema]:
    if "$ref" in option:
        name = option["$ref"].rpartition("/")[2]
        yield from _alternatives(schema, (schema.get("definitions") or schema["$defs"])[name])
        return
    for group in ("oneOf", "anyOf", "allOf"):
        if group in option:
            for alternative in option[group]:
                yield from _alternatives(schema, alternative)
            return
    if option.get("type") != "null":
        yield option


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
