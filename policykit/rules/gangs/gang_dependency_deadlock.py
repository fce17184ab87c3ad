"""A gang waits for pods that are created only once the gang runs.

With an ordered start, the second pod is created when the first one is ready; with a gang, the first
one starts when all of them exist. Neither happens, and nothing ever starts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.gang import PodCreationOrder
from policykit.model.severity import Severity

BAD = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: train
spec:
  minAvailable: 3
  tasks:
  - name: ps
    replicas: 1
    template:
      spec:
        containers:
        - name: main
          image: registry.example/train:1
  - name: worker
    replicas: 2
    dependsOn:
      name: [ps]
    template:
      spec:
        containers:
        - name: main
          image: registry.example/train:1
"""

GOOD = BAD.replace("minAvailable: 3", "minAvailable: 1").replace(
    "    replicas: 2\n", "    replicas: 2\n    minAvailable: 0\n"
)


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Each ordered start against its gang; a PodGroup's size only where there is one of its name."""
    minima: dict[tuple[str, str, str], list[int | None]] = {}
    for group in scope.groups:
        minima.setdefault(group.value[:3], []).append(group.value.min_member)
    for one in scope.of(PodCreationOrder):
        order = one.value
        minimum = _minimum(minima, order)
        if order.problem or (minimum is not None and minimum > order.first):
            yield _violation(one, minimum)


def _minimum(
    minima: Mapping[tuple[str, str, str], Sequence[int | None]], order: PodCreationOrder
) -> int | None:
    if order.minimum is not None or not order.target_name:
        return order.minimum
    groups = minima.get((order.target_name, order.namespace, order.group), ())
    return groups[0] if len(groups) == 1 else None


def _violation(one: LocatedFact[PodCreationOrder], minimum: int | None) -> Violation:
    order = one.value
    gang = f"gang {order.group}" if order.group else "the gang"
    pods = "1 pod is" if order.first == 1 else f"{order.first} pods are"
    message = order.problem or (
        f"{gang} needs {minimum} pods to start, but only {pods} created before that: {order.why}"
    )
    return Violation(one.at("order"), message, _advice(one))


def _advice(one: LocatedFact[PodCreationOrder]) -> str:
    first = one.value.first
    lower = f"lower the gang to {first}" if first > 1 else "remove the gang"
    if one.resource.kind == "StatefulSet":
        return f"write podManagementPolicy: Parallel, or {lower}"
    if one.value.why.startswith("dependsOn makes the pods of a task"):
        return (
            f"write minAvailable at most {first} for the job and 0 for the tasks that wait, "
            "or let all tasks start together"
        )
    if one.resource.kind == "MPIJob":
        return f"write minAvailable: {first}, or launcherCreationPolicy: AtStartup"
    return f"let all pods start together, or {lower}"


RULE = Rule(
    code="PK308",
    name="gang-dependency-deadlock",
    severity=Severity.ERROR,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(PodCreationOrder,),
)
