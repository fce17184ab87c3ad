"""Koordinator does not read its ConfigMap slo-controller-config, or a part of it.

Each key holds JSON. If that cannot be decoded, or if a value is outside its bounds, koord-manager's webhook
refuses the ConfigMap; where the webhook does not run, the former configuration stays in force, and after a
restart the default one, with which nodes offer no batch resources. Fields at the wrong level are ignored.
Strategies of nodes select them by labels, and a node by two of them has the first.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.placeholders import is_filled_in
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, pairs
from policykit.model.severity import Severity
from policykit.nearest import nearest
from policykit.targets.koordinator.names import SLO_CONFIGURATIONS

BAD = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: slo-controller-config
  namespace: koordinator-system
data:
  colocation-config: |
    {"enable": "true", "cpuReclaimThresholdPercent": 60}
"""

GOOD = BAD.replace('"true"', "true")

_WHOLE, _DECIMAL, _BOOLEAN, _OTHER = "a whole number", "a number", "true or false", ""
_Field = tuple[str, float | None, float | None]
"""Type, and bounds; None: there is none."""


def _integer(low: float = 0, high: float | None = 100) -> _Field:
    return (_WHOLE, low, high)


_COLOCATION: Mapping[str, _Field] = {
    "enable": (_BOOLEAN, None, None),
    "metricAggregateDurationSeconds": _integer(1, None),
    "metricReportIntervalSeconds": _integer(1, None),
    "metricAggregatePolicy": (_OTHER, None, None),
    "metricMemoryCollectPolicy": (_OTHER, None, None),
    "cpuReclaimThresholdPercent": _integer(0, None),
    "cpuCalculatePolicy": (_OTHER, None, None),
    "memoryReclaimThresholdPercent": _integer(0, None),
    "memoryCalculatePolicy": (_OTHER, None, None),
    "degradeTimeMinutes": _integer(1, None),
    "updateTimeThresholdSeconds": _integer(1, None),
    "resourceDiffThreshold": (_DECIMAL, 0, 1),
    "midReclaimMode": (_OTHER, None, None),
    "midCPUThresholdPercent": _integer(),
    "midMemoryThresholdPercent": _integer(),
    "midUnallocatedPercent": _integer(),
    "midStaticCPUReservedPercent": _integer(),
    "midStaticMemoryReservedPercent": _integer(),
    "batchCPUThresholdPercent": _integer(0, None),
    "batchMemoryThresholdPercent": _integer(0, None),
    "allocatableCPUReservedPercent": (_OTHER, None, None),
    "extensions": (_OTHER, None, None),
}
_THRESHOLD: Mapping[str, _Field] = {
    "enable": (_BOOLEAN, None, None),
    "cpuSuppressThresholdPercent": _integer(),
    "cpuSuppressMinPercent": _integer(),
    "cpuSuppressPolicy": (_OTHER, None, None),
    "memoryEvictThresholdPercent": _integer(),
    "memoryEvictLowerPercent": _integer(),
    "memoryAllocatableEvictThresholdPercent": _integer(0, None),
    "memoryAllocatableEvictLowerPercent": _integer(0, None),
    "cpuEvictBESatisfactionUpperPercent": _integer(),
    "cpuEvictBESatisfactionLowerPercent": _integer(),
    "cpuEvictBEUsageThresholdPercent": _integer(),
    "cpuEvictTimeWindowSeconds": _integer(1, None),
    "cpuEvictThresholdPercent": _integer(),
    "cpuEvictLowerPercent": _integer(),
    "cpuAllocatableEvictThresholdPercent": _integer(0, None),
    "cpuAllocatableEvictLowerPercent": _integer(0, None),
    "cpuEvictPolicy": (_OTHER, None, None),
    "evictEnabledPriorityThreshold": (_WHOLE, None, None),
    "allocatableEvictPriorityThreshold": _integer(0, 7999),
}
_BURST: Mapping[str, _Field] = {
    "policy": (_OTHER, None, None),
    "cpuBurstPercent": _integer(1, 10000),
    "cfsQuotaBurstPercent": _integer(100, None),
    "cfsQuotaBurstPeriodSeconds": _integer(-1, None),
    "sharePoolThresholdPercent": _integer(),
}
_SYSTEM: Mapping[str, _Field] = {
    "minFreeKbytesFactor": _integer(1, None),
    "watermarkScaleFactor": _integer(1, 400),
    "memcgReapBackGround": _integer(0, 1),
    "totalNetworkBandwidth": (_OTHER, None, None),
    "schedGroupIdentityEnabled": (_WHOLE, None, None),
    "schedIdleSaverWmark": (_WHOLE, None, None),
    "schedFeatures": (_OTHER, None, None),
    "pageCacheLimitEnabled": _integer(0, 1),
}
_QOS: Mapping[str, _Field] = {
    "enable": (_BOOLEAN, None, None),
    "groupIdentity": _integer(-1, 2),
    "schedIdle": _integer(0, 1),
    "coreExpeller": (_BOOLEAN, None, None),
    "minLimitPercent": _integer(),
    "lowLimitPercent": _integer(),
    "throttlingPercent": _integer(),
    "wmarkRatio": _integer(),
    "wmarkScalePermill": _integer(1, 1000),
    "wmarkMinAdj": _integer(-25, 50),
    "priorityEnable": _integer(0, 1),
    "priority": _integer(0, 12),
    "oomKillGroup": _integer(0, 1),
    "catRangeStartPercent": _integer(),
    "catRangeEndPercent": _integer(),
    "mbaPercent": _integer(),
}
"""Of each part of a class; others are not judged."""
_CLASSES = ("lsrClass", "lsClass", "beClass", "systemClass", "cgroupRoot")
_PARTS = ("cpuQOS", "memoryQOS", "blkioQOS", "resctrlQOS", "networkQOS")
_OF_NODES = ("name", "nodeSelector")
_CLUSTER, _NODES = "clusterStrategy", "nodeStrategies"
_STRATEGIES: Mapping[str, Mapping[str, _Field]] = {
    "resource-threshold-config": _THRESHOLD,
    "cpu-burst-config": _BURST,
    "system-config": _SYSTEM,
}


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Sources: `apis/configuration`, `apis/slo/v1alpha1/nodeslo_types.go`, `pkg/webhook/cm` (1.4 to 1.8).

    Go finds fields whatever the case of their letters.
    """
    if manifest.kind == "ConfigMap":
        yield from _unread(manifest)
        return
    name = str(manifest.read_as).partition(" ")[0]
    problem = _not_json(manifest)
    if problem:
        yield problem
        return
    data = manifest.data
    if name == "colocation-config":
        yield from _wrapped(data)
        yield from _strategy(data, (), _COLOCATION, ("nodeConfigs",))
        yield from _selected(data.get("nodeConfigs"), ("nodeConfigs",))
        for position, each in _items(data.get("nodeConfigs")):
            yield from _strategy(each, ("nodeConfigs", position), _COLOCATION, _OF_NODES)
    elif name == "resource-qos-config":
        yield from _selected(data.get(_NODES), (_NODES,))
        yield from _levels(data, (*_CLASSES, "policies"))
        yield from _classes(mapping(data.get(_CLUSTER)), (_CLUSTER,), ())
        for position, each in _items(data.get(_NODES)):
            yield from _classes(each, (_NODES, position), _OF_NODES)
    elif name in _STRATEGIES:
        fields = _STRATEGIES[name]
        yield from _selected(data.get(_NODES), (_NODES,))
        yield from _levels(data, tuple(fields))
        yield from _strategy(mapping(data.get(_CLUSTER)), (_CLUSTER,), fields, ())
        for position, each in _items(data.get(_NODES)):
            yield from _strategy(each, (_NODES, position), fields, _OF_NODES)


_MAP = "slo-controller-config"
_END = "-config"
_KEYS = (
    *(each.partition(" ")[0] for each in SLO_CONFIGURATIONS),
    *("host-application-config", "cpu-normalization-config", "resource-amplification-config"),
)
"""Source: `apis/configuration/slo_controller_config.go` (1.8)."""


def _unread(manifest: Manifest) -> Iterator[Violation]:
    """Keys that are nearly one of those that Koordinator reads."""
    for key in mapping(manifest.data.get("data")) if manifest.name == _MAP and not manifest.group else ():
        meant = f"{key}{_END}" if f"{key}{_END}" in _KEYS else nearest(str(key), _KEYS, _LIKENESS)
        if meant and key not in _KEYS:
            message = f"Koordinator does not read {key} of {_MAP}"
            yield Violation(("data", key), message, f"did you mean {meant}?", Severity.WARNING, key=True)


_LIKENESS = 0.85
_SELECTOR, _LABELS, _EXPRESSIONS = "nodeSelector", "matchLabels", "matchExpressions"


_IF_CHECKED = "koord-manager's webhook refuses that where gate ConfigMapValidatingWebhook is on"
"""It is off by default: then the first strategy that selects a node is that of the node."""


def _selected(listed: object, base: Path) -> Iterator[Violation]:
    """Each selects nodes, and none of them those of another.

    Selectors by labels alone are compared: the nodes of the longer one are also those of the shorter.
    Sources: `nodeConfigProfileChecker`, `getResourceThresholdSpec`, `GetNodeColocationStrategy` (1.3 to 1.8).
    """
    seen: list[tuple[int, dict[str, str]]] = []
    for position, each in _items(listed):
        selector, path = mapping(each.get(_SELECTOR)), (*base, position, _SELECTOR)
        wanted, others = pairs(selector.get(_LABELS)), selector.get(_EXPRESSIONS)
        if each.get(_SELECTOR) is None:
            message = "the strategy has no nodeSelector: it is that of no node"
            yield Violation((*base, position), message, "select its nodes by labels", key=True)
            continue
        if not selector.get(_LABELS) and not others:
            message = f"the strategy selects every node: {_IF_CHECKED}"
            yield Violation(path, message, "select its nodes by labels", Severity.WARNING, key=True)
            continue
        if others or any(is_filled_in(word) for pair in wanted.items() for word in pair):
            continue
        for number, before in seen:
            first, severity = f"{base[0]}[{number}]", None
            if before.items() <= wanted.items():
                message = (
                    f"the strategy selects nodes of {first} alone, which is before it: it is that of no node"
                )
            elif wanted.items() <= before.items():
                message, severity = (
                    f"the strategy selects nodes of {first} too: {_IF_CHECKED}",
                    Severity.WARNING,
                )
            else:
                continue
            yield Violation(path, message, "select other nodes: a node has one strategy", severity, key=True)
            break
        seen.append((position, wanted))


def _not_json(manifest: Manifest) -> Violation | None:
    """YAML takes more than JSON does: comments, words without quotes, a comma at the end."""
    text = lookup(manifest.holder.data, manifest.held_at) if manifest.holder is not None else None
    if not isinstance(text, str) or is_filled_in(text):
        return None
    try:
        json.loads(text)
    except json.JSONDecodeError as problem:
        return Violation(
            (),
            f"it is not JSON (line {problem.lineno}, column {problem.colno}: {problem.msg}): Koordinator "
            "reads none of it",
            "correct it: names and texts in double quotes, no comment, and no comma at the end",
        )
    return None


def _wrapped(data: Mapping[str, Any]) -> Iterator[Violation]:
    """The levels that the other keys have."""
    for key, advice in ((_CLUSTER, "move its fields to the top"), (_NODES, "write nodeConfigs")):
        if key in data:
            message = f"Koordinator does not read {key} in colocation-config"
            yield Violation((key,), message, advice, Severity.WARNING, key=True)


def _levels(data: Mapping[str, Any], fields: tuple[str, ...]) -> Iterator[Violation]:
    """What belongs below clusterStrategy, at the top."""
    for key in data:
        if key in (_CLUSTER, _NODES):
            continue
        near = nearest(key, (_CLUSTER, _NODES))
        if _named(key, fields):
            message, advice = f"Koordinator does not read {key} here", f"move it below {_CLUSTER}"
        elif near:
            message, advice = f"Koordinator does not read {key}", f"did you mean {near}?"
        else:
            continue
        yield Violation((key,), message, advice, Severity.WARNING, key=True)


def _classes(strategy: Mapping[str, Any], base: Path, more: tuple[str, ...]) -> Iterator[Violation]:
    yield from _misspelt(strategy, base, (*_CLASSES, "policies", *more))
    for name in _CLASSES:
        of_class = mapping(strategy.get(name))
        yield from _misspelt(of_class, (*base, name), _PARTS)
        for part in ("cpuQOS", "memoryQOS", "resctrlQOS"):
            yield from _values(mapping(of_class.get(part)), (*base, name, part), _QOS)


def _strategy(
    data: Mapping[str, Any], base: Path, fields: Mapping[str, _Field], more: tuple[str, ...]
) -> Iterator[Violation]:
    yield from _misspelt(data, base, (*fields, *more))
    yield from _values(data, base, fields)


def _misspelt(data: Mapping[str, Any], base: Path, known: tuple[str, ...]) -> Iterator[Violation]:
    for key in data:
        likely = "" if _named(key, known) else nearest(key, known)
        if likely and likely not in data:
            yield Violation(
                (*base, key),
                f"Koordinator does not read {key}",
                f"did you mean {likely}?",
                Severity.WARNING,
                key=True,
            )


def _named(key: object, known: tuple[str, ...]) -> bool:
    return isinstance(key, str) and key.lower() in {each.lower() for each in known}


def _values(data: Mapping[str, Any], base: Path, fields: Mapping[str, _Field]) -> Iterator[Violation]:
    for key, value in data.items():
        kind, low, high = fields.get(key, (_OTHER, None, None))
        if kind == _OTHER or value is None or (isinstance(value, str) and is_filled_in(value)):
            continue
        number = not isinstance(value, bool) and isinstance(value, int if kind == _WHOLE else int | float)
        if not (isinstance(value, bool) if kind == _BOOLEAN else number):
            yield Violation(
                (*base, key),
                f"{key} is {json.dumps(value)}, but must be {kind}: Koordinator reads none of it",
                "write it without quotes" if isinstance(value, str) else f"write {kind}",
            )
        elif (low is not None and value < low) or (high is not None and value > high):
            bounds = f"{low:g} or more" if high is None else f"{low:g} to {high:g}"
            yield Violation((*base, key), f"{key} is {value}, but must be {bounds}", f"write {bounds}")
    for upper, lower in _ORDERED:
        most, least = data.get(upper), data.get(lower)
        if isinstance(most, int) and isinstance(least, int) and most <= least:
            yield Violation(
                (*base, lower), f"{lower} is {least}, not below {upper} {most}", f"lower it, or raise {upper}"
            )


_ORDERED = (
    ("memoryEvictThresholdPercent", "memoryEvictLowerPercent"),
    ("memoryAllocatableEvictThresholdPercent", "memoryAllocatableEvictLowerPercent"),
    ("cpuEvictBESatisfactionUpperPercent", "cpuEvictBESatisfactionLowerPercent"),
    ("cpuEvictThresholdPercent", "cpuEvictLowerPercent"),
    ("cpuAllocatableEvictThresholdPercent", "cpuAllocatableEvictLowerPercent"),
    ("catRangeEndPercent", "catRangeStartPercent"),
)
"""The second must be below the first."""


def _items(listed: object) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for position, each in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(each, dict):
            yield position, each


RULE = Rule(
    code="PK615",
    name="invalid-slo-config",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"ConfigMap", *SLO_CONFIGURATIONS}),
)
