"""Ray: worker groups of clusters, and the clusters of RayJobs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policykit.kube.cron import problem as schedule_problem
from policykit.kube.placeholders import is_filled_in
from policykit.kube.structure.admission.checks import (
    Data,
    mappings,
    named_differently,
    not_below,
    ordered,
    refused,
)
from policykit.kube.structure.problem import INCONSISTENT
from policykit.manifests.parser import parse
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import whole
from policykit.model.severity import Severity

_STATED = ("num-cpus", "num-gpus", "memory", "resources")
_KUEUE = "kueue.x-k8s.io/queue-name"
_ELASTIC = "kueue.x-k8s.io/elastic-job"
_KUBERAY = "KubeRay refuses it"


def ray_cluster(data: Data) -> Iterator[Problem]:
    """Sources: `ValidateRayClusterSpec`, `validateWorkerGroups` and `GetWorkerGroupDesiredReplicas`.

    All of KubeRay (v1.6).
    """
    yield from _cluster(data.get("spec"), ("spec",))
    yield from _scaled_in_queue(data, ("spec",))


def ray_service(data: Data) -> Iterator[Problem]:
    """Source: `ValidateRayServiceSpec` (KubeRay v1.6)."""
    base: Path = ("spec", "rayClusterConfig")
    yield from _cluster(lookup(data, base), base)
    written = lookup(data, ("spec", "serveConfigV2"))
    if isinstance(written, str) and not is_filled_in(written):
        document = next(parse(written), None)
        if document is not None and document.problem:
            yield refused(
                ("spec", "serveConfigV2"),
                f"is not YAML: {document.problem.message}",
                "correct the text: KubeRay deploys no application",
            )


def ray_cron_job(data: Data) -> Iterator[Problem]:
    """Source: `ValidateRayCronJobSpec` (KubeRay v1.6)."""
    schedule = lookup(data, ("spec", "schedule"))
    if isinstance(schedule, str) and not is_filled_in(schedule) and (wrong := schedule_problem(schedule)):
        yield refused(("spec", "schedule"), wrong, _KUBERAY)
    yield from _job(lookup(data, ("spec", "jobTemplate")), ("spec", "jobTemplate"))


def ray_job(data: Data) -> Iterator[Problem]:
    """Sources: `ValidateRayJobSpec` (KubeRay v1.6), and the webhook for RayJobs of Kueue (0.9 to 0.19)."""
    yield from _job(data.get("spec"), ("spec",))
    spec, labels = data.get("spec"), lookup(data, ("metadata", "labels"))
    if not isinstance(spec, dict) or not isinstance(labels, dict) or not labels.get(_KUEUE):
        return
    path: Path = ("spec", "shutdownAfterJobFinishes")
    if spec.get("clusterSelector"):
        if spec.get("rayClusterSpec"):
            yield refused(
                ("spec", "clusterSelector"), "selects a cluster that is there", "delete it, as Kueue demands"
            )
        return
    yield from _scaled_in_queue(data, ("spec", "rayClusterSpec"))
    if spec.get(path[-1]) in (None, False) and spec.get("rayClusterSpec"):
        there = path if path[-1] in spec else path[:1]
        says = "is false" if there == path else "has no shutdownAfterJobFinishes: true"
        yield refused(
            there,
            f"{says}, but Kueue admits only RayJobs that delete their cluster",
            "write shutdownAfterJobFinishes: true",
        )


def _scaled_in_queue(data: Data, base: Path) -> Iterator[Problem]:
    """Source: the webhooks for RayClusters and RayJobs of Kueue (0.9 to 0.19)."""
    metadata = data.get("metadata")
    labels, annotations = (
        found if isinstance(found := lookup(metadata, (field,)), dict) else {}
        for field in ("labels", "annotations")
    )
    path: Path = (*base, "enableInTreeAutoscaling")
    if labels.get(_KUEUE) and annotations.get(_ELASTIC) != "true" and lookup(data, path) is True:
        yield refused(
            path,
            "is true, but Kueue admits only clusters whose size is fixed",
            f'delete it, or make it an elastic job where Kueue has those: annotation {_ELASTIC}: "true"',
        )


def _job(spec: object, base: Path) -> Iterator[Problem]:
    if not isinstance(spec, dict):
        return
    selector, cluster = spec.get("clusterSelector"), spec.get("rayClusterSpec")
    if not selector and cluster is None:
        yield refused(
            base,
            "has neither rayClusterSpec nor clusterSelector: there is no cluster to run on",
            "add rayClusterSpec, or select a RayCluster by ray.io/cluster",
            kind=INCONSISTENT,
        )
    yield from _end(spec, base)
    if isinstance(selector, dict) and selector and not selector.get("ray.io/cluster"):
        yield refused(
            (*base, "clusterSelector"), "does not name a cluster", "add ray.io/cluster", kind=INCONSISTENT
        )
    for field, least in (("ttlSecondsAfterFinished", 0), ("activeDeadlineSeconds", 1), ("backoffLimit", 0)):
        yield from not_below(spec, base, field, least, _KUBERAY)
    limit = whole(spec.get("backoffLimit"))
    if spec.get("submissionMode") == "InteractiveMode" and limit is not None and limit > 0:
        path = (*base, "backoffLimit")
        yield refused(path, f"is {limit}, but InteractiveMode does not retry", "delete it")
    yield from _cluster(cluster, (*base, "rayClusterSpec"))


def _end(spec: Data, base: Path) -> Iterator[Problem]:
    """What needs a cluster that is deleted with the job."""
    if spec.get("shutdownAfterJobFinishes") not in (None, False):
        return
    seconds = whole(spec.get("ttlSecondsAfterFinished"))
    if seconds is not None and seconds > 0:
        yield refused(
            (*base, "ttlSecondsAfterFinished"),
            f"is {seconds}, but shutdownAfterJobFinishes is not true: the cluster is never deleted",
            "write shutdownAfterJobFinishes: true, or delete it",
        )
    if spec.get("suspend") is True:
        yield refused(
            (*base, "suspend"),
            "requires shutdownAfterJobFinishes: true",
            "write it: a suspended RayJob deletes its cluster",
        )


def _cluster(spec: object, base: Path) -> Iterator[Problem]:
    if not isinstance(spec, dict):
        return
    yield from _version(spec, base)
    yield from _first_container(spec.get("headGroupSpec"), (*base, "headGroupSpec"))
    path: Path = (*base, "workerGroupSpecs")
    groups = spec.get("workerGroupSpecs")
    yield from named_differently(groups, path, "groupName", "worker group")
    scaled = spec.get("enableInTreeAutoscaling") is True
    for position, group in mappings(groups):
        at: Path = (*path, position)
        yield from ordered(group, at, "minReplicas", "maxReplicas", "no number of pods satisfies both")
        yield from _within(group, at)
        yield from _first_container(group, at)
        yield from _stated(group, at)
        yield from _quoted(group, at)
        if scaled and group.get("suspend") is True:
            yield refused((*at, "suspend"), "conflicts with enableInTreeAutoscaling", "delete one of the two")
    head = spec.get("headGroupSpec")
    if isinstance(head, dict):
        yield from _stated(head, (*base, "headGroupSpec"))
        yield from _quoted(head, (*base, "headGroupSpec"))


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
