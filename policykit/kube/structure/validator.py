"""Validates an object against its schema: an interpreter for the keywords the schemas use."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from policykit.kube.placeholders import is_placeholder, stands_for_text
from policykit.kube.structure.admission import refusals
from policykit.kube.structure.admission.pods import inconsistencies
from policykit.kube.structure.conflicts import FILE, conflicts
from policykit.kube.structure.problem import (
    BAD_VALUE,
    INCONSISTENT,
    MISSING_FIELD,
    UNKNOWN_FIELD,
    WRONG_TYPE,
    conversion_hint,
    described,
    expected,
    located,
    value_problem,
)
from policykit.kube.structure.quick_check import QuickChecks, is_well_named
from policykit.kube.structure.schema import (
    FOREIGN,
    NOTHING,
    Schema,
    ServedApis,
    Shape,
    fits,
    is_extended,
    release_problem,
    shape_of,
    target,
)
from policykit.kube.structure.values import (
    is_function,
    name_problem,
    namespace_problem,
    scalar_problem,
    unsubstituted,
)
from policykit.manifests.path import Path, Step, dotted
from policykit.manifests.problem import Problem
from policykit.model.severity import Severity


def check(
    data: dict[str, Any],
    api_version: str,
    kind: str,
    served: ServedApis = NOTHING,
    *,
    literal: bool = False,
) -> tuple[Problem, ...]:
    """Problems of an object, in document order as far as it has one.

    For a kind without a schema labels, annotations and the placement of pods are checked. null counts as
    absent, a placeholder as valid; a part of the wrong type is one problem, and its content is not checked.
    Data shared through aliases is checked once. A field that only some releases have is a problem
    only if `served` states the release. What admission refuses is left out where the schema already
    reports the value. `literal`: nothing replaces `${NAME}`, which is not a number then.
    """
    shape = None if is_extended(data, kind) else shape_of(api_version, kind, served.custom)
    refused = (*inconsistencies(data, api_version, kind), *refusals(data, api_version, kind))
    if shape is None:
        from policykit.kube.structure import pod_parts

        refused = (*refused, *pod_parts.problems(data, api_version, kind, check_part))
    if (
        not literal
        and _quick_checks(served.releases).passes(data, shape or FOREIGN)
        and (shape is None or is_well_named(data.get("metadata")))
    ):
        return refused
    found = _explain(data, api_version, kind, shape, served, literal=literal)
    reported = {problem.path for problem in found if problem.kind != MISSING_FIELD}
    return (*found, *(problem for problem in refused if problem.path not in reported))


def _explain(
    data: dict[str, Any],
    api_version: str,
    kind: str,
    shape: Shape | None,
    served: ServedApis,
    *,
    literal: bool = False,
) -> tuple[Problem, ...]:
    """The problems of the schema, found by a walk that knows where it is."""
    walk = _Validation(shape or FOREIGN, data, served, literal=literal)
    walk.visit(data, walk.root.schema, walk.root.file)
    if shape and api_version and isinstance(data.get("metadata"), (dict, type(None))):
        walk.named(api_version, kind)
    return walk.result()


def _quick_checks(releases: Mapping[str, str]) -> QuickChecks:
    """Those of a policy; the schemas of a run are compiled once."""
    named = frozenset(releases.items())
    found = _QUICK.get(named)
    if found is None:
        found = _QUICK[named] = QuickChecks(releases)
    return found


_QUICK: dict[frozenset[tuple[str, str]], QuickChecks] = {}


def check_part(name: str, data: dict[str, Any], *, partial: bool = False) -> tuple[Problem, ...]:
    """Problems of a part of a pod by itself: `NodeAffinity`, as other files than manifests hold it.

    `partial`: what it requires may be elsewhere.
    """
    shape = _part(name, partial)
    if _quick_checks({}).passes(data, shape):
        return ()
    walk = _Validation(shape, data, NOTHING)
    walk.visit(data, shape.schema, shape.file)
    return walk.result()


@lru_cache(maxsize=16)
def _part(name: str, partial: bool) -> Shape:
    marks = {"x-partial": True} if partial else {}
    return Shape({"$ref": f"#/$defs/{name}", **marks}, FILE)


_SUBMITTED = "argoproj.io/v1alpha1"
"""Version of Workflows, which `argo submit` names by itself: --name, --generate-name."""
_HIGHEST_PORT = 65535
_QUERY = frozenset({"apiVersion", "kind", "status"})
"""Of what a policy of Open Cluster Management looks for: the server sets the status of objects."""
_MAX_SUGGESTIONS = 100
"""Largest number of unknown fields with a suggestion: an object with more is of another kind."""


class _Validation:
    """State of one check. `steps` is the path of the current value."""

    def __init__(
        self, root: Shape, data: dict[str, Any], served: ServedApis, *, literal: bool = False
    ) -> None:
        self.root = root
        self.data = data
        self.of_crd = bool(root.file) and not root.file.startswith("kubernetes/")
        self.releases = served.releases
        self.literal = literal
        self.partial = 0
        """Above 0 inside a patch, whose target may have the missing fields."""
        self.steps: list[Step] = []
        self.problems: list[Problem] = []
        self.seen: set[tuple[int, int]] = set()
        self.lacking: list[tuple[Path, Problem]] = []
        self.adopted: dict[Path, Shape] = {}
        self.claimed: set[Path] = set()
        """Where misplaced or misspelt fields belong: these are not reported as missing."""
        self.guesses = 0

    def result(self) -> tuple[Problem, ...]:
        if self.data.keys() == _QUERY:
            return tuple(self.problems)
        submitted = self.data.get("kind") == "Workflow" and self.data.get("apiVersion") == _SUBMITTED
        missing = (
            problem
            for place, problem in self.lacking
            if not self._excused(place) and not (submitted and place[0] == "metadata")
        )
        return (*self.problems, *missing)

    def _excused(self, place: Path) -> bool:
        """Fields missing in a misplaced block may be where it belongs."""
        return place in self.claimed or any(place[:length] in self.adopted for length in range(len(place)))

    def visit(self, value: Any, schema: Schema, file: str) -> None:
        reference = ""
        while "$ref" in schema:
            if "x-partial" in schema:
                self._laid_over(value, schema, file)
                return
            reference = schema["$ref"]
            schema, file = target(file, reference)
        if value is None or not schema or (value == "" and self.partial):
            return
        kind = type(value)
        if kind is int and not value and self._fills_in(schema):
            return
        if kind is dict:
            self._mapping(value, schema, file, reference)
        elif kind is list:
            self._sequence(value, schema, file)
        elif schema.get("type") in ("object", "array"):
            if not is_placeholder(value):
                self._misshapen(value, schema)
        else:
            self._report(
                self._fraction(value, schema)
                or (unsubstituted(value, schema) if self.literal else None)
                or scalar_problem(value, schema)
            )

    def _fills_in(self, schema: Schema) -> bool:
        """Knative replaces port 0 by the port of the container.

        Sources: `validateProbe` and `validateContainersPorts` of Knative Serving (v1.20).
        """
        return schema.get("maximum") == _HIGHEST_PORT and self.root.file.startswith("knative/")

    def _fraction(self, value: Any, schema: Schema) -> Problem | None:
        """In CRDs quantities are integers or text, also in pod templates."""
        if type(value) is not float or value.is_integer() or not self.of_crd:
            return None
        if self.partial and self.root.file.startswith(_OPEN):
            return None
        return (
            scalar_problem(value, {**schema, "type": _AMOUNT}) if "x-kubernetes-quantity" in schema else None
        )

    def _laid_over(self, value: Any, schema: Schema, file: str) -> None:
        found = len(self.problems)
        self.partial += 1
        self.visit(value, {"$ref": schema["$ref"]}, file)
        self.partial -= 1
        if self.root.file.startswith(_OPEN):
            self.problems[found:] = map(_dropped, self.problems[found:])

    def _mapping(self, value: dict[str, Any], schema: Schema, file: str, reference: str) -> None:
        if schema.get("type", "object") != "object":
            return self._misshapen(value, schema)
        if self._again(value, schema):
            return None
        if schema.get("x-kubernetes-label") == "pairs":
            schema = _PAIRS
        properties = schema.get("properties", _EMPTY)
        additional = schema.get("additionalProperties")
        if "propertyNames" in schema:
            self._keys(value, schema["propertyNames"])
        for key, inner in value.items():
            field = properties.get(key)
            if field is None:
                if additional is False and key[:1] != "$" and not is_placeholder(key):
                    self._unknown(key, inner)
                field = additional
            elif self.releases and "x-served" in field and inner is not None:
                self._dated(key, field["x-served"], file)
            if inner is not None and field:
                self.steps.append(key)
                self.visit(inner, field, file)
                self.steps.pop()
        if not self.partial and "..." not in value:
            for name in schema.get("required", ()):
                if value.get(name) is None:
                    self._missing(value, name)
        if file == FILE and reference:
            self._conflicts(reference, value)
        return None

    def _sequence(self, value: list[Any], schema: Schema, file: str) -> None:
        if schema.get("type", "array") != "array":
            return self._misshapen(value, schema)
        if self._again(value, schema):
            return None
        if len(value) < schema.get("minItems", 0):
            self._report(_too_few(len(value), schema["minItems"]))
        elif len(value) > schema.get("maxItems", len(value)):
            limit = schema["maxItems"]
            self._report(value_problem(BAD_VALUE, f"has {len(value)} items, the maximum is {limit}"))
        items = schema.get("items", _EMPTY)
        for index, item in enumerate(value):
            self.steps.append(index)
            if item is None and "required" in Shape(items, file).resolved().schema:
                item = _EMPTY
            self.visit(item, items, file)
            self.steps.pop()
        return None

    def _conflicts(self, reference: str, value: dict[str, Any]) -> None:
        for problem in conflicts(reference.rpartition("/")[2], value):
            if problem.kind != INCONSISTENT or not self.partial:
                self.problems.append(located(problem, tuple(self.steps)))

    def _keys(self, value: dict[str, Any], schema: Schema) -> None:
        for key in value:
            self.steps.append(key)
            self._report(scalar_problem(key, schema), key=True)
            self.steps.pop()

    def _again(self, value: object, schema: Schema) -> bool:
        """Whether this object, shared through an alias, was already checked against this schema."""
        mark = (id(value), id(schema))
        if mark in self.seen:
            return True
        self.seen.add(mark)
        return False

    def _misshapen(self, value: Any, schema: Schema) -> None:
        types = schema["type"]
        if types not in ("object", "array") and stands_for_text(value):
            return
        if schema.get("x-kubernetes-label"):
            types = "object" if schema["x-kubernetes-label"] == "pairs" else "string"
        words = f"must be {expected(types)}, but is {described(value)}"
        self._report(value_problem(WRONG_TYPE, words, conversion_hint(types, value)))

    def _report(self, problem: Problem | None, *, key: bool = False) -> None:
        if problem is None:
            return
        path = tuple(self.steps)
        self.problems.append(located(problem, path, _named(path, problem, key), key=key))

    def _unknown(self, key: str, value: Any) -> None:
        """Reports an unknown field with a suggestion, and checks its value as the suggested field."""
        from policykit.kube.structure.field_suggestions import Suggestion, suggest

        path = (*self.steps, key)
        self.guesses += 1
        few = self.guesses <= _MAX_SUGGESTIONS
        meant = suggest(self.root, self.data, path, self.adopted) if few else Suggestion()
        self.claimed.update(meant.claims)
        message = f"unknown field {dotted(path)}" + (f": {meant.text}" if meant.text else "")
        problem = Problem(path, message, meant.help, key=True, intended=meant.place, kind=UNKNOWN_FIELD)
        self.problems.append(_dropped(problem) if self.root.file.startswith(_UNCHECKED) else problem)
        if meant.shape and fits(value, meant.shape):
            self.adopted[path] = meant.shape
            self.steps.append(key)
            self.visit(value, meant.shape.schema, meant.shape.file)
            self.steps.pop()

    def _dated(self, key: str, releases: tuple[str, str], file: str) -> None:
        """Reports a field that the stated release of its system does not have."""
        path = (*self.steps, key)
        target_name = file.partition("/")[0]
        message = release_problem(dotted(path), target_name, self.releases.get(target_name, ""), *releases)
        if message:
            self.problems.append(Problem(path, *message, key=True, kind=UNKNOWN_FIELD))

    def _missing(self, owner: dict[str, Any], name: str) -> None:
        path = tuple(self.steps)
        label = owner.get("name")
        who = f"{dotted(path)} ({label})" if isinstance(label, str) and path else dotted(path)
        message = f"{who} has no `{name}`" if path else f"the object has no `{name}`"
        advice = f"add `{name}`: the API server requires it"
        problem = Problem(path, message, advice, intended=(*path, name), kind=MISSING_FIELD)
        self.lacking.append(((*path, name), problem))

    def named(self, api_version: str, kind: str) -> None:
        """Every object needs a name or a prefix for one."""
        metadata = self.data.get("metadata") or _EMPTY
        if metadata.get("name") is None and metadata.get("generateName") is None:
            problem = Problem(
                ("metadata",),
                "the object has no `metadata.name`",
                "add `metadata.name`: the API server requires it",
                intended=("metadata", "name"),
                kind=MISSING_FIELD,
            )
            self.lacking.append((("metadata", "name"), problem))
        if is_function(metadata.get("annotations")):
            return
        for field in ("name", "generateName"):
            self._report_metadata(field, name_problem(metadata.get(field), api_version, kind))
        self._report_metadata("namespace", namespace_problem(metadata.get("namespace")))

    def _report_metadata(self, field: str, problem: Problem | None) -> None:
        if problem:
            self.problems.append(located(problem, ("metadata", field)))


_EMPTY: dict[str, Any] = {}
_PAIRS: Schema = {
    "additionalProperties": {"type": "string", "x-kubernetes-label": "value"},
    "propertyNames": {"x-kubernetes-label": "key"},
}
"""A map of labels, or a selector of that form."""
_AMOUNT = ["integer", "string"]
_UNCHECKED = "argo/"
"""CRDs that are installed without a schema as well: the controller drops what it does not know."""
_OPEN = ("spark/", _UNCHECKED)
"""CRDs without a schema for pod templates."""


def _dropped(problem: Problem) -> Problem:
    """Without a schema the API server keeps an unknown field, and what decodes the template drops it."""
    return problem._replace(severity=Severity.WARNING) if problem.kind == UNKNOWN_FIELD else problem


def _too_few(number: int, least: int) -> Problem:
    if not number:
        return value_problem(BAD_VALUE, "is an empty list", "add at least one item")
    return value_problem(BAD_VALUE, f"has {number} items, the minimum is {least}")


def _named(path: Path, problem: Problem, key: bool) -> str:
    if key:
        return f"a key of {dotted(path[:-1])}"
    return dotted(path)
