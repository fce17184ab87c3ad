"""Args of the plugins of scheduler-plugins: types and values with which their scheduler does not start.

Fields that are not listed may be those of another release.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, numbered, text, whole
from policykit.model.severity import Severity
from policykit.nearest import nearest
from policykit.rules.kubernetes.scheduler_fields import against
from policykit.targets.kubernetes.scheduler.fields import Spec

_END = "the scheduler does not start"
_RESOURCES: Spec = [{"name": str, "weight": int}]
_TRIMARAN: Mapping[str, Spec] = {
    "metricProvider": {"type": str, "address": str, "token": str, "insecureSkipVerify": bool},
    "watcherAddress": str,
}
_PROVIDERS = ("KubernetesMetricsServer", "Prometheus", "SignalFx")
_PACKING = "TargetLoadPacking"
_FIELDS: Mapping[str, Mapping[str, Spec]] = {
    "Coscheduling": {
        "permitWaitingTimeSeconds": int,
        "podGroupBackoffSeconds": int,
        "podGroupRejectPercentage": int,
    },
    "LoadVariationRiskBalancing": _TRIMARAN,
    "LowRiskOverCommitment": {**_TRIMARAN, "smoothingWindowSize": int},
    "NetworkOverhead": {"namespaces": [str], "weightsName": str, "networkTopologyName": str},
    "NodeResourceTopologyMatch": {
        "scoringStrategy": {"type": str, "resources": _RESOURCES},
        "cacheResyncPeriodSeconds": int,
        "discardReservedNodes": bool,
    },
    "NodeResourcesAllocatable": {"mode": str, "resources": _RESOURCES},
    _PACKING: {**_TRIMARAN, "defaultRequestsMultiplier": str, "targetUtilization": int},
    "TopologicalSort": {"namespaces": [str]},
}
"""Source: `apis/config/v1/types.go` of scheduler-plugins (0.34)."""
_WORDS: Mapping[str, tuple[Path, tuple[str, ...]]] = {
    "NodeResourceTopologyMatch": (
        ("scoringStrategy", "type"),
        ("MostAllocated", "BalancedAllocation", "LeastAllocated", "LeastNUMANodes"),
    ),
    "NodeResourcesAllocatable": (("mode",), ("Least", "Most")),
}
_BOUNDS: Mapping[str, int | None] = {
    "permitWaitingTimeSeconds": None,
    "podGroupBackoffSeconds": None,
    "podGroupRejectPercentage": 100,
}
"""Of fields that may not be below 0, what they may not be above."""
PLUGINS = frozenset(_FIELDS)


def violations(name: str, args: Mapping[str, Any], base: Path) -> Iterator[Violation]:
    """Source: `apis/config/validation` and `checkSpecs` of `pkg/trimaran` (scheduler-plugins 0.34)."""
    spec = _FIELDS[name]
    listed = {key: value for key, value in args.items() if key in spec}
    wrong = list(against(spec, listed, base, f"the args of {name}"))
    yield from wrong
    if wrong:
        return
    if name in _WORDS:
        path, known = _WORDS[name]
        yield from _word(name, text(lookup(args, path)), (*base, *path), known)
    if "metricProvider" in spec and not args.get("watcherAddress"):
        provider = mapping(args.get("metricProvider"))
        yield from _word(name, text(provider.get("type")), (*base, "metricProvider", "type"), _PROVIDERS)
    for number, each in numbered(args.get("resources")) if name == "NodeResourcesAllocatable" else ():
        weight = whole(each.get("weight"))
        if weight is not None and weight <= 0:
            where = (*base, "resources", number, "weight")
            yield Violation(where, f"weight is {weight}, but must be above 0: {_END}", "write 1 or more")
    for field, most in _BOUNDS.items() if name == "Coscheduling" else ():
        value = whole(args.get(field))
        if value is not None and (value < 0 or (most is not None and value > most)):
            bounds = "0 or more" if most is None else f"from 0 to {most}"
            yield Violation((*base, field), f"{field} is {value}: {_END}", f"write a number, {bounds}")
    percent = whole(args.get("targetUtilization")) if name == _PACKING else None
    if percent is not None and not 0 < percent <= 100:
        yield Violation(
            (*base, "targetUtilization"),
            f"targetUtilization is {percent}, but it is a percentage: the scores of nodes become meaningless",
            "write a number from 1 to 100",
            Severity.WARNING,
        )


def _word(plugin: str, value: str, path: Path, known: tuple[str, ...]) -> Iterator[Violation]:
    if value and value not in known and not is_placeholder(value):
        near = nearest(value, known)
        advice = f"did you mean {near}?" if near else f"write {' or '.join(known)}"
        yield Violation(path, f"{path[-1]} is {value}, which {plugin} does not know: {_END}", advice)
