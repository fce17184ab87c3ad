"""Ray: jobs, their submission, and what is deleted after them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from policykit.kube.cron import problem as schedule_problem
from policykit.kube.placeholders import is_filled_in
from policykit.kube.structure.admission.checks import (
    Data,
    alternatives,
    not_below,
    one_of,
    refused,
    service_name,
    time_zone,
)
from policykit.kube.structure.admission.ray import (
    KUBERAY,
    MANAGERS,
    cluster,
    made_by_another,
    owner_name,
    scaled_in_queue,
)
from policykit.kube.structure.problem import INCONSISTENT
from policykit.manifests.parser import parse
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping, numbered, pairs, whole
from policykit.model.severity import Severity

_KUEUE = "kueue.x-k8s.io/queue-name"
_LONGEST = 36
"""Characters of a RayCronJob's name: it begins those of a job and its cluster."""
_MODES = ("K8sJobMode", "HTTPMode", "InteractiveMode", "SidecarMode")
_LEAST: Mapping[str, int] = {
    "ttlSecondsAfterFinished": 0,
    "activeDeadlineSeconds": 1,
    "backoffLimit": 0,
}


def ray_cron_job(data: Data) -> Iterator[Problem]:
    """Source: `ValidateRayCronJobSpec` (KubeRay v1.7)."""
    yield from service_name(data, KUBERAY, _LONGEST)
    schedule, zone = lookup(data, ("spec", "schedule")), ("spec", "timeZone")
    if isinstance(schedule, str) and not is_filled_in(schedule) and (wrong := schedule_problem(schedule)):
        yield refused(("spec", "schedule"), wrong, KUBERAY)
    yield from time_zone(lookup(data, zone), zone)
    yield from _job(lookup(data, ("spec", "jobTemplate")), ("spec", "jobTemplate"), {})


def ray_job(data: Data) -> Iterator[Problem]:
    """Sources: `ValidateRayJobSpec` and `ValidateRayJobMetadata` (KubeRay v1.6), and the webhook for
    RayJobs of Kueue (0.9 to 0.19)."""
    yield from owner_name(data)
    spec, queued = data.get("spec"), bool(mapping(lookup(data, ("metadata", "labels"))).get(_KUEUE))
    annotations = pairs(lookup(data, ("metadata", "annotations")))
    yield from _job(spec, ("spec",), annotations, queued=queued)
    if not isinstance(spec, dict) or not queued or spec.get("clusterSelector"):
        return
    path: Path = ("spec", "shutdownAfterJobFinishes")
    yield from scaled_in_queue(data, ("spec", "rayClusterSpec"))
    if spec.get(path[-1]) in (None, False) and spec.get("rayClusterSpec"):
        there = path if path[-1] in spec else path[:1]
        says = "is false" if there == path else "has no shutdownAfterJobFinishes: true"
        yield refused(
            there,
            f"{says}, but Kueue admits only RayJobs that delete their cluster",
            "write shutdownAfterJobFinishes: true",
        )


def _job(
    spec: object, base: Path, annotations: Mapping[str, str], *, queued: bool = False
) -> Iterator[Problem]:
    """`queued`: by Kueue."""
    if not isinstance(spec, dict):
        return
    selector, made = spec.get("clusterSelector"), spec.get("rayClusterSpec")
    if not selector and made is None:
        yield refused(
            base,
            "has neither rayClusterSpec nor clusterSelector: there is no cluster to run on",
            "add rayClusterSpec, or select a RayCluster by ray.io/cluster",
            kind=INCONSISTENT,
        )
    yield from _end(spec, base)
    for field, least in _LEAST.items():
        yield from not_below(spec, base, field, least, KUBERAY)
    limit = whole(spec.get("backoffLimit"))
    if spec.get("submissionMode") == "InteractiveMode" and limit is not None and limit > 0:
        path = (*base, "backoffLimit")
        yield refused(path, f"is {limit}, but InteractiveMode does not retry", "delete it")
    yield from one_of(spec, ("submissionMode",), _MODES, "nothing submits the job", base)
    yield from one_of(spec, ("managedBy",), MANAGERS, "the API server refuses it", base)
    yield from made_by_another(made, (*base, "rayClusterSpec"))
    yield from _sidecar(spec, base)
    yield from _environment(spec, base)
    if isinstance(selector, dict) and selector:
        yield from _selected(spec, selector, base, queued=queued)
    yield from _deletion(spec, base)
    yield from cluster(made, (*base, "rayClusterSpec"), annotations)


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


def _selected(spec: Data, selector: Data, base: Path, *, queued: bool) -> Iterator[Problem]:
    """A job on a cluster that is there. Source: `getOrCreateRayClusterInstance` (KubeRay v1.6)."""
    if spec.get("rayClusterSpec") and queued:
        what = "selects a cluster that is there"
        yield refused((*base, "clusterSelector"), what, "delete it, as Kueue demands")
    elif spec.get("rayClusterSpec"):
        what = "makes no cluster: the job runs on the one that clusterSelector names"
        path = (*base, "rayClusterSpec")
        yield refused(path, what, "delete one of the two", Severity.WARNING, key=True, kind=INCONSISTENT)
    if not selector.get("ray.io/cluster"):
        yield refused((*base, "clusterSelector"), "does not name a cluster", "add ray.io/cluster")
    if spec.get("suspend") is True and spec.get("shutdownAfterJobFinishes") is True:
        what = "conflicts with clusterSelector: the cluster is not the job's to delete"
        yield refused((*base, "suspend"), what, f"delete it: {KUBERAY}", key=True)
    if spec.get("submissionMode") == "SidecarMode":
        what = "is SidecarMode, but the head of a selected cluster gets no container"
        yield refused((*base, "submissionMode"), what, f"write K8sJobMode: {KUBERAY}")
    limit = whole(spec.get("backoffLimit"))
    if limit is not None and limit > 0 and spec.get("submissionMode") != "InteractiveMode":
        what = f"is {limit}, but a job on a selected cluster is not retried"
        yield refused((*base, "backoffLimit"), what, f"delete it: {KUBERAY}")


def _sidecar(spec: Data, base: Path) -> Iterator[Problem]:
    """The submitter is a container of the head."""
    if spec.get("submissionMode") != "SidecarMode":
        return
    for field in ("submitterPodTemplate", "submitterConfig"):
        if spec.get(field) is not None:
            what = "conflicts with submissionMode SidecarMode, which has no pod to submit"
            yield refused((*base, field), what, f"delete one of the two: {KUBERAY}", key=True)
    path: Path = ("rayClusterSpec", "headGroupSpec", "template", "spec", "restartPolicy")
    policy = lookup(spec, path)
    if policy in ("Always", "OnFailure"):
        what = f"is {policy}, but SidecarMode would submit the job again"
        yield refused((*base, *path), what, f"delete it: {KUBERAY}")


def _environment(spec: Data, base: Path) -> Iterator[Problem]:
    written = spec.get("runtimeEnvYAML")
    if isinstance(written, str) and not is_filled_in(written):
        document = next(parse(written), None)
        if document is not None and document.problem:
            what = f"is not YAML: {document.problem.message}"
            yield refused((*base, "runtimeEnvYAML"), what, f"correct the text: {KUBERAY}")


_ON = ("onSuccess", "onFailure")
_ORDER = ("DeleteWorkers", "DeleteCluster", "DeleteSelf")
"""Each deletes what the one before it does, and more."""
_OF_CLUSTER = ("DeleteCluster", "DeleteWorkers")


def _deletion(spec: Data, base: Path) -> Iterator[Problem]:
    """Sources: `validateDeletionConfiguration` and what it calls, and the CRD's rules (v1.5 to 1.7)."""
    strategy = spec.get("deletionStrategy")
    if not isinstance(strategy, dict):
        return
    path: Path = (*base, "deletionStrategy")
    there = [field for field in _ON if strategy.get(field) is not None]
    rules, shut_down = strategy.get("deletionRules"), spec.get("shutdownAfterJobFinishes") is True
    if not rules and len(there) < 2:
        yield (
            refused(path, "has no deletionRules", f"add deletionRules: {KUBERAY}", kind=INCONSISTENT)
            if not there
            else refused(
                (*path, there[0]),
                f"needs {_ON[there[0] == _ON[0]]} beside it",
                f"add it: {KUBERAY}",
                key=True,
                kind=INCONSISTENT,
            )
        )
    if rules and there:
        what = f"conflicts with {there[0]}"
        yield refused((*path, "deletionRules"), what, f"delete one of the two: {KUBERAY}", key=True)
    elif rules and shut_down:
        what = "conflicts with shutdownAfterJobFinishes: true"
        yield refused((*path, "deletionRules"), what, f"delete one of the two: {KUBERAY}", key=True)
    for field in there:
        at: Path = (*path, field, "policy")
        policy = lookup(strategy, (field, "policy"))
        if shut_down and policy == "DeleteNone":
            what = "is DeleteNone, but shutdownAfterJobFinishes is true"
            yield refused(at, what, f"write shutdownAfterJobFinishes: false: {KUBERAY}")
        yield from _kept(spec, policy, at)
    yield from _rules(spec, rules, (*path, "deletionRules"))


def _kept(spec: Data, policy: object, path: Path) -> Iterator[Problem]:
    """Clusters that a job may not delete, or not in part."""
    if spec.get("clusterSelector") and policy in _OF_CLUSTER:
        what = f"is {policy}, but the job runs on a cluster that clusterSelector selects"
        yield refused(path, what, f"write DeleteSelf or DeleteNone: {KUBERAY}")
    elif policy == "DeleteWorkers" and lookup(spec, ("rayClusterSpec", "enableInTreeAutoscaling")) is True:
        what = "is DeleteWorkers, but enableInTreeAutoscaling is true"
        yield refused(path, what, f"write DeleteCluster: {KUBERAY}")


def _rules(spec: Data, rules: object, path: Path) -> Iterator[Problem]:
    seconds: dict[tuple[str, str], dict[str, int]] = {}
    for position, rule in numbered(rules):
        at: Path = (*path, position, "condition")
        condition, policy = mapping(rule.get("condition")), rule.get("policy")
        yield from _kept(spec, policy, (*path, position, "policy"))
        yield from alternatives(
            condition, at, ("jobStatus", "jobDeploymentStatus"), KUBERAY, needed=bool(condition)
        )
        when = _condition(condition)
        if when is None or not isinstance(policy, str):
            continue
        times = seconds.setdefault(when, {})
        if policy in times:
            what = f"is {policy}, and an earlier rule deletes the same after {when[1]}"
            yield refused((*path, position, "policy"), what, f"delete one of the two: {KUBERAY}")
        times.setdefault(policy, whole(condition.get("ttlSeconds", 0)) or 0)
    yield from _out_of_order(seconds, path)


def _condition(condition: Data) -> tuple[str, str] | None:
    for field in ("jobStatus", "jobDeploymentStatus"):
        value = condition.get(field)
        if isinstance(value, str):
            return field, value
    return None


def _out_of_order(seconds: Mapping[tuple[str, str], Mapping[str, int]], path: Path) -> Iterator[Problem]:
    """What is larger must not be deleted before a part of it."""
    for (_, when), times in seconds.items():
        listed = [policy for policy in _ORDER if policy in times]
        for part, all_of_it in pairwise(listed):
            if times[all_of_it] < times[part]:
                what = f"say {all_of_it} {times[all_of_it]}s after {when}, before {part} at {times[part]}s"
                yield refused(path, what, f"raise ttlSeconds of {all_of_it}: {KUBERAY}", key=True)
