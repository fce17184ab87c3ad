"""The policy of the descheduler: its plugins, their arguments, and the releases that read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, numbered, text
from policykit.namedtuple import NamedTuple

POLICY = "DeschedulerPolicy"
EVICTOR = "DefaultEvictor"
LOW, HIGH = "LowNodeUtilization", "HighNodeUtilization"
OLD_VERSION, VERSION = "descheduler/v1alpha1", "descheduler/v1alpha2"
FIRST_WITH_VERSION, FIRST_WITHOUT_OLD = 27, 31
"""Minor releases: the first that reads v1alpha2, the first that no longer reads v1alpha1."""

_EVICTS = ("filter", "preevictionfilter")
POINTS: Mapping[str, tuple[str, ...]] = {
    EVICTOR: _EVICTS,
    HIGH: ("balance",),
    LOW: ("balance",),
    "PodLifeTime": ("deschedule",),
    "RemoveDuplicates": ("balance",),
    "RemoveFailedPods": ("deschedule",),
    "RemovePodsHavingTooManyRestarts": ("deschedule",),
    "RemovePodsViolatingInterPodAntiAffinity": ("deschedule",),
    "RemovePodsViolatingNodeAffinity": ("deschedule",),
    "RemovePodsViolatingNodeTaints": ("deschedule",),
    "RemovePodsViolatingTopologySpreadConstraint": ("balance",),
}
"""Plugin to the points at which it may be enabled (0.27 to 0.36)."""

_COMMON = ("namespaces", "labelSelector")
ARGS: Mapping[str, tuple[str, ...]] = {
    EVICTOR: (
        "evictDaemonSetPods",
        "evictFailedBarePods",
        "evictLocalStoragePods",
        "evictSystemCriticalPods",
        "ignorePodsWithoutPDB",
        "ignorePvcPods",
        "labelSelector",
        "minPodAge",
        "minReplicas",
        "namespaceLabelSelector",
        "noEvictionPolicy",
        "nodeFit",
        "nodeSelector",
        "podProtections",
        "priorityThreshold",
    ),
    HIGH: ("evictableNamespaces", "evictionModes", "metricsUtilization", "numberOfNodes", "thresholds"),
    LOW: (
        "evictableNamespaces",
        "evictionLimits",
        "metricsUtilization",
        "numberOfNodes",
        "targetThresholds",
        "thresholds",
        "useDeviationThresholds",
    ),
    "PodLifeTime": (
        *_COMMON,
        "conditions",
        "exitCodes",
        "includingEphemeralContainers",
        "includingInitContainers",
        "maxPodLifeTimeSeconds",
        "ownerKinds",
        "states",
    ),
    "RemoveDuplicates": ("excludeOwnerKinds", "namespaces"),
    "RemoveFailedPods": (
        *_COMMON,
        "excludeOwnerKinds",
        "exitCodes",
        "includingInitContainers",
        "minPodLifetimeSeconds",
        "reasons",
    ),
    "RemovePodsHavingTooManyRestarts": (*_COMMON, "includingInitContainers", "podRestartThreshold", "states"),
    "RemovePodsViolatingInterPodAntiAffinity": _COMMON,
    "RemovePodsViolatingNodeAffinity": (*_COMMON, "nodeAffinityType"),
    "RemovePodsViolatingNodeTaints": (
        *_COMMON,
        "excludedTaints",
        "includePreferNoSchedule",
        "includedTaints",
    ),
    "RemovePodsViolatingTopologySpreadConstraint": (
        *_COMMON,
        "constraints",
        "includeSoftConstraints",
        "topologyBalanceNodeFit",
    ),
}
"""Plugin to the arguments that some release from 0.27 to 0.36 reads. Source: `types.go` of each plugin."""

PARTS: Mapping[str, tuple[str, ...]] = {
    "evictableNamespaces": ("include", "exclude"),
    "evictionLimits": ("node",),
    "metricsUtilization": ("metricsServer", "prometheus", "source"),
    "namespaces": ("include", "exclude"),
    "ownerKinds": ("include", "exclude"),
    "podProtections": ("config", "defaultDisabled", "extraEnabled"),
    "priorityThreshold": ("name", "value"),
}
"""Argument to the fields of its mapping."""

_SPREAD = "RemovePodsViolatingTopologySpreadConstraint"
READ_SINCE: Mapping[tuple[str, ...], int] = {
    ("PodLifeTime", "conditions"): 36,
    ("PodLifeTime", "exitCodes"): 36,
    ("PodLifeTime", "includingEphemeralContainers"): 31,
    ("PodLifeTime", "includingInitContainers"): 31,
    ("PodLifeTime", "ownerKinds"): 36,
    ("RemoveFailedPods", "exitCodes"): 30,
    ("RemovePodsHavingTooManyRestarts", "states"): 28,
    ("RemovePodsViolatingNodeTaints", "includedTaints"): 30,
    (EVICTOR, "evictDaemonSetPods"): 30,
    (EVICTOR, "ignorePodsWithoutPDB"): 32,
    (EVICTOR, "minPodAge"): 31,
    (EVICTOR, "minReplicas"): 30,
    (EVICTOR, "namespaceLabelSelector"): 35,
    (EVICTOR, "noEvictionPolicy"): 34,
    (EVICTOR, "podProtections"): 34,
    (EVICTOR, "podProtections", "config"): 35,
    (HIGH, "evictionModes"): 33,
    (HIGH, "metricsUtilization"): 32,
    (LOW, "evictionLimits"): 33,
    (LOW, "metricsUtilization"): 32,
    (LOW, "metricsUtilization", "prometheus"): 33,
    (LOW, "metricsUtilization", "source"): 33,
    (_SPREAD, "constraints"): 28,
    (_SPREAD, "topologyBalanceNodeFit"): 28,
}
"""Plugin and argument to the first minor release that reads it, where that is not 0.27."""

READ_BEFORE: Mapping[tuple[str, ...], int] = {
    (HIGH, "metricsUtilization"): 33,
    (_SPREAD, "includeSoftConstraints"): 28,
}
"""Plugin and argument to the first minor release that no longer reads it."""


class PluginArgs(NamedTuple):
    """An entry of pluginConfig."""

    plugin: str
    args: Mapping[str, Any]
    path: Path
    """Of the entry."""


def plugin_args(data: Mapping[str, Any]) -> Iterator[PluginArgs]:
    """Those of all profiles, with paths in the policy."""
    for position, profile in numbered(data.get("profiles")):
        for number, config in numbered(profile.get("pluginConfig")):
            path: Path = ("profiles", position, "pluginConfig", number)
            yield PluginArgs(text(config.get("name")), mapping(config.get("args")), path)


def dated(entry: PluginArgs, table: Mapping[tuple[str, ...], int]) -> Iterator[tuple[tuple[str, ...], int]]:
    """The arguments of the table that an entry states, longer keys last."""
    for key, release in table.items():
        if key[0] != entry.plugin:
            continue
        found: object = entry.args
        for step in key[1:]:
            found = mapping(found).get(step)
        if found is not None:
            yield key, release
