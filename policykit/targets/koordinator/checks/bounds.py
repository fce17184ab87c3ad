"""Values of the plugins' args that koord-scheduler refuses when it starts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.path import Path, dotted, lookup
from policykit.manifests.shape import mapping, text, whole
from policykit.model.severity import Severity
from policykit.targets.koordinator.objects import durations
from policykit.targets.koordinator.objects.podgroups import LONGEST_WAIT

STOPS = "koord-scheduler stops at start"


class Bound(NamedTuple):
    """A number, or every value of a map of numbers."""

    path: Path
    least: int
    most: int | None = None
    each: bool = False


_NUMBERS: Mapping[str, tuple[Bound, ...]] = {
    "LoadAwareScheduling": (
        Bound(("nodeMetricExpirationSeconds",), 1),
        Bound(("resourceWeights",), 1, 100, True),
        Bound(("dominantResourceWeight",), 0, 100),
        Bound(("usageThresholds",), 0, 100, True),
        Bound(("estimatedScalingFactors",), 1, 100, True),
        Bound(("aggregated", "usageThresholds"), 0, 100, True),
    ),
    "Reservation": (
        Bound(("minCandidateNodesPercentage",), 0, 100),
        Bound(("minCandidateNodesAbsolute",), 0),
        Bound(("gcDurationSeconds",), 0),
    ),
    "Coscheduling": (Bound(("controllerWorkers",), 1),),
    "SchedulingHint": (Bound(("maxHintNodes",), 1),),
}
_DURATIONS: Mapping[str, tuple[Path, ...]] = {
    "Coscheduling": (("defaultTimeout",),),
    "ElasticQuota": (("delayEvictTime",), ("revokePodInterval",)),
    "LoadAwareScheduling": (
        ("aggregated", "usageAggregatedDuration"),
        ("aggregated", "scoreAggregatedDuration"),
    ),
}
_AGGREGATIONS = ("", "avg", "p50", "p90", "p95", "p99")
_CHOICES: Mapping[str, tuple[tuple[Path, tuple[str, ...]], ...]] = {
    "NodeNUMAResource": (
        (("defaultCPUBindPolicy",), ("", "FullPCPUs", "SpreadByPCPUs")),
        (("scoringStrategy", "type"), ("LeastAllocated", "MostAllocated")),
        (("numaScoringStrategy", "type"), ("LeastAllocated", "MostAllocated")),
    ),
    "DeviceShare": ((("scoringStrategy", "type"), ("LeastAllocated", "MostAllocated")),),
    "LoadAwareScheduling": (
        (("aggregated", "usageAggregationType"), _AGGREGATIONS),
        (("aggregated", "scoreAggregationType"), _AGGREGATIONS),
    ),
}
_STRATEGIES = ("scoringStrategy", "numaScoringStrategy")


def faults(plugin: str, args: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    """Of one plugin; `path` leads to its args. Source: `validation_pluginargs.go` and constructors (1.8)."""
    for bound in _NUMBERS.get(plugin, ()):
        yield from _numbers(plugin, bound, args, path)
    for place, known in _CHOICES.get(plugin, ()):
        written = lookup(args, place)
        if isinstance(written, str) and written not in known and not is_placeholder(written):
            yield Violation(
                (*path, *place),
                f"{dotted(place)} of {plugin} is {written!r}, which it does not know: {STOPS}",
                f"write {' or '.join(filter(None, known))}",
            )
    for place in _DURATIONS.get(plugin, ()):
        yield from _duration(plugin, place, lookup(args, place), path)
    if plugin in ("NodeNUMAResource", "DeviceShare"):
        for field in _STRATEGIES:
            yield from _weights(plugin, (field, "resources"), args, path)


def _numbers(plugin: str, bound: Bound, args: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    given = lookup(args, bound.path)
    found = mapping(given).items() if bound.each else [(None, given)]
    for key, value in found:
        number = whole(value)
        place = bound.path if key is None else (*bound.path, key)
        if isinstance(value, str) and not is_placeholder(value):
            yield Violation(
                (*path, *place),
                f"{dotted(place)} of {plugin} is {value!r}, a text, not a number: {STOPS}",
                f"write {value} without quotes" if value.isdecimal() else "write a whole number",
            )
        if (
            number is None
            or isinstance(value, str)
            or not (number < bound.least or (bound.most is not None and number > bound.most))
        ):
            continue
        right = f"{bound.least} to {bound.most}" if bound.most is not None else f"{bound.least} or more"
        yield Violation(
            (*path, *place),
            f"{dotted(place)} of {plugin} is {number}, not {right}: {STOPS}",
            f"write {right}",
        )


def _weights(plugin: str, place: Path, args: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    listed = lookup(args, place)
    for position, entry in enumerate(listed if isinstance(listed, list) else ()):
        weight = whole(mapping(entry).get("weight"))
        if weight is not None and not 0 < weight <= 100:
            yield Violation(
                (*path, *place, position, "weight"),
                f"{plugin} weighs {text(mapping(entry).get('name'))} {weight}, not 1 to 100: {STOPS}",
                "write 1 to 100",
            )


def _duration(plugin: str, place: Path, value: object, path: Path) -> Iterator[Violation]:
    if isinstance(value, (dict, list, type(None))) or is_placeholder(value):
        return
    seconds = durations.seconds(value) if isinstance(value, str) else None
    if seconds is None:
        unit = (
            f"write {value}s" if str(value).isdecimal() else "write a duration that is not below 0: 600s, 10m"
        )
        yield Violation(
            (*path, *place),
            f"{dotted(place)} of {plugin} is {value!r}, not a duration of 0 or more with a unit: {STOPS}",
            unit,
        )
    elif plugin == "Coscheduling" and seconds > LONGEST_WAIT:
        yield Violation(
            (*path, *place),
            f"defaultTimeout of Coscheduling is {seconds} seconds, but the scheduler ends every wait after "
            f"{LONGEST_WAIT}",
            f"write at most {LONGEST_WAIT}s: a gang tries again by itself",
            Severity.WARNING,
        )


def load_aware(args: Mapping[str, Any], path: Path, factors: Mapping[str, int]) -> Iterator[Violation]:
    """Fields of LoadAwareScheduling that go together; `factors`: those it has by itself."""
    known = {*mapping(args.get("estimatedScalingFactors")), *factors}
    for resource in mapping(args.get("resourceWeights")):
        if resource not in known:
            yield Violation(
                (*path, "resourceWeights", resource),
                f"LoadAwareScheduling weighs {resource}, but has no estimatedScalingFactors for it: {STOPS}",
                f"add {resource} to estimatedScalingFactors, 1 to 100",
                key=True,
            )
    together = mapping(args.get("aggregated"))
    if mapping(together.get("usageThresholds")) and not together.get("usageAggregationType"):
        yield Violation(
            (*path, "aggregated", "usageThresholds"),
            "aggregated.usageThresholds has no usageAggregationType beside it: it is not used",
            "add usageAggregationType: avg, p50, p90, p95 or p99",
            key=True,
        )
    thresholds = mapping(args.get("usageThresholds"))
    others = ("prodUsageThresholds", "aggregated")
    if thresholds and not any(thresholds.values()) and not any(args.get(name) for name in others):
        yield Violation(
            (*path, "usageThresholds"),
            "every threshold of LoadAwareScheduling is 0, so it keeps no pod off a loaded node",
            "if that is not meant, write percents; Koordinator's chart has cpu 65 and memory 95",
            Severity.INFO,
            key=True,
        )


def named_once(given: object) -> Iterator[tuple[int, str]]:
    """Entries of pluginConfig whose plugin has one before: position and name."""
    seen: set[str] = set()
    for position, entry in enumerate(given if isinstance(given, list) else ()):
        name = text(mapping(entry).get("name"))
        if name and name in seen:
            yield position, name
        seen.add(name)
