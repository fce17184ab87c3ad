"""The operator of a job does not make the group of its pods that the job asks for.

KubeRay, Kubeflow's Training Operator and the Spark operator make groups only if they are started with the
flag for it, and only where the role of their account lets them create groups. Without, the pods start one
by one, or the job does not start. Up to 1.6 it is the webhook of the Spark operator that names the
scheduler in pods: without it they go to the default one. A flag that is written like the value of a chart
ends the operator.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.gang_operators import DeclaredRole, GroupedJob, RoleOfAccount, StartedOperator
from policykit.model.severity import Severity
from policykit.targets import target_name_of, target_of

BAD = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: training-operator
  namespace: kubeflow
spec:
  selector:
    matchLabels: {app: training-operator}
  template:
    metadata:
      labels: {app: training-operator}
    spec:
      containers:
      - name: training-operator
        image: kubeflow/training-operator:v1-04f9f13
        command: [/manager]
---
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata:
  name: train
  namespace: kubeflow
spec:
  runPolicy:
    schedulingPolicy: {minAvailable: 2}
  pytorchReplicaSpecs:
    Worker:
      replicas: 2
      template:
        spec:
          schedulerName: volcano
          containers:
          - name: pytorch
            image: registry.example/train:1
"""

GOOD = BAD.replace("[/manager]", "[/manager, --gang-scheduler-name=volcano]")

_FLAGS = {
    "kuberay-operator": "--batch-scheduler",
    "spark-operator": "--enable-batch-scheduler",
    "training-operator": "--gang-scheduler-name",
}


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Where the one operator of the kind is here. A second one may serve the jobs."""
    operators: dict[str, list[LocatedFact[StartedOperator]]] = {}
    for each in scope.of(StartedOperator):
        operators.setdefault(each.value.name, []).append(each)
        if each.value.misspelt:
            yield Violation(
                each.at("flag"),
                f"{each.value.name} has no flag {each.value.misspelt}: it ends at once",
                f"write -{each.value.meant}",
            )
    jobs: dict[str, list[LocatedFact[GroupedJob]]] = {}
    for job in scope.of(GroupedJob) if operators else ():
        jobs.setdefault(job.value.operator, []).append(job)
    for name, asking in jobs.items():
        found = operators.get(name, ())
        if len(found) != 1 or found[0].value.misspelt or found[0].as_written:
            continue
        if found[0].value.starts:
            yield from _forbidden(scope, found[0], asking)
            for job in asking if found[0].value.missing else ():
                flag = found[0].value.missing
                yield Violation(
                    job.at("asks"),
                    f"{job.value.asks} of the {job.value.kind} has no effect on its pods: {name} is started "
                    f"without --{flag}, and only its webhook names the scheduler in pods",
                    f"start {name} with -{flag}=true, and give it the certificates of the webhook",
                )
            continue
        for job in asking:
            value = job.value
            yield Violation(
                job.at("asks"),
                f"{value.asks} of the {value.kind} has no effect: {name} is started without {_FLAGS[name]} "
                "and makes no PodGroup",
                f"start {name} with {_FLAGS[name]}" + ("" if name == "spark-operator" else "=<scheduler>"),
            )


def _forbidden(
    scope: Scope, operator: LocatedFact[StartedOperator], jobs: Sequence[LocatedFact[GroupedJob]]
) -> Iterator[Violation]:
    """Where all roles of its account are here, and none lets it create groups."""
    value = operator.value
    names = [value.scheduler, *(job.value.scheduler for job in jobs)]
    targets = [target for name in filter(None, names) if (target := target_of(target_name_of(name, None)))]
    group = next((target.group_api for target in targets if target.group_api), "")
    if not group or not value.account or is_placeholder(value.account):
        return
    roles: dict[tuple[str, str, str], LocatedFact[DeclaredRole]] = {}
    for role in scope.of(DeclaredRole):
        roles[role.value.kind, role.value.namespace, role.value.name] = role
    held = [
        roles.get((each.value.kind, each.value.namespace, each.value.name))
        for each in scope.of(RoleOfAccount)
        if each.value.of_namespace in (value.namespace, "*") and each.value.account in (value.account, "*")
    ]
    known = [role for role in held if role is not None and role.value.settled]
    if not known or len(known) < len(held) or any({group, "*"} & role.value.groups for role in known):
        return
    named = max(known, key=lambda role: (role.value.kind == "ClusterRole", role.value.name))
    yield Violation(
        named.at("name"),
        f"{value.name} makes a PodGroup of {group} for each {jobs[0].value.kind}, but {named.value.kind} "
        f"{named.value.name} does not let its account create podgroups of {group}",
        f"add a rule for podgroups of {group} with get, list, watch, create, update, delete",
    )


RULE = Rule(
    code="PK314",
    name="operator-makes-no-group",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(DeclaredRole, GroupedJob, StartedOperator),
)
