"""Strict decoding: the known keys and their types (core config.go, 1.9)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from policykit.manifests.path import Path, dotted
from policykit.manifests.problem import Problem
from policykit.model.release import Version
from policykit.nearest import nearest
from policykit.targets.yunikorn import versions
from policykit.targets.yunikorn.configuration.values import flag
from policykit.targets.yunikorn.validation.problem import problem

Check = Callable[[object, Path, Version], Iterator[Problem]]
RULE = "decoding"
_LIKENESS = 0.75


def problems(data: object, version: Version) -> Iterator[Problem]:
    """Every unknown key and every value of the wrong type. An empty file is valid."""
    if data is not None:
        yield from _document(data, (), version)


def _keys(
    checks: Mapping[str, Check],
    since: Mapping[str, Version] | None = None,
    gone: Mapping[str, Version] | None = None,
) -> Check:
    def check(data: object, path: Path, version: Version) -> Iterator[Problem]:
        if data is None:
            return
        if not isinstance(data, dict):
            yield _wrong(path, "a map", data)
            return
        for key, value in data.items():
            here = (*path, key if isinstance(key, int) else str(key))
            known = checks.get(key) if isinstance(key, str) else None
            if known is None:
                near = nearest(str(key).lower(), tuple(checks), _LIKENESS)
                hint = f": did you mean {near}?" if near else ""
                yield problem(here, RULE, f"unknown key {dotted(here)}{hint}", key=True)
            elif since and key in since and version < since[key]:
                yield problem(here, RULE, f"{dotted(here)} requires YuniKorn {since[key]} or later", key=True)
            elif gone and key in gone and version >= gone[key]:
                yield problem(here, RULE, f"{dotted(here)} was removed in YuniKorn {gone[key]}", key=True)
            else:
                yield from known(value, here, version)

    return check


def _list(one: Check) -> Check:
    def check(data: object, path: Path, version: Version) -> Iterator[Problem]:
        if data is not None and not isinstance(data, list):
            yield _wrong(path, "a list", data)
        for number, item in enumerate(data if isinstance(data, list) else ()):
            yield from one(item, (*path, number), version)

    return check


def _map_of(one: Check) -> Check:
    def check(data: object, path: Path, version: Version) -> Iterator[Problem]:
        if data is not None and not isinstance(data, dict):
            yield _wrong(path, "a map", data)
        for key, value in data.items() if isinstance(data, dict) else ():
            yield from one(value, (*path, str(key)), version)

    return check


def _text(data: object, path: Path, version: Version) -> Iterator[Problem]:
    if isinstance(data, (Mapping, list)):
        yield _wrong(path, "a string", data)


def _flag(data: object, path: Path, version: Version) -> Iterator[Problem]:
    if data is not None and flag(data) is None:
        yield _wrong(path, "true or false", data)


def _count(data: object, path: Path, version: Version) -> Iterator[Problem]:
    number = isinstance(data, (int, float)) and not isinstance(data, bool) and 0 <= data < 1 << 64
    if data is not None and not number:
        yield _wrong(path, "a whole number of 0 or more, unquoted", data)


def _weight(data: object, path: Path, version: Version) -> Iterator[Problem]:
    if data is not None and (isinstance(data, bool) or not isinstance(data, (int, float))):
        yield _wrong(path, "an unquoted number", data)


def _wrong(path: Path, wanted: str, data: object) -> Problem:
    shown = {"str": repr(data), "bool": str(data).lower(), "list": "a list"}.get(type(data).__name__)
    shown = shown or ("a map" if isinstance(data, dict) else str(data))
    return problem(path, RULE, f"{dotted(path)} must be {wanted}, not {shown}")


_texts, _names = _map_of(_text), _list(_text)
_RESOURCES = _keys({"guaranteed": _texts, "max": _texts})
_LIMIT = _keys(
    {"limit": _text, "users": _names, "groups": _names, "maxresources": _texts, "maxapplications": _count}
)
_TEMPLATE = _keys({"maxapplications": _count, "properties": _texts, "resources": _RESOURCES})
_FILTER = _keys({"type": _text, "users": _names, "groups": _names})


def _queue(data: object, path: Path, version: Version) -> Iterator[Problem]:
    yield from _QUEUE(data, path, version)


def _rule(data: object, path: Path, version: Version) -> Iterator[Problem]:
    yield from _RULE(data, path, version)


_QUEUE = _keys(
    {
        "name": _text,
        "parent": _flag,
        "queues": _list(_queue),
        "resources": _RESOURCES,
        "maxapplications": _count,
        "properties": _texts,
        "adminacl": _text,
        "submitacl": _text,
        "childtemplate": _TEMPLATE,
        "limits": _list(_LIMIT),
    }
)
_RULE = _keys({"name": _text, "create": _flag, "filter": _FILTER, "parent": _rule, "value": _text})
_PREEMPTION = _keys(
    {"enabled": _flag, "quotapreemptionenabled": _flag},
    {"quotapreemptionenabled": versions.QUOTA_PREEMPTION},
)
_PARTITION = _keys(
    {
        "name": _text,
        "queues": _list(_queue),
        "placementrules": _list(_rule),
        "limits": _list(_LIMIT),
        "preemption": _PREEMPTION,
        "nodesortpolicy": _keys({"type": _text, "resourceweights": _map_of(_weight)}),
        "usergroupresolver": _keys({"type": _text}),
        "statedumpfilepath": _text,
    },
    {"usergroupresolver": versions.GROUP_RESOLVER},
    {"statedumpfilepath": versions.STATE_DUMP_ENDS},
)
_document: Any = _keys({"partitions": _list(_PARTITION), "checksum": _text})
