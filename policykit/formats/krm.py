"""The wire format of KRM functions: a ResourceList with a functionConfig in, a ResourceList out.

Source: the KRM Functions Specification v1 of kustomize (`functions-spec.md`, kustomize 5.8).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from policykit.errors import SourceError, UsageError
from policykit.linter.finding import Finding
from policykit.linter.input_file import origin_of
from policykit.linter.reader import decode
from policykit.manifests.document_edits import apply
from policykit.manifests.parser import parse
from policykit.manifests.patch import Patch
from policykit.manifests.path import Path, dotted, lookup
from policykit.manifests.shape import digits
from policykit.manifests.writer import dump
from policykit.model.severity import Severity
from policykit.namedtuple import NamedTuple
from policykit.nearest import nearest

_VERSIONS = ("config.kubernetes.io/v1", "config.kubernetes.io/v1beta1")
_PATHS = ("internal.config.kubernetes.io/path", "config.kubernetes.io/path")
_INDICES = ("internal.config.kubernetes.io/index", "config.kubernetes.io/index")
_LOCAL = "config.kubernetes.io/local-config"
API = "policykit.io/v1alpha1"
ROLES = ("generate", "patch", "lint")
_POLICY = "Policy"
_TEXTS = ("namespace", "workload", "card", "queue", "failOn")
_NAMES = {"failOn": "fail_on"}
_FIELDS = {
    "generate": ("policy", "targets"),
    "patch": ("policy", "namespace", "workload", "card", "queue", "only"),
    "lint": ("policy", "namespace", "select", "ignore", "failOn", "complete"),
}
_HINT = "run this command through kustomize; see `policykit krm --help`"


class ResourceList(NamedTuple):
    """The input of a function."""

    text: str
    data: Mapping[str, Any]
    items: tuple[Mapping[str, Any], ...]
    config: Mapping[str, Any]
    """The functionConfig; empty if there is none."""


def read(raw: bytes) -> ResourceList:
    """Reads a ResourceList in YAML or JSON. Raises SourceError for anything else."""
    text = decode(raw)
    documents = [document for document in parse(text.text) if document.root or document.problem]
    problem = text.problem or next((document.problem for document in documents if document.problem), None)
    if problem:
        place = f"<stdin>:{problem.line + 1}:{problem.column + 1}"
        raise SourceError(f"not YAML: {problem.message}", _HINT, place)
    root = documents[0].root if len(documents) == 1 else None
    data = root.data if root else None
    if not isinstance(data, dict) or data.get("kind") != "ResourceList":
        raise SourceError("standard input is not a single ResourceList", _HINT)
    if data.get("apiVersion") not in _VERSIONS:
        raise SourceError(
            f"ResourceList has apiVersion {data.get('apiVersion')!r}", f"use {' or '.join(_VERSIONS)}"
        )
    items = [] if data.get("items") is None else data["items"]
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise SourceError("items of the ResourceList must be a list of objects", _HINT)
    config = data.get("functionConfig") or {}
    if not isinstance(config, dict):
        raise SourceError("functionConfig of the ResourceList must be an object", _HINT)
    return ResourceList(text.text, data, tuple(items), config)


class FunctionConfig(NamedTuple):
    """The configuration of one function. Empty fields follow the policy and the defaults."""

    role: str
    """generate, patch or lint."""
    policy: str = ""
    """A file relative to the current folder, or profile:NAME."""
    inline: Mapping[str, Any] = {}
    """A whole policy as data."""
    namespace: str = ""
    targets: tuple[str, ...] = ()
    workload: str = ""
    card: str = ""
    queue: str = ""
    only: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    fail_on: str = Severity.WARNING
    complete: bool = False
    """The items are complete, so rules about missing objects apply."""


def function_config(data: Mapping[str, Any], role: str = "") -> FunctionConfig:
    """Reads a functionConfig: kind Generate, Patch or Lint, or a Policy.

    `role` comes from the command line: required without a functionConfig, and must agree with
    the functionConfig if there is one; for a Policy it defaults to generate. Raises UsageError.
    """
    if not data:
        return FunctionConfig(_needed(role))
    version, kind = data.get("apiVersion"), data.get("kind")
    if version != API:
        raise UsageError(f"functionConfig has apiVersion {version!r}", f"write {API}")
    if kind == _POLICY:
        return FunctionConfig(role or "generate", inline=data)
    known = {name.capitalize(): name for name in ROLES}
    if not isinstance(kind, str) or kind not in known:
        raise UsageError(
            f"functionConfig has kind {kind!r}", _suggestion(str(kind), (*known, _POLICY), "use one of")
        )
    if role and role != known[kind]:
        raise UsageError(f"functionConfig has kind {kind}, but the argument is {role}", "remove one of them")
    spec = data.get("spec")
    if spec is not None and not isinstance(spec, dict):
        raise UsageError(
            "spec of the functionConfig is not a mapping", "use `spec: {policy: policykit.yaml}`"
        )
    return _read(known[kind], spec or {})


def with_items(given: ResourceList, added: Iterable[Mapping[str, Any]]) -> str:
    """The list with more objects, which replace those of the same name."""
    items = list(given.items)
    places = {_identity(item): place for place, item in reversed([*enumerate(items)])}
    for item in added:
        place = places.setdefault(_identity(item), len(items))
        if place < len(items):
            items[place] = _annotated(item, _annotations(items[place]))
        else:
            items.append(item)
    return dump({**given.data, "items": items})


def with_results(text: str, given: ResourceList, results: list[dict[str, Any]]) -> str:
    """The list's text with results appended to the existing ones; all other bytes are unchanged."""
    if not results:
        return text
    there = given.data.get("results")
    whole = [*there, *results] if isinstance(there, list) else results
    return apply(text, [Patch("add", ("results",), whole)])


def result(finding: Finding, item: Mapping[str, Any]) -> dict[str, Any]:
    """A finding about an item as an entry of `results`."""
    found: dict[str, Any] = {
        "message": f"{finding.code} {finding.message} [{finding.name}]",
        "severity": finding.severity.value,
        "resourceRef": _reference(item),
    }
    path = _steps(finding.pointer, item)
    if path:
        found["field"] = {"path": dotted(path)}
        value = lookup(item, path)
        if value is not None and not isinstance(value, (dict, list)):
            found["field"]["currentValue"] = value
    if path_of(item):
        found["file"] = {"path": path_of(item), "index": _index(item)}
    found["tags"] = {"code": finding.code, "rule": finding.name}
    if finding.help:
        found["tags"]["help"] = finding.help
    return found


def path_of(item: Mapping[str, Any]) -> str:
    """The file an item comes from, according to its annotations; empty if unknown."""
    # Kustomize makes up a path from kind and name where it knows none; this one is real.
    path = origin_of(item).get("path")
    if isinstance(path, str):
        return path
    annotations = _annotations(item)
    return next((annotations[key] for key in _PATHS if isinstance(annotations.get(key), str)), "")


def local(item: Mapping[str, Any]) -> bool:
    """Whether an item only configures tools and is not applied."""
    return _annotations(item).get(_LOCAL) == "true"


def object_name(item: Mapping[str, Any]) -> str:
    """`Job/train`; `Job` without a name."""
    kind, name = item.get("kind"), lookup(item, ("metadata", "name"))
    return "/".join(part for part in (kind, name) if isinstance(part, str)) or "an object"


def _steps(pointer: str, data: object) -> Path:
    """The path of a JSON pointer in `data`, which decides whether a number is an index or a key."""
    path: Path = ()
    for part in pointer.split("/")[1:]:
        step = part.replace("~1", "/").replace("~0", "~")
        index = digits(step) if isinstance(lookup(data, path), list) else None
        path = (*path, step if index is None else index)
    return path


def _index(item: Mapping[str, Any]) -> int:
    annotations = _annotations(item)
    written = next((str(annotations[key]) for key in _INDICES if key in annotations), "0")
    return digits(written) or 0


def _annotations(item: Mapping[str, Any]) -> Mapping[str, Any]:
    found = lookup(item, ("metadata", "annotations"))
    return found if isinstance(found, dict) else {}


def _annotated(item: Mapping[str, Any], annotations: Mapping[str, Any]) -> dict[str, Any]:
    metadata = {**item["metadata"], "annotations": {**annotations, **_annotations(item)}}
    return {**item, "metadata": metadata}


def _identity(item: Mapping[str, Any]) -> tuple[str, ...]:
    """The value if it is text, else empty."""
    places = (("apiVersion",), ("kind",), ("metadata", "namespace"), ("metadata", "name"))
    return tuple(part if isinstance(part := lookup(item, place), str) else "" for place in places)


def _reference(item: Mapping[str, Any]) -> dict[str, Any]:
    parts = zip(("apiVersion", "kind", "namespace", "name"), _identity(item), strict=True)
    return {field: part for field, part in parts if part}


def _needed(role: str) -> str:
    if not role:
        raise UsageError("the ResourceList has no functionConfig", f"pass one of: {', '.join(ROLES)}")
    return role


def _read(role: str, spec: Mapping[str, Any]) -> FunctionConfig:
    for field, value in spec.items():
        if field not in _FIELDS[role]:
            known = _FIELDS[role]
            raise UsageError(
                f"{role.capitalize()} has no field spec.{field}", _suggestion(field, known, "it has")
            )
        _check(field, value)
    config = FunctionConfig(role)
    fields: dict[str, Any] = {_NAMES.get(field, field): _frozen(value) for field, value in spec.items()}
    if isinstance(fields.get("policy"), dict):
        fields["inline"] = fields.pop("policy")
    return config._replace(**fields)


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _check(field: str, value: object) -> None:
    if field == "policy":
        right, wanted = isinstance(value, (str, dict)), "a file, profile:NAME, or a policy"
    elif field == "complete":
        right, wanted = isinstance(value, bool), "true or false"
    elif field == "failOn":
        levels = [severity.value for severity in Severity]
        right, wanted = value in levels, ", ".join(levels)
    elif field in _TEXTS:
        right, wanted = isinstance(value, str), "a string"
    else:
        right = isinstance(value, list) and all(isinstance(one, str) for one in value)
        wanted = "a list of strings"
    if not right:
        raise UsageError(f"spec.{field} of the functionConfig is {value!r}", f"write {wanted}")


def _suggestion(word: str, known: tuple[str, ...], otherwise: str) -> str:
    near = nearest(word, known)
    return f"did you mean {near}?" if near else f"{otherwise} {', '.join(known)}"
