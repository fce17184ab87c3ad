"""Ray: worker groups of clusters, and the clusters of RayJobs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

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
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import whole
from policykit.model.severity import Severity

_STATED = ("num-cpus", "num-gpus", "memory", "resources")
_KUBERAY = "KubeRay refuses it"


def ray_cluster(data: Data) -> Iterator[Problem]:
    """Sources: `ValidateRayClusterSpec`, `validateWorkerGroups` and `GetWorkerGroupDesiredReplicas`.

    All of KubeRay (v1.6).
    """
    yield from _cluster(data.get("spec"), ("spec",))


def ray_service(data: Data) -> Iterator[Problem]:
    """Source: `ValidateRayServiceSpec` (KubeRay v1.6)."""
    base: Path = ("spec", "rayClusterConfig")
    yield from _cluster(lookup(data, base), base)


def ray_cron_job(data: Data) -> Iterator[Problem]:
    """Source: `ValidateRayCronJobSpec` (KubeRay v1.6)."""
    schedule = lookup(data, ("spec", "schedule"))
    if isinstance(schedule, str) and not is_filled_in(schedule) and (wrong := schedule_problem(schedule)):
        yield refused(("spec", "schedule"), wrong, _KUBERAY)
    yield from _job(lookup(data, ("spec", "jobTemplate")), ("spec", "jobTemplate"))


def ray_job(data: Data) -> Iterator[Problem]:
    """Source: `ValidateRayJobSpec` (KubeRay v1.6)."""
    yield from _job(data.get("spec"), ("spec",))


def _job(spec: object, base: Path) -> Iterator[Problem]:
    if not isinstance(spec, Mapping):
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
    if isinstance(selector, Mapping) and selector and not selector.get("ray.io/cluster"):
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
    if not isinstance(spec, Mapping):
        return
    path: Path = (*base, "workerGroupSpecs")
    groups = spec.get("workerGroupSpecs")
    yield from named_differently(groups, path, "groupName", "worker group")
    scaled = spec.get("enableInTreeAutoscaling") is True
    for position, group in mappings(groups):
        at: Path = (*path, position)
        yield from ordered(group, at, "minReplicas", "maxReplicas", "no number of pods satisfies both")
        yield from _within(group, at)
        yield from _stated(group, at)
        if scaled and group.get("suspend") is True:
            yield refused((*at, "suspend"), "conflicts with enableInTreeAutoscaling", "delete one of the two")
    head = spec.get("headGroupSpec")
    if isinstance(head, Mapping):
        yield from _stated(head, (*base, "headGroupSpec"))


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
    """Resources of a group stand in one place."""
    parameters = group.get("rayStartParams")
    if not group.get("resources") or not isinstance(parameters, Mapping):
        return
    for name in _STATED:
        if parameters.get(name):
            path = (*at, "rayStartParams", name)
            yield refused(
                path, "conflicts with resources of the group", "state it in resources only", key=True
            )
            return
