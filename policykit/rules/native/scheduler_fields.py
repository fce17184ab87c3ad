"""Unknown fields of a scheduler configuration, and values of a wrong type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.structure.problem import conversion_hint, described, expected
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.path import Path, dotted
from policykit.manifests.shape import text
from policykit.nearest import nearest
from policykit.targets.kubernetes.scheduler.fields import ARGS, CONFIGURATION, GROUP, VERSIONS, Spec

_HEAD: Spec = {"apiVersion": str, "kind": str}
_WORDS: Mapping[type, str] = {str: "string", int: "integer", bool: "boolean"}


def faults(data: Mapping[str, Any], own: frozenset[str] = frozenset()) -> Iterator[Violation]:
    """`own`: plugins built into the scheduler, whose args have other fields."""
    group, _, version = text(data.get("apiVersion")).partition("/")
    if group != GROUP or version not in VERSIONS:
        return
    yield from _against(CONFIGURATION, data, (), "a scheduler configuration")
    profiles = data.get("profiles")
    for position, profile in enumerate(profiles if isinstance(profiles, list) else ()):
        configs = profile.get("pluginConfig") if isinstance(profile, Mapping) else None
        for number, config in enumerate(configs if isinstance(configs, list) else ()):
            name = text(config.get("name")) if isinstance(config, Mapping) else ""
            if name in ARGS and name not in own:
                path: Path = ("profiles", position, "pluginConfig", number, "args")
                yield from _against({**_HEAD, **ARGS[name]}, config.get("args"), path, f"the args of {name}")


def misspelt(data: Mapping[str, Any], field: str) -> bool:
    """Whether a map without a field has a misspelling of it, which is reported by itself."""
    return field not in data and any(nearest(str(key), (field,)) for key in data)


def _against(spec: Spec, value: object, path: Path, where: str) -> Iterator[Violation]:
    if value is None or spec is object or is_placeholder(value):
        return
    if isinstance(spec, dict):
        if not isinstance(value, Mapping):
            yield _mistyped("object", value, path)
            return
        yield from _fields(spec, value, path, where)
    elif isinstance(spec, list):
        if not isinstance(value, list):
            yield _mistyped("array", value, path)
            return
        for position, item in enumerate(value):
            yield from _against(spec[0], item, (*path, position), where)
    elif type(value) is not spec and not (spec is int and type(value) is float and value.is_integer()):
        yield _mistyped(_WORDS[spec], value, path)


def _fields(
    spec: Mapping[str, Spec], value: Mapping[str, Any], path: Path, where: str
) -> Iterator[Violation]:
    for key, inner in value.items():
        if key in spec:
            yield from _against(spec[key], inner, (*path, key), where)
        elif not is_placeholder(key):
            near = nearest(str(key), tuple(sorted(spec)))
            yield Violation(
                (*path, key),
                f"unknown field {key} in {where}: the scheduler does not start",
                f"did you mean {near}?" if near else f"delete it; {where} has {', '.join(sorted(spec))}",
                key=True,
            )


def _mistyped(kind: str, value: object, path: Path) -> Violation:
    name = path[-1] if isinstance(path[-1], str) else dotted(path)
    return Violation(
        path,
        f"{name} must be {expected(kind)}, but is {described(value)}: the scheduler does not start",
        conversion_hint(kind, value) or f"write {expected(kind)}",
    )
