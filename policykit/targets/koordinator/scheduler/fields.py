"""Fields of the plugins' args by release: koord-scheduler does not start with an unknown one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policykit.targets.koordinator.versions import RESOURCE_KEYS

Release = tuple[int, ...]
"""Numbers of a release: 1, 8, 0."""
LONGEST_WAIT = 900
"""Seconds after which the scheduling framework ends every wait of a gang, whatever the args say."""

_FIRST, _1_4, _1_5, _1_6, _1_7, _1_8 = (1, 3, 0), (1, 4, 0), (1, 5, 0), (1, 6, 0), (1, 7, 0), (1, 8, 0)
_1_4_1 = (1, 4, 1)


def _since(*groups: tuple[Release, str]) -> dict[str, Release]:
    return {name: version for version, names in groups for name in names.split()}


SECTIONS: Mapping[str, tuple[str, str]] = {
    "load_aware": ("loadAware", "LoadAwareScheduling"),
    "coscheduling": ("coscheduling", "Coscheduling"),
    "elastic_quota": ("elasticQuota", "ElasticQuota"),
    "device_share": ("deviceShare", "DeviceShare"),
    "numa": ("numa", "NodeNUMAResource"),
    "scarce": ("scarce", "ScarceResourceAvoidance"),
}
"""Option of a policy's target to its key in the policy and its plugin, in the order they are written."""
WEIGHT = "weight"
"""The one option of a section that is not a field of the args: the plugin's weight at score."""

FIELDS: Mapping[str, Mapping[str, Release]] = {
    "LoadAwareScheduling": _since(
        (
            _FIRST,
            "filterExpiredNodeMetrics nodeMetricExpirationSeconds resourceWeights usageThresholds"
            " prodUsageThresholds scoreAccordingProdUsage estimator estimatedScalingFactors aggregated",
        ),
        (_1_5, "enableScheduleWhenNodeMetricsExpired"),
        (
            _1_7,
            "dominantResourceWeight prodUsageIncludeSys estimatedSecondsAfterPodScheduled"
            " estimatedSecondsAfterInitialized allowCustomizeEstimation supportedResources",
        ),
    ),
    "NodeNUMAResource": _since(
        (_FIRST, "defaultCPUBindPolicy scoringStrategy"), (_1_4, "numaScoringStrategy")
    ),
    "Reservation": _since(
        (_FIRST, "enablePreemption"),
        (_1_6, "minCandidateNodesPercentage minCandidateNodesAbsolute"),
        (_1_7, "controllerWorkers gcDurationSeconds"),
        (_1_8, "gcIntervalSeconds disableGarbageCollection resyncIntervalSeconds preAllocationConfig"),
    ),
    "ElasticQuota": _since(
        (
            _FIRST,
            "delayEvictTime revokePodInterval defaultQuotaGroupMax systemQuotaGroupMax quotaGroupNamespace"
            " monitorAllQuotas enableCheckParentQuota",
        ),
        (_1_4_1, "enableRuntimeQuota"),
        (_1_7, "enableMinQuotaScale disableDefaultQuotaPreemption hookPlugins"),
        (_1_8, "enableQueueHint quotaSnapshotUpdateInterval"),
    ),
    "Coscheduling": _since(
        (_FIRST, "defaultTimeout controllerWorkers skipCheckScheduleCycle"),
        (_1_7, "enablePreemption awareNetworkTopology"),
        (_1_8, "defaultMatchPolicy"),
    ),
    "DeviceShare": _since(
        (_FIRST, "allocator scoringStrategy"),
        (_1_5, "disableDeviceNUMATopologyAlignment"),
        (_1_7, "gpuSharedResourceTemplatesConfig"),
        (_1_8, "gpuShareUnsupportedModels"),
    ),
    "NodeResourcesFitPlus": _since((_1_6, "resources")),
    "ScarceResourceAvoidance": _since((_1_6, "resources")),
    "SchedulingHint": _since((_1_8, "maxHintNodes")),
}
"""Plugin and field to the first known release that has it. Source: types.go at the release tags."""
INNER: Mapping[tuple[str, str], frozenset[str]] = {
    ("LoadAwareScheduling", "aggregated"): frozenset(
        {
            *("usageThresholds", "usageAggregationType", "usageAggregatedDuration"),
            *("scoreAggregationType", "scoreAggregatedDuration"),
        }
    ),
    ("NodeNUMAResource", "scoringStrategy"): frozenset({"type", "resources"}),
    ("NodeNUMAResource", "numaScoringStrategy"): frozenset({"type", "resources"}),
    ("DeviceShare", "scoringStrategy"): frozenset({"type", "resources"}),
    ("DeviceShare", "gpuSharedResourceTemplatesConfig"): frozenset(
        {"configMapNamespace", "configMapName", "matchedResources"}
    ),
    ("Reservation", "preAllocationConfig"): frozenset(
        {
            *("enableClusterMode", "clusterLabelKey"),
            *("clusterPriorityAnnotationKey", "preferNoPreAllocatedPods"),
        }
    ),
}
"""Fields below a field, the same in every release that has it."""
DURATIONS = frozenset(
    {
        *("defaultTimeout", "delayEvictTime", "revokePodInterval", "quotaSnapshotUpdateInterval"),
        *("usageAggregatedDuration", "scoreAggregatedDuration"),
    }
)
"""Fields that are durations."""
_BOOLEANS = """
    allowCustomizeEstimation awareNetworkTopology disableDefaultQuotaPreemption
    disableDeviceNUMATopologyAlignment disableGarbageCollection enableCheckParentQuota enableMinQuotaScale
    enablePreemption enableQueueHint enableRuntimeQuota enableScheduleWhenNodeMetricsExpired
    filterExpiredNodeMetrics monitorAllQuotas prodUsageIncludeSys scoreAccordingProdUsage
    skipCheckScheduleCycle
"""
_NUMBERS = """
    estimatedSecondsAfterInitialized estimatedSecondsAfterPodScheduled gcIntervalSeconds resyncIntervalSeconds
"""
_TEXTS = "allocator defaultMatchPolicy estimator quotaGroupNamespace"
_MAPS = """
    aggregated defaultQuotaGroupMax estimatedScalingFactors gpuSharedResourceTemplatesConfig
    numaScoringStrategy preAllocationConfig prodUsageThresholds resourceWeights scoringStrategy
    systemQuotaGroupMax usageThresholds
"""
_LISTS = "gpuShareUnsupportedModels hookPlugins supportedResources"
TYPES: Mapping[str, str] = {
    name: kind
    for kind, names in (
        ("boolean", _BOOLEANS),
        ("integer", _NUMBERS),
        ("string", _TEXTS),
        ("object", _MAPS),
        ("array", _LISTS),
    )
    for name in names.split()
}
"""Fields without bounds of their own to their type, the same in every plugin that has them."""
_HEAD = frozenset({"apiVersion", "kind"})


STRATEGIES: Mapping[str, tuple[str, ...]] = {
    "NodeNUMAResource": ("scoringStrategy", "numaScoringStrategy"),
    "DeviceShare": ("scoringStrategy",),
}
"""Fields of Koordinator's own plugins with weights of resources."""


def resource_keys(version: Release) -> tuple[str, str]:
    """Keys of a resource's name and weight in `STRATEGIES`."""
    return ("name", "weight") if version >= RESOURCE_KEYS else ("Name", "Weight")


def of_release(plugin: str, args: Mapping[str, Any], version: Release) -> dict[str, Any]:
    """Args with the keys of resources that a release reads."""
    name, weight = resource_keys(version)
    keys = {"name": name, "Name": name, "weight": weight, "Weight": weight}

    def renamed(listed: object) -> object:
        if not isinstance(listed, list):
            return listed
        return [
            {keys.get(key, key): each for key, each in entry.items()} if isinstance(entry, dict) else entry
            for entry in listed
        ]

    return {
        field: {**value, "resources": renamed(value["resources"])}
        if field in STRATEGIES.get(plugin, ()) and isinstance(value, dict) and "resources" in value
        else value
        for field, value in args.items()
    }


def since(plugin: str, field: str) -> Release | None:
    """First release with a field; None: none has it."""
    return FIELDS.get(plugin, {}).get(field)


def release_text(release: Release) -> str:
    """A release as text: 1.8 for (1, 8, 0), with the patch only if it is not 0."""
    return ".".join(map(str, release if any(release[2:]) else release[:2]))


def release_range(releases: Sequence[Release]) -> str:
    """Koordinator 1.8.0, or Koordinator 1.4 to 1.8."""
    first, last = releases[0], releases[-1]
    if len(releases) == 1:
        return f"Koordinator {'.'.join(map(str, first))}"
    return f"Koordinator {release_text(first[:2])} to {release_text(last[:2])}"


def unknown_fields(plugin: str, args: Mapping[str, object], version: Release) -> Iterator[str]:
    """Fields of a plugin's args that a release does not know, dotted; none for plugins of other projects."""
    known = FIELDS.get(plugin)
    if known is None:
        return
    for field, value in args.items():
        if field in _HEAD:
            continue
        if field not in known or known[field] > version:
            yield field
        elif isinstance(value, dict):
            inner = INNER.get((plugin, field))
            yield from (f"{field}.{name}" for name in value if inner is not None and name not in inner)
