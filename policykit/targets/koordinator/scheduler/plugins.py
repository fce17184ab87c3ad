"""Plugins of koord-scheduler: their extension points by release, and which plugins score."""

from __future__ import annotations

from collections.abc import Mapping

from policykit.model.release import Version
from policykit.targets.koordinator.versions import COSCHEDULING_SCORES, KUBERNETES_1_28

FIT_PLUS, SCARCE = "NodeResourcesFitPlus", "ScarceResourceAvoidance"
SCORERS = (FIT_PLUS, SCARCE)
"""Plugins whose Score needs the state that their PreScore writes."""
FIT, BALANCED = "NodeResourcesFit", "NodeResourcesBalancedAllocation"
RESERVATION, LOAD_AWARE = "Reservation", "LoadAwareScheduling"
DEVICES, NUMA = "DeviceShare", "NodeNUMAResource"
COSCHEDULING, QUOTAS, PRIORITY_SORT, BINDER = "Coscheduling", "ElasticQuota", "PrioritySort", "DefaultBinder"

_FIRST, _1_6, _1_7, _1_8 = Version(1, 3, 0), Version(1, 6, 0), Version(1, 7, 0), Version(1, 8, 0)

PLUGINS: Mapping[str, Version] = {
    "LoadAwareScheduling": _FIRST,
    "NodeNUMAResource": _FIRST,
    "Reservation": _FIRST,
    "Coscheduling": _FIRST,
    "DeviceShare": _FIRST,
    "ElasticQuota": _FIRST,
    "DefaultPreBind": _FIRST,
    "NodeResourcesFitPlus": _1_6,
    "ScarceResourceAvoidance": _1_6,
    "SchedulingHint": _1_7,
}
"""Plugin of koord-scheduler to the first known release that has it."""
GONE = frozenset({"BatchResourceFit", "CompatibleDefaultPreemption"})
"""Plugins that no release since 1.3 has."""
PLUGIN_NAMES = frozenset({*PLUGINS, *GONE})
"""Plugins of koord-scheduler, including those of old releases."""

POINTS: Mapping[str, Mapping[str, Version]] = {
    "LoadAwareScheduling": {"preFilter": _1_7, "filter": _FIRST, "score": _FIRST, "reserve": _FIRST},
    "NodeNUMAResource": {
        **dict.fromkeys(("preFilter", "filter", "score", "reserve", "preBind"), _FIRST),
        "preScore": _1_6,
    },
    "Reservation": dict.fromkeys(
        ("preFilter", "filter", "postFilter", "preScore", "score", "reserve", "preBind", "bind"), _FIRST
    ),
    "Coscheduling": {
        **dict.fromkeys(("queueSort", "preFilter", "postFilter", "reserve", "permit", "postBind"), _FIRST),
        "preEnqueue": _1_6,
        "preBind": _1_7,
        "preScore": _1_8,
        "score": _1_8,
    },
    "DeviceShare": {
        **dict.fromkeys(("preFilter", "filter", "score", "reserve", "preBind"), _FIRST),
        "preScore": _1_6,
    },
    "ElasticQuota": dict.fromkeys(("preFilter", "postFilter", "reserve"), _FIRST),
    "DefaultPreBind": {"preBind": _FIRST},
    "NodeResourcesFitPlus": {"preScore": _1_6, "score": _1_6},
    "ScarceResourceAvoidance": {"preScore": _1_6, "score": _1_6},
    "SchedulingHint": {"preFilter": _1_7},
}
"""Plugin and point to the first release. Source: methods of each plugin at the release tags."""
ENDED: Mapping[tuple[str, str], Version] = {("Coscheduling", "queueSort"): _1_7}
"""Points that a plugin no longer implements, to the first release without them."""

RESERVATION_FIRST = ("preScore", "reserve")
"""Points where Reservation must run before every other plugin."""
ORDER = (
    *("preEnqueue", "queueSort", "preFilter", "filter", "postFilter", "preScore", "score"),
    *("reserve", "permit", "preBind", "bind", "postBind"),
)
"""Extension points in the order in which they run."""
MULTI_POINT = "multiPoint"

DEFAULT_SCORES: Mapping[str, int] = {
    "TaintToleration": 3,
    "NodeAffinity": 2,
    FIT: 1,
    "PodTopologySpread": 2,
    "InterPodAffinity": 2,
    BALANCED: 1,
    "ImageLocality": 1,
}
"""In-tree plugins that score unless they are disabled, with their weights (kube-scheduler 1.28 to 1.35)."""
_OLD_SCORES: Mapping[str, int] = {
    **DEFAULT_SCORES,
    **dict.fromkeys(("TaintToleration", "NodeAffinity", "InterPodAffinity"), 1),
}
"""The same in v1beta2 of kube-scheduler 1.24."""
PREFERENCES: Mapping[str, str] = {
    "TaintToleration": "PreferNoSchedule taints",
    "NodeAffinity": "preferred node affinity",
    "PodTopologySpread": "topology spread with ScheduleAnyway",
    "InterPodAffinity": "preferred pod affinity",
}
"""In-tree plugin to the preferences of pods that only its score honours."""
_NEVER_SCORE = frozenset(
    {
        *("SchedulingGates", PRIORITY_SORT, "NodeUnschedulable", "NodeName", "NodePorts", "VolumeZone"),
        *("VolumeRestrictions", "NodeVolumeLimits", "DefaultPreemption", BINDER, "DefaultPreBind"),
        *(QUOTAS, "SchedulingHint"),
    }
)


def default_scores(version: Version) -> Mapping[str, int]:
    """In-tree plugins that score unless they are disabled, with their weights in a release."""
    return DEFAULT_SCORES if version >= KUBERNETES_1_28 else _OLD_SCORES


def knows_point(point: str, version: Version) -> bool:
    """Whether a release can decode a list of plugins for an extension point."""
    return point != "preEnqueue" or version >= KUBERNETES_1_28


def implements(plugin: str, point: str, version: Version) -> bool | None:
    """Whether a plugin may be enabled at a point of a release; None for plugins of other projects."""
    if plugin in GONE:
        return False
    if plugin not in PLUGINS:
        return None
    if point == MULTI_POINT:
        return PLUGINS[plugin] <= version
    since = POINTS[plugin].get(point)
    ended = ENDED.get((plugin, point))
    return since is not None and since <= version and (ended is None or version < ended)


def scores(plugin: str, version: Version) -> bool:
    """Whether a plugin takes part in scoring; an unknown plugin is assumed to."""
    if plugin == COSCHEDULING:
        return version >= COSCHEDULING_SCORES
    return plugin not in _NEVER_SCORE
