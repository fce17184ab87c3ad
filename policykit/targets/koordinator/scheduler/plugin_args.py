"""Validation of the plugins' args: what koord-scheduler rejects, and what it accepts without effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policykit import durations
from policykit.manifests.patch import Patch
from policykit.manifests.path import Path, dotted, lookup
from policykit.manifests.problem import Problem, Repair
from policykit.manifests.shape import mapping, text, whole
from policykit.model.severity import Severity
from policykit.namedtuple import NamedTuple
from policykit.nearest import nearest
from policykit.targets.koordinator.scheduler import fields
from policykit.targets.koordinator.scheduler.fields import LONGEST_WAIT, Release

NO_START = "koord-scheduler does not start"
REFUSED_VALUE = "refused-value"
"""Kind of problem with a value that decodes, but that the plugin refuses when it is constructed. A plugin
that no profile enables is never constructed."""
SCORE_TYPES = ("MostAllocated", "LeastAllocated")
DEFAULT_FACTORS: Mapping[str, int] = {"cpu": 85, "memory": 70}
"""Defaults that LoadAwareScheduling adds to estimatedScalingFactors."""


def problem(
    path: Path,
    message: str,
    effect: str,
    help_: str,
    severity: Severity | None = None,
    *,
    key: bool = False,
    kind: str = "",
    repair: Repair | None = None,
) -> Problem:
    """A mistake in a scheduler configuration, and its effect."""
    full = f"{message}: {effect}" if effect else message
    return Problem(path, full, help_, severity, key, kind, repair=repair)


class Bound(NamedTuple):
    """The range of a number, or of every value of a map of numbers."""

    path: Path
    least: int
    most: int | None = None
    each: bool = False


_BOUNDS: Mapping[str, tuple[Bound, ...]] = {
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
_CHOICES: Mapping[str, Mapping[Path, tuple[str, ...]]] = {
    "NodeNUMAResource": {("defaultCPUBindPolicy",): ("", "FullPCPUs", "SpreadByPCPUs")},
    "LoadAwareScheduling": {
        ("aggregated", "usageAggregationType"): _AGGREGATIONS,
        ("aggregated", "scoreAggregationType"): _AGGREGATIONS,
    },
}


def problems(plugin: str, args: Mapping[str, Any], releases: Sequence[Release]) -> Iterator[Problem]:
    """All mistakes in the args of a plugin. `releases` are those that may read them; empty: any.

    Source: koordinator `validation_pluginargs.go`, types.go and the plugins' constructors (1.8).
    """
    yield from _unknown_fields(plugin, args, releases)
    for bound in _BOUNDS.get(plugin, ()):
        yield from _out_of_bounds(plugin, bound, args)
    for path, allowed in _CHOICES.get(plugin, {}).items():
        yield from _not_allowed(plugin, path, allowed, args)
    for path in _DURATIONS.get(plugin, ()):
        yield from _invalid_duration(plugin, path, lookup(args, path))
    for strategy in fields.STRATEGIES.get(plugin, ()):
        yield from _not_allowed(plugin, (strategy, "type"), SCORE_TYPES, args)
        yield from _invalid_weights(plugin, (strategy, "resources"), args)
    if plugin == "LoadAwareScheduling":
        yield from missing_factors(args)
        yield from _ignored_thresholds(args)
    elif plugin == "NodeResourcesFitPlus":
        yield from _fit_plus(args)
    elif plugin == "ScarceResourceAvoidance" and isinstance(args.get("resources"), dict):
        yield problem(
            ("resources",),
            "resources of ScarceResourceAvoidance is a map, but must be a list",
            NO_START,
            "write it as a list: - nvidia.com/gpu",
        )


def missing_factors(args: Mapping[str, Any]) -> Iterator[Problem]:
    """Resources with a weight but no scaling factor in LoadAwareScheduling."""
    known = {*mapping(args.get("estimatedScalingFactors")), *DEFAULT_FACTORS}
    for resource in mapping(args.get("resourceWeights")):
        if resource not in known:
            yield problem(
                ("resourceWeights", resource),
                f"resourceWeights of LoadAwareScheduling has {resource}, but estimatedScalingFactors does "
                "not",
                NO_START,
                f"add {resource} to estimatedScalingFactors, 1 to 100",
                key=True,
                kind=REFUSED_VALUE,
            )


def _unknown_fields(plugin: str, args: Mapping[str, Any], releases: Sequence[Release]) -> Iterator[Problem]:
    """Fields that none of the releases has."""
    lacking = [set(fields.unknown_fields(plugin, args, each)) for each in releases]
    for name in fields.unknown_fields(plugin, args, releases[-1]) if releases else ():
        if not all(name in each for each in lacking):
            continue
        path, since = tuple(name.split(".")), fields.since(plugin, name)
        when = f" (added in {fields.release_text(since)})" if since else ""
        yield problem(
            path,
            f"{fields.release_range(releases)} has no field {name} in {plugin}Args{when}",
            NO_START,
            "delete it, or use a release that has it" if since else _similar_field(plugin, name),
            key=True,
            repair=Repair("remove it", (Patch("remove", path),)) if since else None,
        )


def misnamed_resources(
    plugin: str, args: Mapping[str, Any], releases: Sequence[Release]
) -> Iterator[Problem]:
    """Keys of resources in a strategy that none of the releases reads, but another one does."""
    read = {key for each in releases for key in fields.resource_keys(each)}
    for strategy in fields.STRATEGIES.get(plugin, ()) if releases else ():
        listed = lookup(args, (strategy, "resources"))
        for position, entry in enumerate(listed if isinstance(listed, list) else ()):
            for key in mapping(entry):
                if key in read or key.lower() not in ("name", "weight"):
                    continue
                wanted = key.capitalize() if key.islower() else key.lower()
                path = (strategy, "resources", position, key)
                yield problem(
                    path,
                    f"{fields.release_range(releases)} has no field {key} in resources of {strategy} of "
                    f"{plugin}Args, but {wanted}",
                    NO_START,
                    f"write {wanted}",
                    key=True,
                    repair=Repair(f"write {wanted}", (Patch("rename", path, wanted),)),
                )


def _similar_field(plugin: str, name: str) -> str:
    outer, _, inner = name.rpartition(".")
    known = fields.INNER.get((plugin, outer), frozenset()) if outer else fields.FIELDS[plugin].keys()
    near = nearest(inner, tuple(sorted(known)))
    return f"did you mean {near}?" if near else "delete it"


def _out_of_bounds(plugin: str, bound: Bound, args: Mapping[str, Any]) -> Iterator[Problem]:
    given = lookup(args, bound.path)
    allowed = f"{bound.least} to {bound.most}" if bound.most is not None else f"{bound.least} or more"
    values = mapping(given).items() if bound.each else [(None, given)]
    for key, value in values:
        path = bound.path if key is None else (*bound.path, key)
        number = whole(value)
        if isinstance(value, str):
            yield problem(
                path,
                f"{dotted(path)} of {plugin} is the string {value!r}, not a number",
                NO_START,
                f"write {value} without quotes" if value.isdecimal() else "write a whole number",
            )
        elif number is not None and not bound.least <= number <= (bound.most or number):
            message = f"{dotted(path)} of {plugin} is {number}, not {allowed}"
            yield problem(path, message, NO_START, f"write {allowed}", kind=REFUSED_VALUE)


def _not_allowed(
    plugin: str, path: Path, allowed: Sequence[str], args: Mapping[str, Any]
) -> Iterator[Problem]:
    value = lookup(args, path)
    if isinstance(value, str) and value not in allowed:
        message = f"{dotted(path)} of {plugin} is {value!r}, which is not a valid value"
        advice = f"write {' or '.join(filter(None, allowed))}"
        yield problem(path, message, NO_START, advice, kind=REFUSED_VALUE)


def _invalid_duration(plugin: str, path: Path, value: object) -> Iterator[Problem]:
    if value is None or isinstance(value, (dict, list)):
        return
    seconds = durations.seconds(value) if isinstance(value, str) else None
    if seconds is None:
        yield problem(
            path,
            f"{dotted(path)} of {plugin} is {value!r}, not a duration of 0 or more with a unit",
            NO_START,
            f"write {value}s" if str(value).isdecimal() else "write a duration of 0 or more: 600s, 10m",
        )
    elif plugin == "Coscheduling" and seconds > LONGEST_WAIT:
        yield problem(
            path,
            f"{dotted(path)} of {plugin} is {seconds} seconds",
            f"the scheduler ends every wait after {LONGEST_WAIT}",
            f"write at most {LONGEST_WAIT}s: a gang is retried automatically",
            Severity.WARNING,
        )


def _invalid_weights(plugin: str, path: Path, args: Mapping[str, Any]) -> Iterator[Problem]:
    listed = lookup(args, path)
    for position, entry in enumerate(listed if isinstance(listed, list) else ()):
        weight = whole(mapping(entry).get("weight"))
        if weight is not None and not 0 < weight <= 100:
            name = text(mapping(entry).get("name"))
            message = f"{dotted(path)} of {plugin} gives {name} weight {weight}, not 1 to 100"
            where = (*path, position, "weight")
            yield problem(where, message, NO_START, "write 1 to 100", kind=REFUSED_VALUE)


def _ignored_thresholds(args: Mapping[str, Any]) -> Iterator[Problem]:
    aggregated = mapping(args.get("aggregated"))
    if mapping(aggregated.get("usageThresholds")) and not aggregated.get("usageAggregationType"):
        yield problem(
            ("aggregated", "usageThresholds"),
            "aggregated has usageThresholds but no usageAggregationType",
            "the thresholds are ignored",
            "add usageAggregationType: avg, p50, p90, p95 or p99",
            key=True,
        )
    thresholds = mapping(args.get("usageThresholds"))
    others = ("prodUsageThresholds", "aggregated")
    if thresholds and not any(thresholds.values()) and not any(args.get(name) for name in others):
        yield problem(
            ("usageThresholds",),
            "every threshold of LoadAwareScheduling is 0",
            "no node is filtered out by its load",
            "unless that is intended, write percentages; Koordinator's chart has cpu 65 and memory 95",
            Severity.INFO,
            key=True,
        )


def _fit_plus(args: Mapping[str, Any]) -> Iterator[Problem]:
    """koord-scheduler does not validate these itself."""
    resources = args.get("resources")
    if isinstance(resources, list):
        yield problem(
            ("resources",),
            "resources of NodeResourcesFitPlus is a list, but must be a map",
            NO_START,
            "write it as a map: nvidia.com/gpu: {type: MostAllocated, weight: 2}",
        )
    for name, each in mapping(resources).items():
        score_type, weight = mapping(each).get("type"), mapping(each).get("weight")
        if score_type not in SCORE_TYPES:
            yield problem(
                ("resources", name, "type"),
                f"type of {name} {f'is {score_type!r}' if score_type else 'is missing'}",
                "NodeResourcesFitPlus scores it 0, with its full weight",
                f"write {' or '.join(SCORE_TYPES)}",
            )
        number = 0 if weight is None else whole(weight)
        if number is not None and number <= 0:
            yield problem(
                ("resources", name, "weight"),
                f"weight of {name} {'is missing, so 0' if weight is None else f'is {number}'}",
                "scores leave the range 0 to 100, and pods fail" if number else "it does not count",
                "write a whole number of at least 1",
            )
