"""A gang, or a single pod, requests more than the quota of its namespace allows.

The API server refuses each pod above a ResourceQuota. A gang whose quota is smaller than the pods that must
start together never starts, while its first pods hold their part. A container or a pod above a LimitRange is
refused as well, also where it states no limit and requests more than the LimitRange gives it, and one below
the minimum, or with a limit too many times its request. So is a pod with a container that does not state what
a quota counts, as a pod of Spark without `coreLimit`; Argo Workflows adds containers whose amounts its own
configuration states. Of several LimitRanges in a namespace all must be met, and where one demands more than
another allows, no container is. Workloads beside a quota share it: pods above it are not created, and a
rolling update that starts a new pod first never ends where there is no room for that pod.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from policykit.gates.namespace_limits import NamespaceLimits, QuotaExcess
from policykit.kube.autoscaling import POD_PER_REPLICA
from policykit.kube.rollouts import adds_first
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.manifests.shape import digits
from policykit.model.quantity import amount_text
from policykit.model.queue import DeclaredQuota, DeclaredRange, Demand
from policykit.model.severity import Severity

_Limits: TypeAlias = LocatedFact[DeclaredQuota] | LocatedFact[DeclaredRange]
_Reported: TypeAlias = dict[tuple[str, str, str], Violation]
"""By namespace, name and amount of a quota or LimitRange."""

BAD = """\
apiVersion: v1
kind: ResourceQuota
metadata:
  name: team
  namespace: team-a
spec:
  hard:
    requests.nvidia.com/gpu: 4
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: train
  namespace: team-a
spec:
  minAvailable: 6
  tasks:
  - name: worker
    replicas: 6
    template:
      spec:
        restartPolicy: OnFailure
        containers:
        - name: main
          image: registry.example/train:1
          resources:
            limits:
              nvidia.com/gpu: 1
"""

GOOD = BAD.replace("gpu: 4", "gpu: 6")


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Gangs at their own location; single pods at the quota or LimitRange, once for each of its amounts."""
    yield from _exclusive(scope.of(DeclaredRange))
    limits = NamespaceLimits(scope, context.cluster)
    ranges, quotas = _by_name(scope.of(DeclaredRange)), _by_name(scope.of(DeclaredQuota))
    reported: _Reported = {}
    for demand in scope.judged(Demand, DeclaredQuota, DeclaredRange) if limits else ():
        excess = limits.quota_excess(demand.value) or limits.range_excess(demand.value)
        excess = excess or _ratio(scope, demand, limits)
        if excess is None or demand.partial:
            _unstated(scope, demand, limits, reported)
            _of_all_replicas(demand, limits, quotas, reported)
            continue
        there = (ranges if excess.of_range else quotas).get((demand.value.namespace, excess.quota), [])
        if not _share_a_namespace(demand, there):
            continue
        certain = demand.value.stated_namespace and not (excess.ratio and excess.default)
        severity = None if certain else Severity.WARNING
        if demand.value.pods > 1:
            message = f"{demand.value.what} {excess.message}"
            yield Violation(demand.at("request"), message, _GANG, severity)
        elif there:
            key = demand.value.namespace, excess.quota, excess.key
            _report(reported, key, _of_a_pod(there[0], demand.value, excess, severity))
    yield from reported.values()
    named: dict[tuple[str, str], list[LocatedFact[DeclaredQuota]]] = {}
    for quota in scope.of(DeclaredQuota):
        named.setdefault((quota.value.namespace, quota.value.name), []).append(quota)
    yield from _shared(scope, named, reported)


def _report(reported: _Reported, key: tuple[str, str, str], violation: Violation) -> None:
    """Once for each amount: what is certain instead of what is not, whichever comes first."""
    if key not in reported or (reported[key].severity is not None and violation.severity is None):
        reported[key] = violation


_GANG = "raise the quota, or make the gang smaller: the pods above the quota are never created"
_POD = "raise the amount, or request less per pod: the API server refuses the pod"
_TIMES = "raise the request, lower the limit, or raise maxLimitRequestRatio: the API server refuses the pod"
_LITTLE = "lower the minimum, or ask for more: the API server refuses the pod"


def _exclusive(ranges: Iterable[LocatedFact[DeclaredRange]]) -> Iterator[Violation]:
    """Ranges of one namespace in one file, of which one demands more than another allows."""
    near: dict[tuple[str, str], list[LocatedFact[DeclaredRange]]] = {}
    for each in ranges:
        if not each.partial and (each.value.minimum or each.value.maximum):
            near.setdefault((each.path, each.value.namespace), []).append(each)
    for group in near.values():
        most: dict[str, LocatedFact[DeclaredRange]] = {}
        for each in group:
            for name, allowed in each.value.maximum.items():
                if name not in most or allowed < most[name].value.maximum[name]:
                    most[name] = each
        for each in group:
            excluded = next(
                (
                    name
                    for name, least in each.value.minimum.items()
                    if name in most and least > most[name].value.maximum[name] and most[name] is not each
                ),
                None,
            )
            if excluded is not None and most[excluded].value.name != each.value.name:
                other = most[excluded].value
                lowest = amount_text(excluded, each.value.minimum[excluded])
                highest = amount_text(excluded, other.maximum[excluded])
                yield Violation(
                    each.at("name"),
                    f"demands at least {lowest} {excluded} of each container, but LimitRange {other.name} "
                    f"of the namespace allows at most {highest}",
                    "keep one of the two, or lower the minimum: the API server refuses every pod",
                    Severity.WARNING,
                )


_PLAIN = POD_PER_REPLICA | {"CronJob", "DaemonSet", "Job", "Pod"}
"""Kinds whose containers state what they ask for: no controller adds to it."""


def _ratio(scope: Scope, demand: LocatedFact[Demand], limits: NamespaceLimits) -> QuotaExcess | None:
    """What a container does not state a LimitRange elsewhere may give it."""
    found = limits.ratio_excess(demand.value)
    if found is None or found.asked or (scope.complete and demand.resource.kind in _PLAIN):
        return found
    return None


def _unstated(
    scope: Scope,
    demand: LocatedFact[Demand],
    limits: NamespaceLimits,
    reported: _Reported,
) -> None:
    """At the key of the quota, once; a LimitRange elsewhere may give containers what they do not state."""
    value = demand.value
    if not scope.complete or demand.partial or value.pods > 1:
        return
    name, key = limits.unstated(value)
    added = value.added if not name else ""
    if added:
        name, key = limits.unstated(value._replace(stated=frozenset()))
    side, _, resource = key.partition(".")
    for quota in scope.of(DeclaredQuota) if name else ():
        if (quota.value.namespace, quota.value.name) != (value.namespace, name) or (
            name,
            key,
            "",
        ) in reported:
            continue
        if f"hard.{key}" in quota.fields and _share_a_namespace(demand, [quota]):
            lacking = f"a container of {_object(value)} states no {side} of {resource}"
            if added:
                lacking = f"containers {added}, state {side} of {resource} only if executor in Argo's own "
                lacking += "ConfigMap does"
            reported[name, key, ""] = Violation(
                quota.at(f"hard.{key}"),
                f"the quota counts {key}, but {lacking}: {'else ' if added else ''}the API server refuses "
                "the pod",
                f"state {side} of {resource} {'there' if added else 'in every container'}, or add a "
                "LimitRange with a default",
                Severity.INFO if added else Severity.WARNING,
            )
            return


def _of_all_replicas(
    demand: LocatedFact[Demand],
    limits: NamespaceLimits,
    quotas: Mapping[tuple[str, str], list[_Limits]],
    reported: _Reported,
) -> None:
    """Of one workload; a quota may be meant to hold back some of them until others end, but not these."""
    value, number = demand.value, demand.value.replicas
    if number < 2 or value.pods > 1 or demand.partial or demand.resource.kind not in POD_PER_REPLICA:
        return
    total = value._replace(
        pods=number,
        request={name: number * amount for name, amount in value.request.items()},
        limits={name: number * amount for name, amount in value.limits.items()},
    )
    excess = limits.quota_excess(total)
    there = quotas.get((value.namespace, excess.quota), []) if excess else []
    if excess is None or not there or not _share_a_namespace(demand, there):
        return
    found = _of_a_pod(there[0], value, excess, Severity.WARNING)._replace(
        message=f"{_object(value)}, with {number} pods, {excess.message}",
        help="raise the amount, or run fewer pods: those above it are never created",
    )
    _report(reported, (value.namespace, excess.quota, excess.key), found)


_FEW = 4
"""Quotas of a namespace that are compared with its workloads."""


def _shared(
    scope: Scope,
    quotas: Mapping[tuple[str, str], list[LocatedFact[DeclaredQuota]]],
    reported: _Reported,
) -> Iterator[Violation]:
    """Of workloads in files beside the quota, or below its folder, that run at the same time."""
    there: dict[str, list[LocatedFact[DeclaredQuota]]] = {}
    for (namespace, _), listed in quotas.items():
        if len(listed) == 1 and not listed[0].partial:
            there.setdefault(namespace, []).append(listed[0])
    there = {
        namespace: [each for each in listed if not (each.value.priorities or each.value.stating)]
        for namespace, listed in there.items()
        if len(listed) <= _FEW
    }
    if not any(there.values()):
        return
    scaled = {(each.value.kind, each.value.name) for each in scope.autoscalers}
    running: dict[str, list[LocatedFact[Demand]]] = {}
    for demand in scope.of(Demand):
        value, resource = demand.value, demand.resource
        if value.namespace not in there or demand.partial or value.pods > 1 or not value.counted:
            continue
        if resource.kind in POD_PER_REPLICA and (resource.kind, resource.name) not in scaled:
            running.setdefault(value.namespace, []).append(demand)
    for namespace, listed in there.items():
        for quota in listed if namespace in running else ():
            folder = quota.path.rpartition("/")[0]
            near = [
                each
                for each in running[namespace]
                if (f"{each.path}/".startswith(f"{folder}/") if folder else "/" not in each.path)
                and _share_a_namespace(each, [quota])
            ]
            if len({(each.resource.kind, each.resource.name) for each in near}) == len(near) > 0:
                yield from _in_all(quota, near, reported)


def _in_all(
    quota: LocatedFact[DeclaredQuota],
    near: list[LocatedFact[Demand]],
    reported: _Reported,
) -> Iterator[Violation]:
    """The first amount that is too small for all of them, or for the pod that an update adds."""
    for key in sorted(quota.value.hard, key=lambda name: ("/" not in name, name)):
        allowed, at = quota.value.hard[key], f"hard.{key}"
        if (quota.value.namespace, quota.value.name, key) in reported or at not in quota.fields:
            continue
        asked = [_counted(each.value, key) for each in near]
        total = sum(amount * each.value.replicas for amount, each in zip(asked, near, strict=True))
        resource = key.removeprefix("requests.").removeprefix("limits.")
        in_all, most = amount_text(resource, total), amount_text(resource, allowed)
        what = f"{in_all} {resource}" if resource != "pods" else f"{in_all} pods"
        if total > allowed and len(near) > 1:
            yield Violation(
                quota.at(at),
                f"the {len(near)} workloads beside the quota need {what} in all, but it allows {most}",
                "raise the amount, or run fewer pods: those above it are never created",
                Severity.WARNING,
            )
            return
        for amount, each in zip(asked, near, strict=True):
            if total <= allowed < total + amount and _adds_first(each.value, each.resource.kind):
                more = amount_text(resource, amount)
                yield Violation(
                    quota.at(at),
                    f"the workloads beside the quota need {what} of {most}, and a rolling update of "
                    f"{_object(each.value)} starts a new pod with {more} before it removes one: it is "
                    "refused, and the update never ends",
                    "raise the amount, or set strategy.rollingUpdate.maxUnavailable: 1",
                    Severity.WARNING,
                )
                return


def _counted(demand: Demand, key: str) -> int:
    """What a quota counts of one pod."""
    side, _, resource = key.partition(".")
    if key == "pods":
        return 1
    return (demand.limits if side == "limits" else demand.request if side == "requests" else {}).get(
        resource, 0
    )


def _adds_first(demand: Demand, kind: str) -> bool:
    if kind != "Deployment":
        return False
    name, surge, unavailable = demand.strategy or ("", "", "")
    update = {
        field: digits(written) if digits(written) is not None else written
        for field, written in (("maxSurge", surge), ("maxUnavailable", unavailable))
        if written
    }
    strategy = {"type": name or "RollingUpdate", "rollingUpdate": update}
    return adds_first({"spec": {"strategy": strategy}}, "apps", kind, demand.replicas)


def _object(demand: Demand) -> str:
    return demand.what.removeprefix("one pod of ")


def _share_a_namespace(demand: LocatedFact[Demand], there: list[_Limits]) -> bool:
    """Objects that state no namespace may be applied to different ones, unless they are in one file."""
    if not there:
        return demand.value.stated_namespace  # a quota of the policy
    if demand.value.stated_namespace:
        return any(each.value.stated_namespace for each in there)
    return any(each.path == demand.path and not each.value.stated_namespace for each in there)


def _of_a_pod(limits: _Limits, demand: Demand, excess: QuotaExcess, severity: Severity | None) -> Violation:
    """At what refuses the pod."""
    field = f"hard.{excess.key}"
    at = limits.at(field if field in limits.fields else "name")
    help_ = _TIMES if excess.ratio else _LITTLE if excess.below else _POD
    return Violation(at, f"{demand.what} {excess.message}", help_, severity)


def _by_name(facts: Iterable[_Limits]) -> Mapping[tuple[str, str], list[_Limits]]:
    """Of each namespace and name."""
    found: dict[tuple[str, str], list[_Limits]] = {}
    for each in facts:
        found.setdefault((each.value.namespace, each.value.name), []).append(each)
    return found


RULE = Rule(
    code="PK215",
    name="exceeds-namespace-quota",
    severity=Severity.ERROR,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(DeclaredQuota, DeclaredRange, Demand),
)
