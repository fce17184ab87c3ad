"""Fields of a scheduler configuration and of the args of its plugins: unknown ones and wrong types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.placeholders import is_placeholder
from policykit.kube.structure.problem import conversion_hint, described, expected
from policykit.linter.rule import Violation
from policykit.manifests.path import Path, dotted
from policykit.manifests.shape import mapping, text
from policykit.model.severity import Severity
from policykit.nearest import nearest
from policykit.targets.kubernetes.scheduler.fields import (
    ARGS,
    ARGS_SINCE,
    CONFIGURATION,
    GROUP,
    NOT_IN,
    SINCE,
    VERSIONS,
    Spec,
)

_HEAD: Spec = {"apiVersion": str, "kind": str}
_WORDS: Mapping[type, str] = {str: "string", int: "integer", bool: "boolean"}


def field_violations(
    data: Mapping[str, Any], own: frozenset[str] = frozenset(), minor: int | None = None
) -> Iterator[Violation]:
    """`own`: plugins built into the scheduler, whose args have other fields; `minor`: of the stated release
    of Kubernetes."""
    group, _, version = text(data.get("apiVersion")).partition("/")
    if group != GROUP or version not in VERSIONS:
        return
    yield from _untimely(data, version, minor)
    yield from against(CONFIGURATION, data, (), "a scheduler configuration")
    profiles = data.get("profiles")
    for position, profile in enumerate(profiles if isinstance(profiles, list) else ()):
        configs = profile.get("pluginConfig") if isinstance(profile, dict) else None
        for number, config in enumerate(configs if isinstance(configs, list) else ()):
            name = text(config.get("name")) if isinstance(config, dict) else ""
            if name in ARGS and name not in own:
                path: Path = ("profiles", position, "pluginConfig", number, "args")
                yield from against({**_HEAD, **ARGS[name]}, config.get("args"), path, f"the args of {name}")


def _untimely(data: Mapping[str, Any], version: str, minor: int | None) -> Iterator[Violation]:
    """Fields that the version of the configuration or the stated release does not have."""
    for field, versions in NOT_IN.items():
        if field in data and version in versions:
            message = f"{field} is not a field of {version}: the scheduler does not start"
            advice = "delete it" if "v1" in versions else f"write {GROUP}/v1, or delete it"
            yield Violation((field,), message, advice, key=True)
    profiles = data.get("profiles")
    for position, profile in enumerate(profiles if isinstance(profiles, list) else ()):
        base: Path = ("profiles", position)
        plugins = mapping(mapping(profile).get("plugins"))
        yield from _newer(plugins, (*base, "plugins"), minor)
        configs = mapping(profile).get("pluginConfig")
        for number, config in enumerate(configs if isinstance(configs, list) else ()):
            path: Path = (*base, "pluginConfig", number, "args")
            name, args = text(mapping(config).get("name")), mapping(mapping(config).get("args"))
            if minor is not None and minor < ARGS_SINCE.get(name, 0):
                if args:
                    yield _unread(name, path, minor)
            elif name in ARGS:
                yield from _newer(args, path, minor)


def _unread(name: str, path: Path, minor: int) -> Violation:
    """Args of a plugin that has none in a release are skipped there, as those of plugins it does not know."""
    return Violation(
        path,
        f"kube-scheduler 1.{minor} reads no args of {name}: they are ignored",
        f"delete them; they were added in 1.{ARGS_SINCE[name]}",
        Severity.WARNING,
        key=True,
    )


def _newer(data: Mapping[str, Any], path: Path, minor: int | None) -> Iterator[Violation]:
    for field in data:
        since = SINCE.get(str(field))
        if since and minor is not None and minor < since:
            yield Violation(
                (*path, field),
                f"kube-scheduler 1.{minor} has no field {field}: the scheduler does not start",
                f"delete it; it was added in 1.{since}",
                key=True,
            )


def misspelt(data: Mapping[str, Any], field: str) -> bool:
    """Whether a map without a field has a misspelling of it, which is reported by itself."""
    return field not in data and any(nearest(str(key), (field,)) for key in data)


def against(spec: Spec, value: object, path: Path, where: str) -> Iterator[Violation]:
    """Types and unknown fields of a part of the configuration."""
    if value is None or spec is object or is_placeholder(value):
        return
    if isinstance(spec, dict):
        if not isinstance(value, dict):
            yield _mistyped("object", value, path)
            return
        yield from _fields(spec, value, path, where)
    elif isinstance(spec, list):
        if not isinstance(value, list):
            yield _mistyped("array", value, path)
            return
        for position, item in enumerate(value):
            yield from against(spec[0], item, (*path, position), where)
    elif type(value) is not spec and not (spec is int and type(value) is float and value.is_integer()):
        yield _mistyped(_WORDS[spec], value, path)


def _fields(
    spec: Mapping[str, Spec], value: Mapping[str, Any], path: Path, where: str
) -> Iterator[Violation]:
    for key, inner in value.items():
        if key in spec:
            yield from against(spec[key], inner, (*path, key), where)
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
