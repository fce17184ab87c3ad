"""A Kueue object names another that does not exist.

A ClusterQueue whose flavor is missing, or whose flavor names a missing Topology, is inactive and
admits nothing, and so is every LocalQueue of a missing ClusterQueue. Cohorts that form a cycle
stop all queues below them. The rule knows the policy and the objects linted together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from policykit.cycles import cycles
from policykit.kube.placeholders import UnfilledNames, is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.manifests.memoize import memoize_last
from policykit.model.kueue import (
    CheckParameters,
    DeclaredAdmissionCheck,
    DeclaredClusterQueue,
    DeclaredCohort,
    DeclaredFlavor,
    DeclaredLocalQueue,
    DeclaredPriorityClass,
    DeclaredTopology,
    PriorityClassUse,
    TopologyRequest,
)
from policykit.model.severity import Severity
from policykit.nearest import Names, are_numbered, nearest
from policykit.targets.kueue.names import TARGET_NAME

BAD = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata:
  name: train-h20
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: research
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - name: train-h200
      resources:
      - name: nvidia.com/gpu
        nominalQuota: 8
"""

GOOD = BAD.replace("train-h200", "train-h20")

_SHOWN = 5
_LIKELY = 0.75


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """References of each object; if no object of a kind is declared at all, they may be elsewhere."""
    yield from _cycles(scope.of(DeclaredCohort))
    if not scope.complete:
        return
    flavors = {each.value.name for each in scope.of(DeclaredFlavor)}
    queues = {each.value.name for each in scope.of(DeclaredClusterQueue)}
    if context.cluster and TARGET_NAME in context.cluster.targets:
        flavors |= {pool.name for pool in context.cluster.pools}
        queues |= {queue.name for queue in context.cluster.queues}
    topologies = Names(each.value.name for each in scope.of(DeclaredTopology))
    known_queues, known_flavors = Names(queues), Names(flavors)
    for local in scope.of(DeclaredLocalQueue):
        fault = "no workload of the LocalQueue is admitted"
        name = local.value.cluster_queue
        yield from _unknown(scope, local, "cluster_queue", "ClusterQueue", name, known_queues, fault)
    whole = bool(scope.of(DeclaredLocalQueue))  # who keeps both kinds of queues keeps the flavors too
    for queue in scope.of(DeclaredClusterQueue):
        fault = f"ClusterQueue {queue.value.name} is inactive and admits nothing"
        for number, name in enumerate(queue.value.flavors):
            yield from _unknown(
                scope, queue, f"flavor.{number}", "ResourceFlavor", name, known_flavors, fault, whole=whole
            )
    yield from _admission_checks(scope)
    for flavor in scope.of(DeclaredFlavor):
        fault = "every ClusterQueue with the flavor is inactive and admits nothing"
        yield from _unknown(scope, flavor, "topology", "Topology", flavor.value.topology, topologies, fault)
    priorities = Names(each.value.name for each in scope.of(DeclaredPriorityClass))
    for use in scope.of(PriorityClassUse):
        fault, kind = "the API server refuses the workload", "WorkloadPriorityClass"
        yield from _unknown(scope, use, "name", kind, use.value.name, priorities, fault)
    yield from _levels(scope)
    yield from _lone_cohorts(scope)


def _admission_checks(scope: Scope) -> Iterator[Violation]:
    """The checks of ClusterQueues, and the parameters of checks."""
    checks = scope.of(DeclaredAdmissionCheck)
    known = Names(each.value.name for each in checks)
    for queue in scope.of(DeclaredClusterQueue):
        fault = f"ClusterQueue {queue.value.name} is inactive and admits nothing"
        for number, name in enumerate(queue.value.checks):
            yield from _unknown(scope, queue, f"check.{number}", "AdmissionCheck", name, known, fault)
    parameters: dict[str, list[str]] = {each.value.kind: [] for each in checks}
    for one in scope.of(CheckParameters):
        parameters.setdefault(one.value.kind, []).append(one.value.name)
    of_kind = {kind: Names(names) for kind, names in parameters.items()}
    for each in checks:
        yield from _controller(each)
        kind, name = each.value.kind, each.value.parameters
        there = of_kind[kind]
        fault = "the check is inactive, and so is every ClusterQueue with it"
        yield from _unknown(scope, each, "parameters", kind, name, there, fault)


_CONTROLLERS = tuple(f"kueue.x-k8s.io/{name}" for name in ("multikueue", "provisioning-request"))
"""Those of Kueue itself (0.9 to 0.19)."""


def _controller(check: LocatedFact[DeclaredAdmissionCheck]) -> Iterator[Violation]:
    name = check.value.controller
    if (
        not name.startswith("kueue.x-k8s.io/")
        or name in _CONTROLLERS
        or check.partial
        or is_placeholder(name)
    ):
        return
    likely = nearest(name, _CONTROLLERS)
    yield Violation(
        check.at("controller"),
        f"Kueue has no controller {name}: the check stays pending",
        f"did you mean {likely}?" if likely else f"known: {', '.join(_CONTROLLERS)}",
        Severity.WARNING,
    )


def _unknown(
    scope: Scope,
    located: LocatedFact[Any],
    field: str,
    kind: str,
    name: str,
    known: Names,
    fault: str,
    *,
    whole: bool = False,
) -> Iterator[Violation]:
    """Without a likely name another repository may have it: a warning, and none without any object of the
    kind, unless the `whole` configuration is here."""
    if (
        not name
        or not (known.sorted or whole)
        or name in known
        or is_placeholder(name)
        or scope.may_hold(name)
        or _unfilled(known.sorted).may_be(name)
    ):
        return
    likely = known.nearest(name, _LIKELY)
    yield Violation(
        located.at(field),
        f"no file here defines {kind} {name}",
        _advice(known, likely) + fault,
        None if likely and not are_numbered(name, likely) else Severity.WARNING,
    )


_unfilled = memoize_last(UnfilledNames)


def _advice(known: Names, likely: str) -> str:
    if likely:
        return f"did you mean {likely}? "
    return f"defined: {_names(known)}; " if known.sorted else ""


def _names(known: Names) -> str:
    return ", ".join(known.sorted[:_SHOWN]) + (", ..." if len(known.sorted) > _SHOWN else "")


def _levels(scope: Scope) -> Iterator[Violation]:
    """A level that no Topology has is in no flavor, so the workload is never admitted."""
    levels = Names(level for each in scope.of(DeclaredTopology) for level in each.value.levels)
    for request in scope.of(TopologyRequest):
        level = request.value.level
        if levels.sorted and level not in levels and not is_placeholder(level) and not scope.may_hold(level):
            likely = levels.nearest(level, _LIKELY)
            start = f"did you mean {likely}? " if likely else f"levels: {_names(levels)}; "
            yield Violation(
                request.at("level"),
                f"no Topology here has level {level}",
                start + "Kueue never admits the workload",
                None if likely else Severity.WARNING,
            )


def _cycles(cohorts: Sequence[LocatedFact[DeclaredCohort]]) -> Iterator[Violation]:
    """Each cycle once, at its first Cohort. Files may declare a Cohort twice, for two clusters say."""
    named: dict[str, list[LocatedFact[DeclaredCohort]]] = {}
    for each in cohorts:
        if each.value.name and not is_placeholder(each.value.name):
            named.setdefault(each.value.name, []).append(each)
    single = {name: each[0] for name, each in named.items() if len(each) == 1}
    above = {name: (each.value.parent,) if each.value.parent else () for name, each in single.items()}
    for cycle in cycles(above):
        yield Violation(
            single[cycle[0]].at("parent"),
            f"Cohort {cycle[0]} is above itself ({' > '.join((*cycle, cycle[0]))})",
            "remove one parent: Kueue admits nothing in the queues below a cycle",
        )


def _lone_cohorts(scope: Scope) -> Iterator[Violation]:
    """A cohort without an object exists once a ClusterQueue names it; the only one shares with nobody."""
    declared = {each.value.name for each in scope.of(DeclaredCohort)}
    declared |= {each.value.parent for each in scope.of(DeclaredCohort)}
    members: dict[str, list[LocatedFact[DeclaredClusterQueue]]] = {}
    for queue in scope.of(DeclaredClusterQueue):
        members.setdefault(queue.value.cohort, []).append(queue)
    others = Names(name for name in (*declared, *members) if name)
    for name, queues in members.items():
        if not name or len(queues) > 1 or name in declared or is_placeholder(name) or scope.may_hold(name):
            continue
        likely = others.nearest(name, _LIKELY, but=name)
        if likely:
            yield Violation(
                queues[0].at("cohort"),
                f"ClusterQueue {queues[0].value.name} is the only one in cohort {name}",
                f"did you mean {likely}? a queue alone in its cohort has no queue to borrow from",
                Severity.WARNING,
            )


RULE = Rule(
    code="PK922",
    name="unknown-kueue-reference",
    severity=Severity.ERROR,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(
        DeclaredAdmissionCheck,
        DeclaredClusterQueue,
        DeclaredCohort,
        DeclaredFlavor,
        DeclaredLocalQueue,
        PriorityClassUse,
        TopologyRequest,
    ),
)
