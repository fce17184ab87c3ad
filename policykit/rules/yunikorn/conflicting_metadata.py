"""Pods give YuniKorn contradictory values for the same application.

The application and the queue may be set by several labels and annotations, of which the first wins.
Queue, user and gang come from the first pod of an application that YuniKorn sees: what its other
pods set is ignored. A label that is nearly the one of the application is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.declared_queues import Application, MetadataValue
from policykit.model.severity import Severity
from policykit.targets.yunikorn.metadata import USER_INFO
from policykit.targets.yunikorn.names import APP_ID, OLD_APP_IDS, TASK_GROUPS

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train
  labels:
    yunikorn.apache.org/app-id: train
    yunikorn.apache.org/queue: root.research
    queue: root.serving
spec:
  schedulerName: yunikorn
  containers:
  - name: main
    image: registry.example/train:1
    resources:
      requests: {cpu: "1", memory: 1Gi}
"""

GOOD = BAD.replace("    queue: root.serving\n", "")


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Within one template, and between the templates that share an application."""
    sharing: dict[tuple[str, str], list[LocatedFact[Application]]] = {}
    for located in scope.of(Application):
        value = located.value
        if value.misspelt and not located.partial:
            yield Violation(
                located.at("misspelt"),
                f"YuniKorn does not read {value.misspelt}: the pods join an application that it generates",
                f"write {APP_ID}, or {OLD_APP_IDS[0]}",
            )
        yield from _within(located, value.ids, "application")
        yield from _within(located, value.queues, "queue")
        if value.ids and not is_placeholder(value.ids[0].value):
            sharing.setdefault((value.namespace, value.ids[0].value), []).append(located)
    for (_, name), members in sharing.items():
        for first, member in _later(members):
            yield from _between(name, first, member)


def _within(
    located: LocatedFact[Application], values: Sequence[MetadataValue], what: str
) -> Iterator[Violation]:
    for other in values[1:]:
        if other.value == values[0].value or is_placeholder(other.value) or is_placeholder(values[0].value):
            continue
        yield Violation(
            located.at(other.key),
            f"{other.key} sets {what} {other.value}, but {values[0].key}, which wins, sets {values[0].value}",
            "use the same value in both, or delete one",
        )


def _later(
    members: Sequence[LocatedFact[Application]],
) -> Iterator[tuple[LocatedFact[Application], LocatedFact[Application]]]:
    """Each but the first, after the first before it that is not a copy of it: one template that two files
    contain, a base and its copy."""
    heads: list[int] = []
    """The first, and the first of another template: one of the two is not a copy of any other."""
    own: dict[tuple[object, ...], int] = {}
    """The first of each template and document."""
    for number, member in enumerate(members):
        template = member.resource[1:]
        head = next((at for at in heads if members[at].resource[1:] != template), None)
        same = own.setdefault((template, member.path, member.document), number)
        before = min(number if head is None else head, same)
        if before < number:
            yield members[before], member
        if not heads or (len(heads) == 1 and head is not None):
            heads.append(number)


def _between(
    name: str, first: LocatedFact[Application], member: LocatedFact[Application]
) -> Iterator[Violation]:
    one, other = first.value, member.value
    where = f"{first.resource.kind} {first.resource.name}".strip()
    where = where if where != f"{member.resource.kind} {member.resource.name}".strip() else one.template
    advice = "the first pod seen decides for all: use the same value, or a different application"
    if one.queues and other.queues and one.queues[0].value != other.queues[0].value:
        values = (one.queues[0].value, other.queues[0].value)
        if not any(map(is_placeholder, values)):
            message = f"application {name} uses queue {values[1]} here, but {values[0]} in {where}"
            yield Violation(member.at(other.queues[0].key), message, advice)
    for key, what, values in (
        (USER_INFO, "a different user", (one.user, other.user)),
        (TASK_GROUPS, "different task-groups", (one.task_groups, other.task_groups)),
    ):
        if all(values) and values[0] != values[1] and not any(map(is_placeholder, values)):
            message = f"application {name} has {what} here than in {where}"
            yield Violation(member.at(key), message, advice)


RULE = Rule(
    code="PK708",
    name="conflicting-metadata",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(Application,),
)
