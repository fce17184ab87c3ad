"""Autoscaling of workload kinds: bounds, metrics and targets."""

from __future__ import annotations

from policykit.kube.names import dns_label_problem, dns_subdomain_problem
from policykit.manifests.path import Path
from policykit.model.autoscaling import Autoscaling, Metric, ScaleTarget
from policykit.policy.compile.draft import Draft
from policykit.policy.models import autoscaling as written
from policykit.policy.models.workload import Workload

_APPS = frozenset({"Deployment", "StatefulSet", "ReplicaSet"})
_WITHOUT_SCALE = frozenset({"DaemonSet", "Job", "CronJob", "Pod"})


def autoscaling(draft: Draft, path: Path, stated: written.Autoscaling | None) -> Autoscaling | None:
    """Bounds and metrics; None if the policy sets none."""
    if stated is None:
        return None
    if stated.max is None:
        draft.problems.error(
            path, f"autoscaling of workload kind {path[1]} has no max", "add max: 8", key=True
        )
    elif stated.min > stated.max:
        message = f"min {stated.min} is greater than max {stated.max}"
        draft.problems.error((*path, "min"), message, "lower min or raise max")
    metrics = [_metric(draft, (*path, "metrics", n), each) for n, each in enumerate(stated.metrics)]
    if stated.min == 0 and not any(each.external for each in stated.metrics):
        message = "min 0 needs an external metric: with no pods there are no pod metrics"
        draft.problems.error((*path, "min"), message, "set min: 1, or add an external metric")
    targets = [_target(draft, (*path, "targets", n), each) for n, each in enumerate(stated.targets)]
    return Autoscaling(stated.max or 1, stated.min, tuple(metrics), tuple(targets), stated.cooldown)


def check_targets(draft: Draft) -> None:
    """Reports workloads with more than one autoscaler, which would undo each other's work."""
    homes: dict[tuple[str, str, str], str] = {}
    for name, kind in draft.policy.workloads.items():
        for number, each in enumerate(kind.autoscaling.targets if kind.autoscaling else ()):
            identity = (each.kind, each.namespace, each.name)
            home = homes.setdefault(identity, name)
            if home != name or identity in [(t.kind, t.namespace, t.name) for t in _targets(kind)[:number]]:
                path = ("workloads", name, "autoscaling", "targets", number)
                message = f"{each.kind} {each.name} is already scaled by workload kind {home}"
                draft.problems.error(path, message, "list it once")


def _targets(kind: Workload) -> tuple[written.ScaleTarget, ...]:
    return kind.autoscaling.targets if kind.autoscaling else ()


def _metric(draft: Draft, path: Path, stated: written.Metric) -> Metric:
    sources = {"resource": stated.resource or "", "pods": stated.pods, "external": stated.external}
    named = [source for source, name in sources.items() if name]
    if len(named) != 1:
        said = f"this one has {' and '.join(named)}" if named else "this one has none"
        message = f"a metric needs exactly one of resource, pods and external; {said}"
        draft.problems.error(path, message, "use {resource: cpu, utilization: 70}")
    source = named[0] if named else "resource"
    if named:
        _check_value(draft, path, source, stated)
    return Metric(source, sources[source], stated.utilization, stated.average or "")


def _check_value(draft: Draft, path: Path, source: str, stated: written.Metric) -> None:
    if stated.utilization is not None and source != "resource":
        message = "utilization is a percentage of requests and applies only to cpu and memory"
        draft.problems.error((*path, "utilization"), message, 'use average: "5"', key=True)
    elif stated.utilization is None and stated.average is None:
        hint = "add utilization: 70" if source == "resource" else 'add average: "5"'
        draft.problems.error(path, "this metric has no target value", hint)
    elif stated.utilization is not None and stated.average is not None:
        message = "a metric has either a utilization or an average, not both"
        draft.problems.error((*path, "average"), message, "remove one of them", key=True)


def _target(draft: Draft, path: Path, stated: written.ScaleTarget) -> ScaleTarget:
    if not stated.name:
        draft.problems.error(path, "this target has no name", "add name")
    else:
        draft.check((*path, "name"), f"name {stated.name!r}", dns_subdomain_problem(stated.name))
    if stated.namespace:
        problem = dns_label_problem(stated.namespace)
        draft.check((*path, "namespace"), f"namespace {stated.namespace!r}", problem)
    if stated.kind in _WITHOUT_SCALE:
        message = f"a {stated.kind} cannot be scaled"
        draft.problems.error((*path, "kind"), message, "use a Deployment or StatefulSet")
    elif stated.api_version == "apps/v1" and stated.kind not in _APPS:
        message = f"apps/v1 has no kind {stated.kind!r} with replicas"
        draft.problems.error((*path, "kind"), message, "add its apiVersion: group/v1")
    return ScaleTarget(stated.kind, stated.name, stated.namespace, stated.api_version)
