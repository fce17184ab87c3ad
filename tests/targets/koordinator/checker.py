"""An independent judge of a koord-scheduler-config: what stops a release, from its source's own lists.

Written as release-by-release lists, not as tables of first releases: nothing is shared with the code tested.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

GROUP = "kubescheduler.config.k8s.io/"
REGISTERED = {
    "1.4.1": ["v1beta2"],
    "1.5.0": ["v1beta3"],
    "1.6.1": ["v1beta3", "v1"],
    "1.7.0": ["v1beta3", "v1"],
    "1.8.0": ["v1"],
}
_OLD_POINTS = {
    "LoadAwareScheduling": "filter score reserve",
    "NodeNUMAResource": "preFilter filter score reserve preBind",
    "DeviceShare": "preFilter filter score reserve preBind",
    "ElasticQuota": "preFilter postFilter reserve",
    "Reservation": "preFilter filter postFilter preScore score reserve preBind bind",
    "Coscheduling": "queueSort preFilter postFilter permit reserve postBind",
    "DefaultPreBind": "preBind",
}
_1_6_POINTS = {
    **_OLD_POINTS,
    "NodeNUMAResource": "preFilter filter preScore score reserve preBind",
    "DeviceShare": "preFilter filter preScore score reserve preBind",
    "Coscheduling": "preEnqueue queueSort preFilter postFilter permit reserve postBind",
    "NodeResourcesFitPlus": "preScore score",
    "ScarceResourceAvoidance": "preScore score",
}
_1_7_POINTS = {
    **_1_6_POINTS,
    "LoadAwareScheduling": "preFilter filter score reserve",
    "Coscheduling": "preEnqueue preFilter postFilter permit reserve preBind postBind",
    "SchedulingHint": "preFilter",
}
POINTS = {
    "1.4.1": _OLD_POINTS,
    "1.5.0": _OLD_POINTS,
    "1.6.1": _1_6_POINTS,
    "1.7.0": _1_7_POINTS,
    "1.8.0": {
        **_1_7_POINTS,
        "Coscheduling": "preEnqueue preFilter postFilter preScore score permit reserve preBind postBind",
    },
}
IN_TREE = {
    "queueSort": "PrioritySort",
    "postFilter": "DefaultPreemption",
    "bind": "DefaultBinder",
    "preScore": "NodeAffinity NodeResourcesFit TaintToleration PodTopologySpread InterPodAffinity",
    "score": "NodeAffinity NodeResourcesFit TaintToleration PodTopologySpread InterPodAffinity ImageLocality "
    "NodeResourcesBalancedAllocation",
}
_LOAD = (
    "filterExpiredNodeMetrics nodeMetricExpirationSeconds resourceWeights usageThresholds "
    "prodUsageThresholds scoreAccordingProdUsage estimator estimatedScalingFactors aggregated"
)
_QUOTA = (
    "delayEvictTime revokePodInterval defaultQuotaGroupMax systemQuotaGroupMax quotaGroupNamespace "
    "monitorAllQuotas enableCheckParentQuota enableRuntimeQuota"
)
_GANG = "defaultTimeout controllerWorkers skipCheckScheduleCycle"
_1_4_FIELDS = {
    "LoadAwareScheduling": _LOAD,
    "ElasticQuota": _QUOTA,
    "Coscheduling": _GANG,
    "DeviceShare": "allocator scoringStrategy",
    "NodeNUMAResource": "defaultCPUBindPolicy scoringStrategy numaScoringStrategy",
}
_1_5_FIELDS = {
    **_1_4_FIELDS,
    "LoadAwareScheduling": f"{_LOAD} enableScheduleWhenNodeMetricsExpired",
    "DeviceShare": "allocator scoringStrategy disableDeviceNUMATopologyAlignment",
}
_1_6_FIELDS = {**_1_5_FIELDS, "NodeResourcesFitPlus": "resources", "ScarceResourceAvoidance": "resources"}
_1_7_FIELDS = {
    **_1_6_FIELDS,
    "LoadAwareScheduling": f"{_LOAD} enableScheduleWhenNodeMetricsExpired dominantResourceWeight "
    "prodUsageIncludeSys estimatedSecondsAfterPodScheduled estimatedSecondsAfterInitialized "
    "allowCustomizeEstimation supportedResources",
    "ElasticQuota": f"{_QUOTA} enableMinQuotaScale disableDefaultQuotaPreemption hookPlugins",
    "Coscheduling": f"{_GANG} enablePreemption awareNetworkTopology",
    "DeviceShare": "allocator scoringStrategy disableDeviceNUMATopologyAlignment "
    "gpuSharedResourceTemplatesConfig",
}
FIELDS = {
    "1.4.1": _1_4_FIELDS,
    "1.5.0": _1_5_FIELDS,
    "1.6.1": _1_6_FIELDS,
    "1.7.0": _1_7_FIELDS,
    "1.8.0": {
        **_1_7_FIELDS,
        "ElasticQuota": f"{_1_7_FIELDS['ElasticQuota']} enableQueueHint quotaSnapshotUpdateInterval",
        "Coscheduling": f"{_1_7_FIELDS['Coscheduling']} defaultMatchPolicy",
        "DeviceShare": f"{_1_7_FIELDS['DeviceShare']} gpuShareUnsupportedModels",
        "SchedulingHint": "maxHintNodes",
    },
}


def faults(data: dict[str, Any], version: str) -> list[str]:
    """Why this release would not start with a configuration, or would not do what it says."""
    found = []
    outer = data["apiVersion"].removeprefix(GROUP)
    if outer not in REGISTERED[version] or data["kind"] != "KubeSchedulerConfiguration":
        found.append(f"apiVersion {data['apiVersion']}")
    names = [profile["schedulerName"] for profile in data["profiles"]]
    if len(set(names)) < len(names):
        found.append("two profiles of one name")
    if len({tuple(_queue_sort(profile)) for profile in data["profiles"]}) > 1:
        found.append("profiles differ in queueSort")
    for profile in data["profiles"]:
        found += _args(profile, version, data["apiVersion"])
        found += _points(profile, version)
        found += _scorers(profile)
    return found


def _enabled(profile: dict[str, Any], point: str) -> list[str]:
    return [each["name"] for each in profile["plugins"].get(point, {}).get("enabled", [])]


def _disabled(profile: dict[str, Any], point: str) -> list[str]:
    return [each["name"] for each in profile["plugins"].get(point, {}).get("disabled", [])]


def _queue_sort(profile: dict[str, Any]) -> list[str]:
    default = [] if {"*", "PrioritySort"} & set(_disabled(profile, "queueSort")) else ["PrioritySort"]
    return sorted({*default, *_enabled(profile, "queueSort")})


def _args(profile: dict[str, Any], version: str, outer: str) -> Iterator[str]:
    names = [entry["name"] for entry in profile["pluginConfig"]]
    if len(set(names)) < len(names):
        yield "repeated pluginConfig"
    for entry in profile["pluginConfig"]:
        plugin, args = entry["name"], dict(entry["args"])
        if args.pop("kind", f"{plugin}Args") != f"{plugin}Args":
            yield f"kind of {plugin}"
        if args.pop("apiVersion", outer) != outer:
            yield f"apiVersion of {plugin}"
        known = FIELDS[version].get(plugin)
        if known is None and plugin != "NodeResourcesFit":
            yield f"args of {plugin}"
        if known is not None and not set(args) <= set(known.split()):
            yield f"fields of {plugin}: {sorted(args)}"
        yield from _values(plugin, args)


def _values(plugin: str, args: dict[str, Any]) -> Iterator[str]:
    if plugin == "NodeResourcesFitPlus":
        for each in args["resources"].values():
            if each["type"] not in ("MostAllocated", "LeastAllocated") or each["weight"] < 1:
                yield f"fit plus {each}"
    if plugin == "ScarceResourceAvoidance" and not args["resources"]:
        yield "nothing scarce"
    if plugin == "Coscheduling" and int(args.get("defaultTimeout", "0s")[:-1]) > 900:
        yield "timeout above 900 s"
    if plugin in ("DeviceShare", "NodeNUMAResource"):
        for strategy in (args.get("scoringStrategy"), args.get("numaScoringStrategy")):
            if strategy and strategy["type"] not in ("MostAllocated", "LeastAllocated"):
                yield f"strategy of {plugin}"
            if strategy and not all(0 < each["weight"] <= 100 for each in strategy["resources"]):
                yield f"weights of {plugin}"
    if plugin == "LoadAwareScheduling":
        factors = {"cpu", "memory", *args.get("estimatedScalingFactors", {})}
        if not set(args.get("resourceWeights", {})) <= factors:
            yield "weight without a factor"


def _points(profile: dict[str, Any], version: str) -> Iterator[str]:
    for point in profile["plugins"]:
        names = _enabled(profile, point)
        if len(set(names)) < len(names):
            yield f"twice at {point}"
        for name in names:
            here = POINTS[version].get(name, "").split()
            if point not in here and name not in IN_TREE.get(point, "").split():
                yield f"{name} at {point}"
    if len(_queue_sort(profile)) != 1:
        yield "not one queueSort"
    for point in ("preScore", "reserve"):
        if "Reservation" in _enabled(profile, point)[1:]:
            yield f"Reservation not first at {point}"
    if "*" in _disabled(profile, "bind") and "DefaultBinder" not in _enabled(profile, "bind"):
        yield "no binder"


def _scorers(profile: dict[str, Any]) -> Iterator[str]:
    configured = {entry["name"] for entry in profile["pluginConfig"]}
    for plugin in ("NodeResourcesFitPlus", "ScarceResourceAvoidance"):
        at = {plugin in _enabled(profile, "preScore"), plugin in _enabled(profile, "score")}
        if at != {plugin in configured}:
            yield f"{plugin} half enabled"
    plus = next((e["args"] for e in profile["pluginConfig"] if e["name"] == "NodeResourcesFitPlus"), None)
    devices: dict[str, Any] = next(
        (e["args"] for e in profile["pluginConfig"] if e["name"] == "DeviceShare"), {}
    )
    gpus = [each["type"] for name, each in plus["resources"].items() if "gpu" in name] if plus else []
    packed = bool(gpus) and set(gpus) == {"MostAllocated"}
    strategy = devices.get("scoringStrategy", {"type": "LeastAllocated", "resources": [{"name": "gpu"}]})
    cards = any("gpu" in each["name"] for each in strategy["resources"])
    against = strategy["type"] == "LeastAllocated" and cards
    if packed and against and "NodeResourcesFit" in _disabled(profile, "score"):
        yield "DeviceShare spreads what is packed"
