"""Built-in kinds: rollouts, disruption budgets, a kubelet's file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.kube.names import dns_label_problem
from policykit.kube.structure.admission.checks import CHANGING, Data, name_of, not_below, refused
from policykit.kube.structure.problem import BAD_VALUE, IN_NO_NAMESPACE, INCONSISTENT
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import digits, numbered, whole
from policykit.model.severity import Severity

_PROGRESS_DEADLINE = 600
"""Seconds that a rollout may take if a Deployment states no deadline."""


_SELECTOR: Path = ("spec", "selector", "matchLabels")


def _selected(data: Data) -> Iterator[Problem]:
    labels = lookup(data, _SELECTOR)
    if isinstance(labels, dict) and not CHANGING.keys().isdisjoint(labels):
        from policykit.kube.structure.admission.changing_labels import selected

        yield from selected(labels, _SELECTOR)


def deployment(data: Data) -> Iterator[Problem]:
    """Source: `ValidateDeploymentSpec` and `ValidateDeploymentStrategy` (Kubernetes v1.36)."""
    yield from _selected(data)
    ready = whole(lookup(data, ("spec", "minReadySeconds")))
    stated = lookup(data, ("spec", "progressDeadlineSeconds"))
    deadline = _PROGRESS_DEADLINE if stated is None else whole(stated)
    if ready is not None and deadline is not None and deadline <= ready:
        field = "minReadySeconds" if stated is None else "progressDeadlineSeconds"
        yield refused(
            ("spec", field),
            f"is {ready}, not below progressDeadlineSeconds, which is {deadline} by default"
            if stated is None
            else f"is {deadline}, not above minReadySeconds {ready}",
            f"write progressDeadlineSeconds: {ready + 1} or more, or lower minReadySeconds",
        )
    base: Path = ("spec", "strategy")
    strategy = lookup(data, base)
    if not isinstance(strategy, dict):
        return
    update = strategy.get("rollingUpdate")
    if strategy.get("type") == "Recreate" and update is not None:
        yield refused(
            (*base, "rollingUpdate"), "conflicts with type Recreate", "delete one of the two", key=True
        )
    elif isinstance(update, dict) and _none(update.get("maxSurge")) and _none(update.get("maxUnavailable")):
        yield _stuck((*base, "rollingUpdate"), "maxSurge")
    elif isinstance(update, dict) and (_percent(update.get("maxUnavailable")) or 0) > 100:
        where: Path = (*base, "rollingUpdate", "maxUnavailable")
        yield refused(where, f"is {update['maxUnavailable']}, above 100%", "write at most 100%")


_SOURCES: Mapping[str, str] = {
    "ContainerResource": "containerResource",
    "External": "external",
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
}
"""Type of a metric to the field that describes it."""


def pod_autoscaler(data: Data) -> Iterator[Problem]:
    """Source: `validateMetricSpec` (Kubernetes v1.36)."""
    path: Path = ("spec", "metrics")
    for position, metric in numbered(lookup(data, path)):
        wanted = _SOURCES.get(str(metric.get("type")), "")
        for field in _SOURCES.values():
            if wanted and field != wanted and metric.get(field) is not None:
                what = f"conflicts with type {metric['type']}, which is described in {wanted}"
                advice = f"write {wanted}, or another type: the API server refuses it"
                yield refused((*path, position, field), what, advice, key=True)
                break


def daemon_set(data: Data) -> Iterator[Problem]:
    """Source: `ValidateRollingUpdateDaemonSet` (Kubernetes v1.36): without a value it is 1 and 0."""
    yield from _selected(data)
    base: Path = ("spec", "updateStrategy", "rollingUpdate")
    update = lookup(data, base)
    if not isinstance(update, dict):
        return
    surge, absent = update.get("maxSurge"), update.get("maxUnavailable")
    if _none(absent) and (surge is None or _none(surge)):
        yield _stuck(base, "maxSurge")
    elif _some(surge) and (absent is None or _some(absent)):
        yield refused(
            (*base, "maxSurge"),
            f"is {surge}, but a DaemonSet that adds pods must not remove any first",
            "write maxUnavailable: 0, or delete maxSurge",
        )


def stateful_set(data: Data) -> Iterator[Problem]:
    """Sources: `ValidateStatefulSetSpec`, and that of the claims (Kubernetes v1.36)."""
    yield from _selected(data)
    base: Path = ("spec", "updateStrategy", "rollingUpdate")
    update = lookup(data, base)
    if isinstance(update, dict):
        yield from not_below(update, base, "partition", 0, "write the first ordinal that is updated")
    path: Path = ("spec", "volumeClaimTemplates")
    claims = lookup(data, path)
    if isinstance(claims, list) and claims:
        from policykit.kube.structure.admission.volumes import claim_spec

        for position, one in numbered(claims):
            yield from claim_spec(one.get("spec"), (*path, position, "spec"))


def cluster_role_binding(data: Data) -> Iterator[Problem]:
    """Source: `ValidateRoleBindingSubject` (Kubernetes v1.36)."""
    for position, subject in numbered(data.get("subjects")):
        stated = subject.get("namespace")
        if subject.get("kind") == "ServiceAccount" and isinstance(stated, (str, type(None))) and not stated:
            what = f"is a ServiceAccount without a namespace, and {IN_NO_NAMESPACE}"
            advice = "add namespace: unless a kustomization or Flux fills it in, the API server refuses it"
            yield refused(("subjects", position), what, advice, Severity.WARNING, kind=INCONSISTENT)


def runtime_class(data: Data) -> Iterator[Problem]:
    """Source: `ValidateRuntimeClass` (Kubernetes v1.36)."""
    handler = name_of(data, "handler")
    wrong = dns_label_problem(handler) if handler else ""
    if wrong:
        advice = "write the one name that the container runtime has for it"
        yield refused(("handler",), f'is "{handler}", which {wrong}', advice, kind=BAD_VALUE)


def disruption_budget(data: Data) -> Iterator[Problem]:
    """Source: `ValidatePodDisruptionBudgetSpec` (Kubernetes v1.36)."""
    spec = data.get("spec")
    if not isinstance(spec, dict):
        return
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        yield refused(
            ("spec", "maxUnavailable"),
            "conflicts with minAvailable: a budget takes only one of them",
            "delete one of the two",
            key=True,
        )
    for field in ("minAvailable", "maxUnavailable"):
        share = spec.get(field)
        yield from not_below(spec, ("spec",), field, 0, "write 0 or more: the API server refuses it")
        percent = _percent(share)
        if percent is not None and percent > 100:
            yield refused(("spec", field), f"is {share}, above 100%", "write at most 100%")


def _stuck(path: Path, field: str) -> Problem:
    return refused(
        path,
        "allows neither an extra pod nor a missing one, so the pods can never be replaced",
        f"raise {field} or maxUnavailable",
    )


def _none(value: object) -> bool:
    return (isinstance(value, int) and not isinstance(value, bool) and value == 0) or value == "0%"


def _some(value: object) -> bool:
    percent = _percent(value)
    if percent is not None:
        return percent > 0
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _percent(value: object) -> int | None:
    return digits(value[:-1]) if isinstance(value, str) and value[-1:] == "%" else None
