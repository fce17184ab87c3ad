"""Entries of YuniKorn's ConfigMaps: settings nobody reads, values that are none, queues under another key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from policykit.kube.structure.scalars import is_placeholder
from policykit.manifests.parser import parse
from policykit.model.severity import Severity
from policykit.targets.release import Version
from policykit.targets.yunikorn import validator
from policykit.targets.yunikorn.checks.problem import Problem
from policykit.targets.yunikorn.configuration import configmap, packed, settings, shape
from policykit.targets.yunikorn.text import CONFIGURATION

_YAML = ".yaml"


class Group(NamedTuple):
    """Which configuration counts among those of a map."""

    name: str
    sure: bool
    """No other map has the last word."""

    @property
    def key(self) -> str:
        return f"{self.name}{_YAML}"


def group(data: Mapping[str, Any], policy_group: str, last: bool) -> Group:
    """`policy_group` is the policy's, empty without one; `last`: no other map wins over this one."""
    stated = isinstance(data.get(configmap.POLICY_GROUP), str)
    sure = bool(policy_group) or (stated and last)
    return Group(configmap.policy_group(data) if stated else policy_group or "queues", sure)


def problems(data: Mapping[str, Any], version: Version | None, group: Group) -> Iterator[Problem]:
    """Paths start at the map of entries."""
    for key, value in data.items():
        text = shape.text(value)
        if not isinstance(key, str) or not key or isinstance(value, (dict, list)) or is_placeholder(key):
            continue
        if holds_queues(text):
            yield from _queues(key, text, group)
        elif not key.endswith(_YAML) and not is_placeholder(text):
            yield from _setting(key, text, version)


def holds_queues(text: str) -> bool:
    """Whether a text is a queue configuration."""
    if "partitions" not in text:
        return False
    document = next(iter(parse(text)), None)
    return document is not None and document.root is not None and CONFIGURATION.is_it(document.root.data)


def _setting(key: str, text: str, version: Version | None) -> Iterator[Problem]:
    wrong = settings.unread(key, text, version)
    if not wrong:
        return
    known = settings.KNOWN.get(key)
    bad_value = known is not None and not known.takes(text)
    if bad_value and settings.stops(key):
        advice = "correct it: the scheduler takes up none of the settings, and does not start"
        yield Problem((key,), "setting", f"{key} {wrong}", advice, Severity.ERROR)
    elif bad_value:
        advice = "correct it: YuniKorn uses the default instead"
        yield Problem((key,), "setting", f"{key} {wrong}", advice, Severity.WARNING)
    else:
        yield Problem(
            (key,), "setting", f"{key} {wrong}", "delete it or correct it", Severity.WARNING, key=True
        )


def _queues(key: str, text: str, group: Group) -> Iterator[Problem]:
    if key != group.key:
        sure = group.sure or not key.endswith(_YAML)
        yield Problem(
            (key,),
            "queues-key",
            f"queues stand under {key}, and the scheduler reads {group.key}",
            f"rename the key; with {configmap.POLICY_GROUP} another name before .yaml is read",
            None if sure else Severity.WARNING,
            key=True,
        )
    if "\n---" in text and sum(each.root is not None for each in parse(text)) > 1:
        message = f"{key} holds several documents, of which the scheduler reads the first alone"
        yield Problem(
            (key,), "queues-documents", message, "put everything into one document", Severity.WARNING
        )


def binary(
    data: Mapping[str, Any], binary_data: Mapping[str, Any], version: Version, group: Group
) -> Iterator[Problem]:
    """Paths start at the ConfigMap. Of packed queues only those that count are looked into."""
    for key, text in binary_data.items():
        if not isinstance(key, str) or not isinstance(text, str) or not key.endswith(packed.SUFFIX):
            continue
        name, where = key.removesuffix(packed.SUFFIX), ("binaryData", key)
        if name in data:
            message = f"{name} is ignored: {key} in binaryData stands for the same and wins"
            advice = "keep one of the two"
            yield Problem(("data", name), "queues-twice", message, advice, Severity.WARNING, key=True)
        if is_placeholder(text) or name != group.key:
            continue
        unpacked = packed.unpack(text)
        if unpacked is None:
            advice = "write the output of `gzip | base64`"
            yield Problem(where, "queues-packed", f"{key} is not gzip in base64", advice)
            continue
        document = next(iter(parse(unpacked)), None)
        root = document.root if document is not None else None
        refused = validator.problems(root.data, version) if root is not None else ()
        if refused:
            message = f"the configuration in {key} is refused: {refused[0].message}"
            yield Problem(where, "queues-packed", message, refused[0].help)
