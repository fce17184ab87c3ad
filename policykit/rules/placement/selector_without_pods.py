"""An affinity or disruption budget selects pods that it never finds, or two budgets select the same ones.

With required affinity to pods that do not exist a pod stays pending, and a budget for none protects nothing.
Other repositories may make pods that these files do not, so only a value is reported that is nearly that of
the same label of pods here, and pods with the label in another namespace: without `namespaces` a term selects
in its own. It is an error if they run only in other pools than the pod, or if no node is large enough for
both, and the policy lists every pool. Of several terms of affinity a pod must match all: with a term for each
of two workloads no pod does. A term without labelSelector selects no pods at all. Required anti-affinity to
the pods of a DaemonSet leaves no node where that runs on all of them, nor does one in the only zone of both.
The API server evicts no pod of two budgets, whatever they allow: draining its node fails. Nor does a budget
protect pods that have its value under another label, such as `run` instead of `app`. Pods of a Job, or
without a controller, belong to nothing that states their number: a budget with maxUnavailable or a percentage
then lets nobody evict them. It is information that a budget lets none of its pods go, as minAvailable 1 of a
single replica does, or of the fewest pods that an autoscaler runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from policykit.gates.pod_affinity import PodAffinities
from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.gang import Autoscaler
from policykit.model.queue import Demand
from policykit.model.references import AffinePods, EmptySelection, PodSelector, SeparatePods
from policykit.model.severity import Severity
from policykit.nearest import Names

BAD = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: cache
spec:
  selector:
    matchLabels: {app: cache}
  template:
    metadata:
      labels: {app: cache}
    spec:
      containers:
      - name: main
        image: registry.example/cache:1
        resources:
          requests: {cpu: 1, memory: 1Gi}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: cache
spec:
  maxUnavailable: 1
  selector:
    matchLabels: {app: cahce}
"""

GOOD = BAD.replace("cahce", "cache")


_SELECT = "select pods with one term, by a label that they have"
_NO_NAMES = Names(())
_REPLICATED = ("Deployment", "ReplicaSet", "StatefulSet")
_WITHOUT_SCALE = ("CronJob", "Job", "JobSet", "Pod")
"""Kinds whose pods have no controller, or one without the subresource scale."""
_Labelled = dict[tuple[str, str], list[LocatedFact[Demand]]]
"""Pods by each of their labels."""


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Without a namespace in the files, in any: they seldom say to which one they are applied."""
    for empty in scope.of(EmptySelection):
        severity = Severity.ERROR if empty.value.waits else None
        yield Violation(empty.at("term"), empty.value.message, _SELECT, severity)
    if not scope.complete:
        return
    yield from _unmet(scope, context)
    selectors = [each for each in scope.of(PodSelector) if not each.partial]
    if not selectors:
        return
    pods: _Labelled = {}
    for demand in scope.of(Demand):
        for label in demand.value.labels.items():
            pods.setdefault(label, []).append(demand)
    values: dict[str, list[str]] = {}
    for key, value in pods:
        values.setdefault(key, []).append(value)
    names = {key: Names(there) for key, there in values.items()}
    yield from _of_two_budgets(selectors, scope.of(Demand))
    yield from _for_ever(scope, [each for each in selectors if "bound" in each.fields], pods)
    for each in selectors:
        wanted = each.value.labels.items()
        rarest = min((pods.get(label, []) for label in wanted), key=len, default=[])
        if not any(wanted <= demand.value.labels.items() for demand in rarest):
            yield from _nearly(scope, each, names)
            yield from _by_another_key(scope, each, pods)


def _unmet(scope: Scope, context: Context) -> Iterator[Violation]:
    """Required affinity. Source: the plugin InterPodAffinity of kube-scheduler (v1.36)."""
    near, apart = scope.of(AffinePods), scope.of(SeparatePods)
    affinities = PodAffinities(scope, context.cluster) if near or apart else None
    for each in near:
        unmet = affinities.unmet(each.value) if affinities and not each.partial else None
        if unmet is not None and (unmet.certain or unmet.elsewhere):
            severity = Severity.ERROR if unmet.certain else None
            yield Violation(each.at(str(unmet.term)), unmet.message, unmet.help, severity)
    for one in apart:
        barred = affinities.barred(one.value) if affinities and not one.partial else None
        if barred is not None:
            yield Violation(one.at(str(barred.term)), barred.message, barred.help)


def _of_two_budgets(
    selectors: Iterable[LocatedFact[PodSelector]], pods: Iterable[LocatedFact[Demand]]
) -> Iterator[Violation]:
    """At the second. Source: `EvictionREST.Create` in kubernetes `pkg/registry/core/pod/storage` (v1.36)."""
    budgets: dict[tuple[str, tuple[str, str]], list[LocatedFact[PodSelector]]] = {}
    for each in selectors:
        if each.value.budget:
            place = each.value.namespace or each.path
            budgets.setdefault((place, min(each.value.labels.items())), []).append(each)
    reported: set[tuple[str, str, str]] = set()
    for pod in pods if budgets else ():
        place = pod.value.namespace if pod.value.stated_namespace else pod.path
        labels = pod.value.labels
        near = [each for label in labels.items() for each in budgets.get((place, label), ())]
        found = [each for each in near if each.value.labels.items() <= labels.items()]
        found.sort(key=lambda each: (each.path, each.document))
        for other in found[1:]:
            first, second = found[0].value.budget, other.value.budget
            if first != second and (place, first, second) not in reported:
                reported.add((place, first, second))
                yield Violation(
                    other.at("selector"),
                    f"{pod.value.what.removeprefix('one pod of ')} also belongs to PodDisruptionBudget "
                    f"{first}: its pods cannot be evicted, so draining their nodes fails",
                    "select different pods, or delete one of the two",
                )


def _for_ever(
    scope: Scope, budgets: Iterable[LocatedFact[PodSelector]], pods: _Labelled
) -> Iterator[Violation]:
    """Where the number of the pods is written, or the fewest that one autoscaler runs."""
    scaled: dict[tuple[str, str, str], list[LocatedFact[Autoscaler]]] = {}
    for scaler in scope.autoscalers:
        key = (scaler.value.namespace, scaler.value.kind, scaler.value.name)
        scaled.setdefault(key, []).append(scaler)
    for each in budgets:
        value, wanted = each.value, each.value.labels.items()
        near = min((pods.get(label, []) for label in wanted), key=len, default=[])
        found = [one for one in near if wanted <= one.value.labels.items() and _is_there(one, each)]
        if value.is_share and (unscaled := [one for one in found if one.resource.kind in _WITHOUT_SCALE]):
            yield _of_unknown_number(each, unscaled[0])
            continue
        numbers = [_fewest(one, scaled) for one in found]
        number = sum(fewest for fewest in numbers if fewest is not None)
        if found and None not in numbers and (value.keeps_all or value.kept >= number):
            field = each.fields["bound"].path[-1]
            first = found[0].resource
            pods_here = "the only pod" if number == 1 else f"any of the {number} pods"
            by = next((scaled[key][0].resource for key in map(_workload, found) if key in scaled), None)
            while_few = f" while {by.kind} {by.name} asks for no other" if by is not None else ""
            if by is not None and value.keeps_all:
                pods_here, while_few = "any pod", ""
            more = "raise the minimum of the autoscaler" if by is not None else "run more pods than must stay"
            yield Violation(
                each.at("bound"),
                f"{field} lets nobody evict {pods_here} of {first.kind} {first.name}{while_few}: "
                "a drain of the node, and an autoscaler that removes it, wait",
                f"write maxUnavailable: 1, or {more}, unless the pods must never move",
                Severity.INFO,
            )


def _of_unknown_number(budget: LocatedFact[PodSelector], pods: LocatedFact[Demand]) -> Violation:
    """Source: `getExpectedScale` and `updatePdbStatus` of the disruption controller (v1.36)."""
    field, first = budget.fields["bound"].path[-1], pods.resource
    what = "is a pod without a controller" if first.kind == "Pod" else "states no number of its pods"
    return Violation(
        budget.at("bound"),
        f"{field} is counted from the pods that should run, but {first.kind} {first.name} {what}: nobody can "
        "evict a pod of the budget",
        "write minAvailable as a number of pods",
    )


def _workload(pods: LocatedFact[Demand]) -> tuple[str, str, str]:
    return pods.value.namespace, pods.resource.kind, pods.resource.name


def _fewest(
    pods: LocatedFact[Demand], scaled: Mapping[tuple[str, str, str], list[LocatedFact[Autoscaler]]]
) -> int | None:
    """None: unknown."""
    if pods.resource.kind not in _REPLICATED:
        return None
    scalers = scaled.get(_workload(pods), ())
    if scalers:
        return scalers[0].value.minimum if len(scalers) == 1 and not scalers[0].partial else None
    return pods.value.replicas if pods.value.counted else None


def _is_there(pods: LocatedFact[Demand], budget: LocatedFact[PodSelector]) -> bool:
    """Whether they are in its namespace, as far as the files say."""
    if budget.value.namespace and pods.value.stated_namespace:
        return budget.value.namespace == pods.value.namespace
    return budget.path == pods.path


def _nearly(
    scope: Scope, selector: LocatedFact[PodSelector], values: Mapping[str, Names]
) -> Iterator[Violation]:
    """The first label whose value no pod has, if one has nearly the same."""
    for key, value in selector.value.labels.items():
        there = values.get(key, _NO_NAMES)
        if value in there or is_placeholder(value) or scope.may_hold(value):
            continue
        likely = there.misspelt(value)
        if likely:
            yield Violation(
                selector.at(key),
                f"no pods here have the label {key}: {value}{selector.value.fault}",
                f"did you mean {likely}?",
            )
        return


_OF_AN_APP = ("app", "app.kubernetes.io/instance", "app.kubernetes.io/name", "k8s-app", "name", "run")
"""Labels that say which application pods are of, one of which is often taken for another."""


def _by_another_key(scope: Scope, selector: LocatedFact[PodSelector], pods: _Labelled) -> Iterator[Violation]:
    """A budget of one label, beside a workload that has its value in a label of the same meaning."""
    labels = selector.value.labels
    key, value = next(iter(labels.items()))
    if not selector.value.budget or len(labels) > 1 or key not in _OF_AN_APP or is_placeholder(value):
        return
    if scope.may_hold(value):
        return
    for other in _OF_AN_APP:
        for one in pods.get((other, value), ()):
            if other != key and one.resource.name == value and _is_there(one, selector):
                yield Violation(
                    selector.at(key),
                    f"no pods here have the label {key}: {value}; those of {one.resource.kind} {value} have "
                    f"{other}: {value}",
                    f"write {other}",
                )
                return


RULE = Rule(
    code="PK136",
    name="selector-without-pods",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(AffinePods, EmptySelection, PodSelector, SeparatePods),
)
