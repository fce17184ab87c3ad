"""Ray: clusters and their worker groups, services."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from policykit.durations import exact_seconds
from policykit.kube.placeholders import is_filled_in
from policykit.kube.structure.admission.checks import (
    Data,
    named_differently,
    not_below,
    one_of,
    ordered,
    refused,
    service_name,
    variables,
)
from policykit.kube.structure.problem import INCONSISTENT
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import digits, mapping, numbered, pairs, whole
from policykit.model.severity import Severity

_STATED = ("num-cpus", "num-gpus", "memory", "resources")
_KUEUE = "kueue.x-k8s.io/queue-name"
_ELASTIC = "kueue.x-k8s.io/elastic-job"
KUBERAY = "KubeRay refuses it"
MANAGERS = ("ray.io/kuberay-operator", "kueue.x-k8s.io/multikueue")
_LONGEST, _APPENDED = 53, 6
"""Characters of a RayCluster's name, and those that a RayJob or a RayService appends to its own."""


def ray_cluster(data: Data) -> Iterator[Problem]:
    """Sources: `ValidateRayClusterSpec`, `validateWorkerGroups`, `ValidateRayClusterMetadata`
    and `GetWorkerGroupDesiredReplicas`.

    All of KubeRay (v1.6); names are checked since 1.4.
    """
    named = lookup(data, ("spec", *_SERVICE))  # then up to 1.3 the name was in no Service
    yield from service_name(data, KUBERAY, _LONGEST, Severity.WARNING if named else None)
    yield from cluster(data.get("spec"), ("spec",), pairs(lookup(data, _ANNOTATIONS)))
    yield from scaled_in_queue(data, ("spec",))


def owner_name(data: Data) -> Iterator[Problem]:
    """The name of a RayJob or a RayService begins that of its cluster."""
    yield from service_name(data, KUBERAY, _LONGEST - _APPENDED)


def made_by_another(spec: object, base: Path) -> Iterator[Problem]:
    """Source: `ValidateRayClusterUpgradeOptions` (v1.6)."""
    path: Path = ("upgradeStrategy", "type")
    if lookup(spec, path) is not None:
        what = "is only for a RayCluster of its own"
        yield refused((*base, *path), what, f"delete upgradeStrategy: {KUBERAY}", key=True)


def ray_service(data: Data) -> Iterator[Problem]:
    """Sources: `ValidateRayServiceSpec`, `ValidateRayServiceMetadata` and `ValidateClusterUpgradeOptions`.

    All of KubeRay (v1.6).
    """
    base: Path = ("spec", "rayClusterConfig")
    annotations = pairs(lookup(data, _ANNOTATIONS))
    yield from owner_name(data)
    yield from _patience(annotations)
    yield from cluster(lookup(data, base), base, annotations)
    yield from made_by_another(lookup(data, base), base)
    name: Path = (*base, *_SERVICE)
    if lookup(data, name):
        advice = "delete it: KubeRay 1.3 refuses it, since each new cluster has a Service of its own"
        yield refused(name, "may not be set", advice, Severity.WARNING, key=True)
    yield from _upgraded(data, lookup(data, (*base, "enableInTreeAutoscaling")) is True)
    if (written := lookup(data, ("spec", "serveConfigV2"))) is not None:
        from policykit.kube.structure.admission.ray_serve import applications

        yield from applications(written)


def scaled_in_queue(data: Data, base: Path) -> Iterator[Problem]:
    """Source: the webhooks for RayClusters and RayJobs of Kueue (0.9 to 0.19)."""
    metadata = data.get("metadata")
    labels, annotations = (
        found if isinstance(found := lookup(metadata, (field,)), dict) else {}
        for field in ("labels", "annotations")
    )
    if not labels.get(_KUEUE):
        return
    path: Path = (*base, "enableInTreeAutoscaling")
    if annotations.get(_ELASTIC) != "true" and lookup(data, path) is True:
        yield refused(
            path,
            "is true, but Kueue admits only clusters whose size is fixed",
            f'delete it, or make it an elastic job where Kueue has those: annotation {_ELASTIC}: "true"',
        )
    listed: Path = (*base, "workerGroupSpecs")
    groups = [*numbered(lookup(data, listed))]
    for position, group in groups:
        if group.get("groupName") == _HEAD:
            what = f"is {_HEAD}, which Kueue calls the group of the head"
            yield refused((*listed, position, "groupName"), what, "write another name: Kueue refuses it")
    if len(groups) > _FEW_GROUPS:
        refuses = len(groups) > _MANY_GROUPS
        what = f"has {len(groups)} groups, but Kueue takes at most {_MANY_GROUPS if refuses else _FEW_GROUPS}"
        since = "" if refuses else ", and more only since 0.19"
        severity = None if refuses else Severity.WARNING
        yield refused(listed, f"{what}{since}", "merge groups that need the same", severity, key=True)


_HEAD = "head"
_FEW_GROUPS, _MANY_GROUPS = 7, 17
"""Worker groups that fit into a Workload beside the head, up to 0.18 and since 0.19."""
_SERVICE: Path = ("headGroupSpec", "headService", "metadata", "name")
_ANNOTATIONS: Path = ("metadata", "annotations")
_TIMEOUT = "ray.io/initializing-timeout"
_INCREMENTAL = "NewClusterWithIncrementalUpgrade"
_UPGRADES = (_INCREMENTAL, "NewCluster", "None")


def _patience(annotations: dict[str, str]) -> Iterator[Problem]:
    written = annotations.get(_TIMEOUT, "")
    if not written or is_filled_in(written):
        return
    given = digits(written) or exact_seconds(written)
    if not given or given <= 0:
        advice = "write a time above 0, such as 30m, or a number of seconds"
        yield refused((*_ANNOTATIONS, _TIMEOUT), f'is "{written}"', f"{advice}: {KUBERAY}")


def _upgraded(data: Data, scaled: bool) -> Iterator[Problem]:
    base: Path = ("spec", "upgradeStrategy")
    yield from one_of(data, (*base, "type"), _UPGRADES, KUBERAY)
    if lookup(data, (*base, "type")) != _INCREMENTAL:
        return
    if not scaled:
        what = f"is {_INCREMENTAL}, but the cluster is not scaled"
        yield refused((*base, "type"), what, "write enableInTreeAutoscaling: true in rayClusterConfig")
    path: Path = (*base, "clusterUpgradeOptions")
    options = lookup(data, path)
    if not isinstance(options, dict):
        yield refused(base, "has no clusterUpgradeOptions", f"add them: {KUBERAY}", kind=INCONSISTENT)
        return
    yield from ordered(
        {"maxSurgePercent": 100, **options}, path, "stepSizePercent", "maxSurgePercent", KUBERAY
    )
    for field in ("maxSurgePercent", "stepSizePercent"):
        share = whole(options.get(field))
        if share is not None and not 0 <= share <= 100:
            yield refused((*path, field), f"is {share}", f"write 0 to 100: {KUBERAY}")
    yield from not_below(options, path, "intervalSeconds", 1, KUBERAY)


_FT, _STORAGE = "ray.io/ft-enabled", "ray.io/external-storage-namespace"
_ADDRESS, _V2 = "RAY_REDIS_ADDRESS", "RAY_enable_autoscaler_v2"
_OPTIONS = "gcsFaultToleranceOptions"
_MOVED: Mapping[str, str] = {_ADDRESS: "redisAddress", "REDIS_PASSWORD": "redisPassword"}
"""Variables of the head to the options that replace them."""


def _fault_tolerance(spec: Data, base: Path, annotations: Mapping[str, str]) -> Iterator[Problem]:
    """It is configured in one place (since v1.3)."""
    head: Path = (*base, "headGroupSpec")
    there = variables(lookup(spec, ("headGroupSpec", "template")))
    template: Path = (*head, "template")
    if spec.get(_OPTIONS) is None:
        if annotations.get(_FT, "").lower() == "false" and _ADDRESS in there:
            where = (*template, *there[_ADDRESS], "name")
            yield refused(where, f"is {_ADDRESS}, but {_FT} is false", f"add {_OPTIONS}: {KUBERAY}")
        return
    at = "of " + _OPTIONS
    for key, field in ((_FT, ""), (_STORAGE, "externalStorageNamespace")):
        if annotations.get(key):
            advice = f"write {field} {at}" if field else f"delete it: {_OPTIONS} turn it on"
            yield refused(
                (*_ANNOTATIONS, key), f"conflicts with {_OPTIONS}", f"{advice}: {KUBERAY}", key=True
            )
    if lookup(spec, ("headGroupSpec", "rayStartParams", "redis-password")):
        path: Path = (*head, "rayStartParams", "redis-password")
        advice = f"write redisPassword {at}: {KUBERAY}"
        yield refused(path, f"conflicts with {_OPTIONS}", advice, key=True)
    for name, field in _MOVED.items():
        if name in there:
            where = (*template, *there[name], "name")
            yield refused(where, f"is {name}, but {_OPTIONS} are set", f"write {field} {at}: {KUBERAY}")


def _scaler(spec: Data, base: Path) -> Iterator[Problem]:
    """The second autoscaler: where it is turned on, and what is read by it alone."""
    scaled, options = spec.get("enableInTreeAutoscaling") is True, mapping(spec.get("autoscalerOptions"))
    yield from not_below(options, (*base, "autoscalerOptions"), "idleTimeoutSeconds", 0, KUBERAY)
    pod: Path = ("headGroupSpec", "template")
    there = variables(lookup(spec, pod))
    written = lookup(spec, (*pod, *there[_V2], "value")) if _V2 in there else None
    turned_on = written in ("1", "true")
    if _V2 in there and (options.get("version") is not None if scaled else turned_on):
        says = "autoscalerOptions.version is set" if scaled else "enableInTreeAutoscaling is not true"
        advice = "delete one of the two" if scaled else "write enableInTreeAutoscaling: true, or delete it"
        severity = None if scaled else Severity.WARNING
        where = (*base, *pod, *there[_V2], "name")
        yield refused(where, f"is {_V2}, but {says}", f"{advice}: KubeRay 1.5 refuses it", severity)
    if scaled:
        yield from _measured(spec.get("headGroupSpec"), (*base, "headGroupSpec"))
        for position, group in numbered(spec.get("workerGroupSpecs")):
            yield from _measured(group, (*base, "workerGroupSpecs", position))
            yield from _sliced(group, (*base, "workerGroupSpecs", position))
    if not (scaled and (options.get("version") == "v2" or turned_on)):
        for position, group in numbered(spec.get("workerGroupSpecs")):
            if group.get("idleTimeoutSeconds") is not None:
                where = (*base, "workerGroupSpecs", position, "idleTimeoutSeconds")
                what = "is for autoscaler v2, which is off"
                advice = "write enableInTreeAutoscaling: true and autoscalerOptions.version: v2"
                yield refused(where, what, f"{advice}, or delete it: {KUBERAY}", key=True)


_OF_SLICES = ("cloud.google.com/gke-tpu-accelerator", "cloud.google.com/gke-tpu-topology")
_MAIN: Path = ("template", "spec", "containers", 0)


def _measured(group: object, at: Path) -> Iterator[Problem]:
    """What the autoscaler reads of a group. Source: `_get_num_cpus` of its `autoscaling_config.py`."""
    container = lookup(group, _MAIN)
    if not isinstance(container, dict) or lookup(group, ("resources",)) or "..." in container:
        return
    parameters = lookup(group, ("rayStartParams",))
    places = [parameters] if parameters else []
    there = [lookup(container, ("resources", field)) for field in ("limits", "requests")]
    if any(not isinstance(each, dict) for each in (*places, *filter(None, there))):
        return  # a placeholder
    if "num-cpus" not in mapping(parameters) and not any("cpu" in mapping(each) for each in there):
        yield refused(
            (*at, *_MAIN),
            "states no cpu, without which the autoscaler of Ray ends",
            "add a limit or request of cpu, or num-cpus to rayStartParams of the group",
            Severity.WARNING,
        )


def _sliced(group: Data, at: Path) -> Iterator[Problem]:
    """Source: `_get_ray_resources_from_group_spec` of the same file (Ray 2.48), for chips of a TPU."""
    limits: Path = (*_MAIN, "resources", "limits", "google.com/tpu")
    selected = lookup(group, ("template", "spec", "nodeSelector"))
    if lookup(group, limits) is None or not isinstance(selected, (dict, type(None))):
        return
    if lacks := [key for key in _OF_SLICES if key not in (selected or ())]:
        says = f"is set, but nodeSelector has no {' and no '.join(lacks)}"
        advice = "select both: without them Ray's autoscaler ends"
        yield refused((*at, *limits), says, advice, Severity.WARNING, key=True, kind=INCONSISTENT)


def _tokens(spec: Data, base: Path) -> Iterator[Problem]:
    """Ray reads tokens from 2.52 on; the field is of KubeRay 1.5."""
    path: Path = (*base, "authOptions", "mode")
    written = spec.get("rayVersion")
    if lookup(spec, path[len(base) :]) != "token" or (isinstance(written, str) and is_filled_in(written)):
        return
    found = _VERSION.fullmatch(written) if isinstance(written, str) else None
    if written is None or (found and tuple(map(int, written.split(".")[:2])) < (2, 52)):
        what = f"rayVersion is {written}" if written else "there is no rayVersion"
        yield refused(path, f"is token, but {what}", f"write rayVersion: 2.52.0 or later: {KUBERAY}")


def _parameters(group: Data, at: Path) -> Iterator[Problem]:
    """Labels have a field of their own (since v1.5), and the name of Redis' user (since v1.3)."""
    parameters = mapping(group.get("rayStartParams"))
    if "labels" in parameters:
        advice = "write them in labels of the group: KubeRay 1.5 refuses it"
        path: Path = (*at, "rayStartParams", "labels")
        yield refused(path, "may not be set", advice, Severity.WARNING, key=True)
    if parameters.get("redis-username"):
        path = (*at, "rayStartParams", "redis-username")
        advice = f"write redisUsername of {_OPTIONS}: KubeRay 1.3 refuses it"
        yield refused(path, "may not be set", advice, Severity.WARNING, key=True)


def cluster(spec: object, base: Path, annotations: Mapping[str, str]) -> Iterator[Problem]:
    """The spec of a RayCluster; `annotations` of the object that has it."""
    if not isinstance(spec, dict):
        return
    yield from _fault_tolerance(spec, base, annotations)
    yield from _scaler(spec, base)
    yield from _tokens(spec, base)
    yield from one_of(spec, ("managedBy",), MANAGERS, "the API server refuses it", base)
    yield from _version(spec, base)
    yield from _first_container(spec.get("headGroupSpec"), (*base, "headGroupSpec"))
    path: Path = (*base, "workerGroupSpecs")
    groups = spec.get("workerGroupSpecs")
    yield from named_differently(groups, path, "groupName", "worker group")
    scaled = spec.get("enableInTreeAutoscaling") is True
    for position, group in numbered(groups):
        at: Path = (*path, position)
        yield from ordered(group, at, "minReplicas", "maxReplicas", "no number of pods satisfies both")
        yield from _within(group, at)
        yield from _first_container(group, at)
        yield from _stated(group, at)
        yield from _quoted(group, at)
        yield from _parameters(group, at)
        yield from not_below(group, at, "minReplicas", 0, KUBERAY)
        yield from not_below(group, at, "idleTimeoutSeconds", 0, KUBERAY)
        if scaled and group.get("suspend") is True:
            yield refused((*at, "suspend"), "conflicts with enableInTreeAutoscaling", "delete one of the two")
        if not scaled and whole(group.get("replicas")) == 0 and (whole(group.get("maxReplicas")) or 0) > 0:
            what = "is 0, and enableInTreeAutoscaling is not true: no worker is made"
            advice = "write enableInTreeAutoscaling: true, or replicas: 1 or more"
            yield refused((*at, "replicas"), what, advice, Severity.INFO)
    head = spec.get("headGroupSpec")
    if isinstance(head, dict):
        yield from _stated(head, (*base, "headGroupSpec"))
        yield from _quoted(head, (*base, "headGroupSpec"))
        yield from _parameters(head, (*base, "headGroupSpec"))


def _quoted(group: Data, at: Path) -> Iterator[Problem]:
    """The parameters are part of a command line. Source: `generateRayStartCommand` (v1.6)."""
    path: Path = ("rayStartParams", "resources")
    written = lookup(group, path)
    if not isinstance(written, str) or is_filled_in(written):
        return
    if written.lstrip().startswith("{") and '"' in written:
        yield refused(
            (*at, *path),
            f"is {written}, of which the shell takes the quotes: ray start does not read it",
            "write it in quotes of its own: " + repr('"' + written.replace('"', '\\"') + '"'),
            Severity.WARNING,
        )


_IMAGE = re.compile(r"(?:^|/)ray(?:-ml|-llm)?:([0-9]+\.[0-9]+\.[0-9]+)")
_OF_RAY = re.compile(r"(?:^|/)ray(?:-ml|-llm)?(?::|@|$)")
_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")


def _version(spec: Data, base: Path) -> Iterator[Problem]:
    """KubeRay starts Ray, and its autoscaler, as the stated version needs it. Tags of Ray's own images."""
    stated = spec.get("rayVersion")
    image = lookup(spec, ("headGroupSpec", "template", "spec", "containers", 0, "image"))
    found = _IMAGE.search(image) if isinstance(image, str) else None
    if found and isinstance(stated, str) and _VERSION.fullmatch(stated) and stated != found.group(1):
        yield refused(
            (*base, "rayVersion"),
            f"is {stated}, but the image of the head has Ray {found.group(1)}",
            f"write {found.group(1)}: KubeRay starts Ray as that version needs it",
            Severity.WARNING,
        )


def _first_container(group: object, at: Path) -> Iterator[Problem]:
    """KubeRay starts Ray in the first container, whatever its name. Source: `RayContainerIndex` (v1.6)."""
    path: Path = ("template", "spec", "containers")
    listed = lookup(group, path)
    if not isinstance(listed, list) or len(listed) < 2:
        return
    with_ray = [bool(_OF_RAY.search(str(lookup(each, ("image",))))) for each in listed]
    name = lookup(listed[0], ("name",))
    if any(with_ray) and not with_ray[0] and isinstance(name, str) and "ray" not in name:
        there = lookup(listed[with_ray.index(True)], ("name",))
        yield refused(
            (*at, *path, 0),
            f"is {name}, but KubeRay starts Ray in the first container",
            f"list {there} first",
            Severity.WARNING,
        )


def _within(group: Data, at: Path) -> Iterator[Problem]:
    """KubeRay takes the nearer bound."""
    least, most = whole(group.get("minReplicas", 0)), whole(group.get("maxReplicas"))
    count = whole(group.get("replicas"))
    if count is None or least is None or (most is not None and least > most):
        return
    if count < least or (most is not None and count > most):
        bounds = f"{least} to {most}" if most is not None else f"{least} or more"
        used = least if count < least else most
        yield refused(
            (*at, "replicas"),
            f"is {count}, outside minReplicas and maxReplicas ({bounds}): {used} pods run",
            f"write replicas: {used}, or change the bound",
            Severity.WARNING,
        )


def _stated(group: Data, at: Path) -> Iterator[Problem]:
    """The resources of a group are set in one place only."""
    parameters = group.get("rayStartParams")
    if not group.get("resources") or not isinstance(parameters, dict):
        return
    for name in _STATED:
        if parameters.get(name):
            path = (*at, "rayStartParams", name)
            yield refused(
                path, "conflicts with resources of the group", "state it in resources only", key=True
            )
            return
