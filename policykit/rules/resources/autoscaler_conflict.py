"""An autoscaler contradicts another one or its pods, or asks for more pods than the cluster or queue holds.

Two autoscalers of one workload, AIBrix' PodAutoscalers too, change its replicas against each other, and a
HorizontalPodAutoscaler stops when it notices; KEDA refuses a ScaledObject for a workload that has one, unless
an annotation gives it that one. Pods with cards beyond what all pools hold, or beyond the limit of their
queue, stay pending, so the load that they were to take stays too. Utilization is a share of what each
container requests: if one requests nothing, there is none. It is measured over all pods that the workload's
selector takes, those of another workload with the same labels too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from posixpath import dirname

from policykit.catalogue.resources import is_card
from policykit.gates.limits import Queues
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.cluster import Cluster
from policykit.model.declared_queues import QueueUse
from policykit.model.gang import Autoscaler, VerticalScaler
from policykit.model.pool import Amounts
from policykit.model.quantity import amount_text
from policykit.model.queue import DeclaredRange, Demand
from policykit.model.severity import Severity
from policykit.placement.capacity import pods_in

BAD = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: serve
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: serve}
  maxReplicas: 4
  metrics:
  - type: Resource
    resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: serve
spec:
  scaleTargetRef: {name: serve}
  maxReplicaCount: 8
  triggers:
  - type: prometheus
    metadata: {serverAddress: "http://prometheus:9090", query: up, threshold: "1"}
"""

GOOD = BAD.partition("---\n")[0]

_Key = tuple[str, str, str]
"""Namespace, kind and name of a workload."""


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Sources: `validateAmbiguousSelector` of the autoscaler (v1.36), `verifyHpas` of KEDA (v2.18)."""
    scalers = [each for each in scope.autoscalers if not each.partial]
    yield from _on_one_target(scalers)
    yield from _vertical(scope, scalers)
    if not scalers:
        return
    yield from _with_others(scope, scalers)
    demands = {_object(each): each.value for each in scope.of(Demand) if each.value.pods == 1}
    uses = {_object(each): each.value for each in scope.of(QueueUse) if not each.value.group}
    ranges = [each.value for each in scope.of(DeclaredRange)]
    queues = Queues(scope, context.cluster)
    for scaler in scalers:
        key = (scaler.value.namespace, scaler.value.kind, scaler.value.name)
        demand = demands.get(key)
        most = scaler.value.maximum
        if demand is not None:
            yield from _without_requests(scaler, demand, ranges)
        if demand is None or not most or "maximum" not in scaler.fields:
            continue
        message = _above_pools(most, demand.request, context.cluster)
        if not message and (use := uses.get(key)):
            message = _above_queue(most, demand.request, use, queues)
        if message:
            yield Violation(scaler.at("maximum"), message, _ADVICE)


_ADVICE = "lower it, or request less per pod: the pods beyond stay pending"


def _object(fact: LocatedFact[Demand] | LocatedFact[QueueUse]) -> _Key:
    return fact.value.namespace, fact.resource.kind, fact.resource.name


def _on_one_target(scalers: list[LocatedFact[Autoscaler]]) -> Iterator[Violation]:
    """Of one file: others may be for different clusters, as are two of one name."""
    first: dict[tuple[str, _Key], LocatedFact[Autoscaler]] = {}
    for each in scalers:
        value = each.value
        key = (each.path, (value.namespace, value.kind, value.name))
        other = first.setdefault(key, each)
        named = (each.resource.kind, each.resource.name)
        taken = value.takes_over == other.resource.name or other.value.takes_over == each.resource.name
        if other is not each and not taken and named != (other.resource.kind, other.resource.name):
            yield Violation(
                each.at("name"),
                f"{value.kind} {value.name} is scaled by {other.resource.kind} {other.resource.name} too",
                "keep one of the two: they change the replicas against each other",
            )


def _with_others(scope: Scope, scalers: list[LocatedFact[Autoscaler]]) -> Iterator[Violation]:
    """Pods of another workload of the file, which the target's selector takes too."""
    scaled = {(each.value.namespace, each.value.kind, each.value.name): each for each in scalers}
    targets: dict[_Key, LocatedFact[Demand]] = {}
    pods: dict[tuple[str, str, tuple[str, str]], list[LocatedFact[Demand]]] = {}
    for each in scope.of(Demand):
        if each.value.pods == 1 and not each.partial:
            if each.value.selector and _object(each) in scaled:
                targets[_object(each)] = each
            for label in each.value.labels.items():
                pods.setdefault((each.path, each.value.namespace, label), []).append(each)
    for key, scaler in scaled.items():
        target = targets.get(key)
        if target is None:
            continue
        wanted = target.value.selector.items()
        near = min((pods.get((target.path, key[0], label), []) for label in wanted), key=len)
        other = next(
            (one for one in near if _is_other(one, key) and wanted <= one.value.labels.items()), None
        )
        second = scaled.get(_object(other)) if other is not None else None
        if other is None or (second is None and not scaler.value.shares):
            continue
        name, of = f"{key[1]} {key[2]}", f"{other.resource.kind} {other.resource.name}"
        end = f"it counts them for {name}"
        if second is not None:
            end = f"neither it nor {second.resource.kind} {second.resource.name} scales anything"
        yield Violation(
            scaler.at("name"),
            f"the selector of {name} takes the pods of {of} too: {end}",
            "give the pods of each a label of their own, and select by it",
        )


def _is_other(pods: LocatedFact[Demand], target: _Key) -> bool:
    return (pods.resource.kind, pods.resource.name) != target[1:]


def _vertical(scope: Scope, scalers: list[LocatedFact[Autoscaler]]) -> Iterator[Violation]:
    """One changes the requests of which the other measures a share. Source: the vertical pod autoscaler's
    known limitations (1.4). Of one folder: two examples of the same workload are often alternatives."""
    measuring = {
        (dirname(each.path), each.value.namespace, each.value.kind, each.value.name): each for each in scalers
    }
    for vertical in scope.of(VerticalScaler):
        value = vertical.value
        scaler = measuring.get((dirname(vertical.path), value.namespace, value.kind, value.name))
        shared = sorted(value.resources & set(scaler.value.shares)) if scaler else []
        if scaler and shared and not vertical.partial:
            yield Violation(
                vertical.at("name"),
                f"it changes the requests of {shared[0]}, of which {scaler.resource.kind} "
                f"{scaler.resource.name} measures a share: the two work against each other",
                "write updateMode: Off, or let the other one measure something else",
            )


def _without_requests(
    scaler: LocatedFact[Autoscaler], demand: Demand, ranges: list[DeclaredRange]
) -> Iterator[Violation]:
    """What containers neither state nor get. Source: `calculatePodRequests` of the autoscaler (v1.36)."""
    for name in scaler.value.shares:
        wanted = f"requests.{name}"
        given = any(wanted in each.defaults for each in ranges if each.namespace == demand.namespace)
        lacking = [
            who
            for who, (limits, asked) in zip(demand.names, demand.containers, strict=False)
            if name not in limits and name not in asked
        ]
        if lacking and wanted not in demand.stated and not given:
            who, workload = scaler.resource, scaler.value
            container = f"container {lacking[0]}" if lacking[0] else "a container"
            yield Violation(
                scaler.at(f"share.{name}"),
                f"{who.kind} {who.name} measures {name} as a share of its request, but {container} of "
                f"{workload.kind} {workload.name} requests none: nothing is scaled by it",
                f"request {name} in every container, or measure something else",
            )


def _above_pools(most: int, request: Amounts, cluster: Cluster | None) -> str:
    cards = {name: amount for name, amount in request.items() if amount > 0 and is_card(name)}
    if cluster is None or not cluster.complete or not cards:
        return ""
    pools = [pool for pool in cluster.pools if all(name in pool.resources for name in cards)]
    room = pods_in((shape for pool in pools for shape in pool.shapes), cards)
    if not room or most <= room:
        return ""
    return f"up to {most} pods of {_words(cards)} each, but all pools hold only {room}"


def _above_queue(most: int, request: Amounts, use: QueueUse, queues: Queues) -> str:
    for limit in queues.limits(use):
        for name, amount in sorted(request.items()):
            allowed = limit.amounts.get(name)
            if is_card(name) and amount > 0 and allowed is not None and amount <= allowed < most * amount:
                return (
                    f"up to {most} pods of {_words({name: amount})} each, but queue {limit.queue} may use at "
                    f"most {amount_text(name, allowed)} {name}"
                )
    return ""


def _words(request: Mapping[str, int]) -> str:
    return ", ".join(f"{amount_text(name, amount)} {name}" for name, amount in request.items())


RULE = Rule(
    code="PK223",
    name="autoscaler-conflict",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(Autoscaler, VerticalScaler),
)
