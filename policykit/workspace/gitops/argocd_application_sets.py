"""ApplicationSets of Argo CD: their generators, and the templates that these fill."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from policykit.workspace.gitops.sources import Repository, TargetCluster, UnreadableError
from policykit.workspace.remotes import normalised

Parameters = Mapping[str, Any]
"""Values from a generator, as a tree. Without goTemplate, names with dots are paths in it."""

_EXPRESSION = re.compile(r"\{\{(-?)([^{}]*?)(-?)\}\}")
_FIELDS = re.compile(r"(?:\.[A-Za-z_][A-Za-z0-9_]*)+")
_INDEX = re.compile(r'index\s+((?:\.[A-Za-z_][A-Za-z0-9_]*)+|\.)((?:\s+(?:"[^"\\]*"|\d{1,9}))+)')
_STEP = re.compile(r'"([^"\\]*)"|(\d+)')
_SEGMENT = re.compile(r"path\[(\d{1,9})\]")


def filled(template: Any, parameters: Parameters, *, go: bool) -> Any:
    """A template with the values of one set of parameters. Raises UnreadableError for an expression that is
    not just a value, and for an unknown value.
    """
    if isinstance(template, str):
        return _text(template, parameters, go=go)
    if isinstance(template, dict):
        return {
            filled(key, parameters, go=go): filled(value, parameters, go=go)
            for key, value in template.items()
        }
    if isinstance(template, list):
        return [filled(each, parameters, go=go) for each in template]
    return template


def merged(data: Any, patch: Any) -> Any:
    """Data with a merge patch: null removes a field, lists are replaced."""
    if not isinstance(patch, dict):
        return patch
    found = dict(data) if isinstance(data, dict) else {}
    for key, value in patch.items():
        if value is None:
            found.pop(key, None)
        else:
            found[key] = merged(found.get(key), value)
    return found


def _text(text: str, parameters: Parameters, *, go: bool) -> str:
    if "{{" not in text:
        return text
    found: list[str] = []
    done = 0
    for match in _EXPRESSION.finditer(text):
        before = text[done : match.start()]
        found.append(before.rstrip() if go and match[1] else before)
        value = _go(match[2].strip(), parameters) if go else value_at(match[2].strip(), parameters)
        if value is None or isinstance(value, (dict, list)):
            raise UnreadableError(f"its template has {match[0]}, whose value is unknown")
        found.append(_written(value))
        done = match.end()
        if go and match[3]:
            done += len(text[done:]) - len(text[done:].lstrip())
    rest = text[done:]
    if go and "{{" in rest:
        raise UnreadableError(f"its template has {rest[:60]}, which is not just a value")
    return "".join((*found, rest))


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def value_at(name: str, parameters: Parameters) -> Any:
    """The value of a name such as `metadata.labels.env`, whose last part may contain dots."""
    segment = _SEGMENT.fullmatch(name)
    if segment:
        return _step(_at(parameters, ["path", "segments"]), int(segment[1]))
    here: Any = parameters
    rest = name
    while isinstance(here, Mapping):
        if rest in here:
            here = here[rest]
            return here.get("path") if rest == name == "path" and isinstance(here, Mapping) else here
        key, dot, rest = rest.partition(".")
        here = here.get(key) if dot else None
    return None


def _go(expression: str, parameters: Parameters) -> Any:
    if _FIELDS.fullmatch(expression):
        return _at(parameters, expression[1:].split("."))
    match = _INDEX.fullmatch(expression)
    if match is None:
        return None
    here = _at(parameters, [part for part in match[1].split(".") if part])
    for text, number in _STEP.findall(match[2]):
        here = _step(here, int(number) if number else text)
    return here


def _at(data: Any, path: list[str]) -> Any:
    for key in path:
        data = _step(data, key)
    return data


def _step(data: Any, step: str | int) -> Any:
    if isinstance(data, Mapping):
        return data.get(step)
    if isinstance(data, list) and isinstance(step, int) and step < len(data):
        return data[step]
    return None


_MOST = 1000
"""Most Applications of an ApplicationSet."""
_NO_NAME = re.compile(r"[^a-z0-9.-]+")


def parameters_of(spec: Mapping[str, Any], repository: Repository) -> list[Parameters]:
    """The sets of parameters of an ApplicationSet, one for each Application. Raises UnreadableError."""
    found: list[Parameters] = []
    go = bool(spec.get("goTemplate"))
    generators = spec.get("generators")
    for generator in generators if isinstance(generators, list) else ():
        found += _generated(generator, repository, go=go)
        if len(found) > _MOST:
            raise UnreadableError(f"it generates more than {_MOST} Applications")
    return found


def _generated(generator: Any, repository: Repository, *, go: bool) -> list[Parameters]:
    if not isinstance(generator, dict) or len(generator) != 1:
        names = ", ".join(sorted(generator)) if isinstance(generator, dict) else "nothing"
        raise UnreadableError(f"its generator has {names}: only one of {', '.join(_KINDS)} is read")
    ((kind, fields),) = generator.items()
    if kind in ("matrix", "merge"):
        fields = fields if isinstance(fields, dict) else {}
        _only(fields, _KINDS[kind], kind)
        return (_matrix if kind == "matrix" else _merge)(fields, repository, go=go)
    if kind not in _KINDS:
        raise UnreadableError(f"its generator {kind} needs what is not in the repository")
    fields = fields if isinstance(fields, dict) else {}
    _only(fields, _KINDS[kind], kind)
    made: Iterable[Parameters]
    if kind == "list":
        made = _listed(fields)
    elif kind == "clusters":
        made = _clusters(fields, repository)
    else:
        made = _git(fields, repository)
    return [_with_values(each, fields.get("values"), go=go) for each in made]


_KINDS = {
    "list": frozenset({"elements"}),
    "clusters": frozenset({"selector", "values", "flatList"}),
    "git": frozenset({"repoURL", "revision", "directories", "files", "values", "requeueAfterSeconds"}),
    "matrix": frozenset({"generators"}),
    "merge": frozenset({"generators", "mergeKeys"}),
}
"""Generators, and the fields that are read."""


def _only(generator: Mapping[str, Any], known: frozenset[str], kind: str) -> None:
    unknown = sorted(name for name in generator if name not in known and generator[name])
    if unknown:
        raise UnreadableError(f"its generator {kind} has {unknown[0]}, which is not read")


def _with_values(parameters: Parameters, values: Any, *, go: bool) -> Parameters:
    if not isinstance(values, dict):
        return parameters
    return {**parameters, "values": filled(values, parameters, go=go)}


def _listed(generator: Mapping[str, Any]) -> Iterator[Parameters]:
    elements = generator.get("elements")
    for each in elements if isinstance(elements, list) else ():
        if isinstance(each, dict):
            yield each


def _matrix(generator: Mapping[str, Any], repository: Repository, *, go: bool) -> list[Parameters]:
    generators = generator.get("generators")
    if not isinstance(generators, list) or len(generators) != 2:
        raise UnreadableError("its generator matrix does not have two generators")
    found: list[Parameters] = []
    for first in _generated(generators[0], repository, go=go):
        for second in _generated(filled(generators[1], first, go=go), repository, go=go):
            found.append(_merged(first, second))
            if len(found) > _MOST:
                raise UnreadableError(f"it generates more than {_MOST} Applications")
    return found


def _merge(fields: Mapping[str, Any], repository: Repository, *, go: bool) -> list[Parameters]:
    """The parameters of the first generator; others with the same values of `mergeKeys` override them."""
    generators, keys = fields.get("generators"), fields.get("mergeKeys")
    if not isinstance(generators, list) or len(generators) < 2 or not isinstance(keys, list):
        raise UnreadableError("its generator merge does not have two generators and mergeKeys")
    found: dict[tuple[str, ...], Parameters] = {}
    for number, generator in enumerate(generators):
        made: dict[tuple[str, ...], Parameters] = {}
        for each in _generated(generator, repository, go=go):
            values = tuple(repr(value_at(str(key), each)) for key in keys)
            if values in made:
                raise UnreadableError("its generator merge has two Applications with the same mergeKeys")
            made[values] = each
        if not number:
            found = made
        found |= {key: _merged(found[key], made[key]) for key in made if number and key in found}
    return [*found.values()]


def _merged(first: Parameters, second: Parameters) -> Parameters:
    merged = dict(first)
    for key, value in second.items():
        before = merged.get(key)
        both = isinstance(before, dict) and isinstance(value, dict)
        merged[key] = _merged(before, value) if both else value  # type: ignore[arg-type]
    return merged


def _clusters(generator: Mapping[str, Any], repository: Repository) -> Iterator[Parameters]:
    for cluster in repository.clusters:
        if _selects(generator.get("selector"), cluster):
            yield {
                "name": cluster.name,
                "nameNormalized": _name(cluster.name),
                "server": cluster.server or f"policy:{cluster.name}",
                "metadata": {"labels": dict(cluster.labels), "annotations": dict(cluster.annotations)},
            }


def _selects(selector: Any, cluster: TargetCluster) -> bool:
    if not isinstance(selector, dict):
        return True
    _only(selector, frozenset({"matchLabels", "matchExpressions"}), "clusters")
    labels = {"argocd.argoproj.io/secret-type": "cluster", **cluster.labels}
    wanted = selector.get("matchLabels")
    if isinstance(wanted, dict) and any(labels.get(key) != value for key, value in wanted.items()):
        return False
    expressions = selector.get("matchExpressions")
    return all(_holds(each, labels) for each in expressions) if isinstance(expressions, list) else True


def _holds(expression: Any, labels: Mapping[str, str]) -> bool:
    generator = expression if isinstance(expression, dict) else {}
    key, operator, values = generator.get("key"), generator.get("operator"), generator.get("values") or ()
    if operator in ("In", "NotIn"):
        return (labels.get(str(key)) in values) is (operator == "In")
    if operator in ("Exists", "DoesNotExist"):
        return (key in labels) is (operator == "Exists")
    raise UnreadableError(f"its selector has the operator {operator}")


def _git(generator: Mapping[str, Any], repository: Repository) -> Iterator[Parameters]:
    url = str(generator.get("repoURL", ""))
    if normalised(url) not in repository.urls:
        raise UnreadableError(f"its generator reads {url}, which is not this repository")
    if isinstance(generator.get("directories"), list):
        for path in _matching(generator["directories"], repository.folders(), _is_folder):
            if not any(part.startswith(".") for part in path.split("/")):
                yield {"path": _path(path)}
    if isinstance(generator.get("files"), list):
        for path in _matching(generator["files"], repository.files(), fnmatchcase):
            yield from _of_file(path, repository)


def _of_file(path: str, repository: Repository) -> Iterator[Parameters]:
    data = repository.data(path)
    name = posixpath.basename(path)
    about = {**_path(posixpath.dirname(path)), "filename": name, "filenameNormalized": _name(name)}
    for each in data if isinstance(data, list) else [data]:
        if not isinstance(each, dict):
            raise UnreadableError(f"its generator reads {path}, which has no fields")
        yield {**each, "path": about}


def _path(path: str) -> dict[str, Any]:
    name = posixpath.basename(path)
    return {
        "path": path,
        "basename": name,
        "basenameNormalized": _name(name),
        "segments": path.split("/") if path else [],
    }


def _matching(listed: list[Any], paths: Iterable[str], matches: Any) -> Iterator[str]:
    """Paths that an entry matches, unless another one excludes them."""
    entries = [each for each in listed if isinstance(each, dict) and isinstance(each.get("path"), str)]
    for path in paths:
        found = [bool(each.get("exclude")) for each in entries if matches(path, each["path"].strip("/"))]
        if found and not any(found):
            yield path


def _is_folder(path: str, pattern: str) -> bool:
    """Whether a folder matches: `*` is part of a single name."""
    names, patterns = path.split("/"), pattern.split("/")
    return len(names) == len(patterns) and all(map(fnmatchcase, names, patterns))


def _name(name: str) -> str:
    """A text as the name of an object, with a dash for each invalid character."""
    return _NO_NAME.sub("-", name.lower())[:253].strip("-.")
