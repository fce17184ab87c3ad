"""Whether an object surely has no structural problem: schemas compiled to functions that say yes or no.

Most objects are right, and asking for the problems of a right one is slow: the walk that explains
keeps paths and builds messages. A yes here means that the walk would find nothing. A no means
nothing: placeholders, floats and other rare values are left to the walk.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from policykit.kube.structure.conflicts import FILE, PARTS, conflicts
from policykit.kube.structure.schema import Schema, Shape, release_problem, target
from policykit.kube.structure.values import label_problem, scalar_problem
from policykit.model.quantity import parse

Check = Callable[[Any], bool]
"""Whether a value that is not null surely has no problem."""

_CONSTRAINTS = frozenset(
    {
        "enum",
        "maxLength",
        "maximum",
        "minLength",
        "minimum",
        "pattern",
        "x-kubernetes-label",
        "x-kubernetes-quantity",
        "x-linear-pattern",
    }
)
"""What a schema may require of a scalar besides its type."""
_PLAIN_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,49}")
"""A name that every kind and every namespace may have."""


class QuickChecks:
    """The compiled schemas of a run, for the releases that its policy states."""

    def __init__(self, releases: Mapping[str, str]) -> None:
        self._releases = releases
        self._roots: dict[int, tuple[Schema, Check]] = {}

    def passes(self, data: dict[str, Any], shape: Shape) -> bool:
        """Whether an object surely fits its schema."""
        schema, file = shape
        # The schema is kept beside its check, so that no other one gets its id.
        known = self._roots.get(id(schema))
        if known is None:
            known = self._roots[id(schema)] = schema, self._check(schema, file, False)
        return known[1](data)

    def _check(self, schema: Schema, file: str, partial: bool) -> Check:
        reference = ""
        while "$ref" in schema:
            partial = partial or "x-partial" in schema
            reference = schema["$ref"]
            schema, file = target(file, reference)
        if not schema:
            return _accepts
        types = schema.get("type")
        if types == "object":
            return self._object(schema, file, reference, partial)
        if types == "array":
            return self._array(schema, file, partial)
        if types is not None:
            return _scalar(schema)
        return self._untyped(schema, file, reference, partial)

    def _untyped(self, schema: Schema, file: str, reference: str, partial: bool) -> Check:
        mapping = self._object(schema, file, reference, partial)
        sequence = self._array(schema, file, partial)
        scalar = _scalar(schema)

        def check(value: Any) -> bool:
            kind = type(value)
            return mapping(value) if kind is dict else sequence(value) if kind is list else scalar(value)

        return check

    def _object(self, schema: Schema, file: str, reference: str, partial: bool) -> Check:
        if schema.get("x-kubernetes-label") == "pairs":
            return _are_labels
        properties = schema.get("properties", {})
        required = () if partial else tuple(schema.get("required", ()))
        part = reference.rpartition("/")[2] if file == FILE else ""
        part = part if part in PARTS else ""
        additional: Any = schema.get("additionalProperties")
        # A schema may contain itself: it is compiled when a value needs it.
        other: list[Check] = [] if additional else [_rejects if additional is False else _accepts]
        checks: dict[str, Check] = {}
        names = _scalar(schema["propertyNames"]) if "propertyNames" in schema else None

        def check(value: Any) -> bool:
            if type(value) is not dict:
                return False
            for key, inner in value.items():
                field = checks.get(key)
                if field is None:
                    if key in properties:
                        field = checks[key] = self._field(properties[key], file, partial)
                    else:
                        if not other:
                            other.append(self._check(additional, file, partial))
                        (field,) = other
                if (inner is not None or field is _rejects) and not field(inner):
                    return False
            for name in required:
                if value.get(name) is None:
                    return False
            return not part or next(conflicts(part, value), None) is None

        if names:
            return lambda value: check(value) and all(map(names, value))
        return check

    def _field(self, schema: Schema, file: str, partial: bool) -> Check:
        if self._releases and "x-served" in schema:
            target_name = file.partition("/")[0]
            if release_problem("", target_name, self._releases.get(target_name, ""), *schema["x-served"]):
                return _rejects
        return self._check(schema, file, partial)

    def _array(self, schema: Schema, file: str, partial: bool) -> Check:
        least, most = schema.get("minItems", 0), schema.get("maxItems")
        items = schema.get("items", {})
        made: list[Check] = []
        nullable = "required" not in Shape(items, file).resolved().schema

        def check(value: Any) -> bool:
            if type(value) is not list or len(value) < least or (most is not None and len(value) > most):
                return False
            if not made:
                made.append(self._check(items, file, partial))
            (each,) = made
            for item in value:  # noqa: SIM110  a generator would cost a frame for each list
                if not (nullable if item is None else each(item)):
                    return False
            return True

        return check


def _scalar(schema: Schema) -> Check:
    """The check of a value that is neither a mapping nor a list."""
    types = schema.get("type")
    constraints = _CONSTRAINTS.intersection(schema)
    if not constraints and isinstance(types, str) and types in _TYPES:
        wanted = _TYPES[types]
        return lambda value: type(value) is wanted
    if constraints == {"enum"} and types == "string":
        listed = frozenset(schema["enum"])
        return lambda value: type(value) is str and value in listed
    if constraints <= {"minimum", "maximum"} and types == "integer":
        least, most = schema.get("minimum", -_LARGEST), schema.get("maximum", _LARGEST)
        return lambda value: type(value) is int and least <= value <= most
    if schema.get("x-kubernetes-label") in _VALID:
        valid = _VALID[schema["x-kubernetes-label"]]
        return lambda value: type(value) is str and valid(value)
    if "x-kubernetes-quantity" in schema and types in (["integer", "string"], ["number", "string"]):
        return _is_quantity
    return lambda value: type(value) in _SIMPLE and scalar_problem(value, schema) is None


_TYPES = {"string": str, "boolean": bool, "integer": int}
_SIMPLE = frozenset({str, int, bool})
_LARGEST = 1 << 200


def _accepts(value: Any) -> bool:
    return True


def _rejects(value: Any) -> bool:
    return False


def _are_labels(value: Any) -> bool:
    if type(value) is not dict:
        return False
    return all(
        type(key) is str
        and _is_label_key(key)
        and (text is None or (type(text) is str and _is_label_value(text)))
        for key, text in value.items()
    )


@lru_cache(maxsize=4096)
def _is_label_key(text: str) -> bool:
    return label_problem(text, "key") is None


@lru_cache(maxsize=4096)
def _is_label_value(text: str) -> bool:
    return label_problem(text) is None


@lru_cache(maxsize=4096)
def _is_annotation_key(text: str) -> bool:
    return label_problem(text, "annotation") is None


_VALID = {"annotation": _is_annotation_key, "key": _is_label_key, "value": _is_label_value}


def _is_quantity(value: Any) -> bool:
    if type(value) is str:
        return _is_amount(value)
    return type(value) is int and 0 <= value < _LARGEST


@lru_cache(maxsize=4096)
def _is_amount(text: str) -> bool:
    quantity = parse(text)
    return quantity is not None and quantity.nanos >= 0


def is_well_named(metadata: Any) -> bool:
    """Whether an object surely has a name, and a namespace, if any, that every kind may have."""
    if type(metadata) is not dict or "generateName" in metadata:
        return False
    name, namespace = metadata.get("name"), metadata.get("namespace")
    return (
        type(name) is str
        and _PLAIN_NAME.fullmatch(name) is not None
        and (namespace is None or (type(namespace) is str and _PLAIN_NAME.fullmatch(namespace) is not None))
    )
