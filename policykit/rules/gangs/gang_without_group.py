"""Half of a gang is missing: the PodGroup or its pods.

Pods that name a PodGroup that does not exist wait for it and never start. A PodGroup that no pod
joins does nothing: its workload starts pod by pod, each as soon as it fits. With `namePrefix` or `nameSuffix`
kustomize renames the PodGroup, but not the annotation or label of the pods.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from policykit.kube.placeholders import UnfilledNames, is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.gang import GangPartners, Membership, PodGroup, TaskGroups
from policykit.model.references import NameAffix
from policykit.model.severity import Severity
from policykit.namedtuple import NamedTuple
from policykit.rules.gangs.renamed_groups import renamed
from policykit.targets import target_name_of, target_of

BAD = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata:
  name: train
spec:
  minMember: 1
"""

GOOD = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata:
  name: train
spec:
  minMember: 1
---
apiVersion: v1
kind: Pod
metadata:
  name: train
  annotations:
    scheduling.k8s.io/group-name: train
spec:
  schedulerName: volcano
  containers:
  - name: main
    image: registry.example/train:1
"""


_Name = tuple[str, str, str]
"""System, namespace, name of a gang."""
_SHOWN = 3
"""Namespaces shown."""


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Groups that no pod joins, and missing groups: only in a complete scope."""
    if not scope.complete:
        return
    joined = {(m.value.target_name, m.value.namespace, m.value.group) for m in scope.memberships}
    there = {(g.value.target_name, g.value.namespace, g.value.name) for g in scope.groups}
    by_pods = (m.value for m in scope.memberships if m.value.by_pods)
    yield from _partners(scope, there | {value[:3] for value in by_pods})
    yield from _unused(scope)
    gone = renamed(scope, joined, there)
    yield from gone.violations
    joining = _namespaces((m.value.group, m.value.namespace) for m in scope.memberships)
    declaring = _namespaces((g.value.name, g.value.namespace) for g in scope.groups)
    others = {(namespace, name): _title(target_name) for target_name, namespace, name in there}
    groups, members = _unfilled(there), _unfilled(joined)
    systems = {target_name for target_name, _, _ in there}
    for group in scope.groups:
        namespace, name = group.value.namespace, group.value.name
        if not name or is_placeholder(name) or group.value.owned:
            continue
        of_members = members.get(group.value[:2])
        if of_members and of_members.may_be(name):
            continue
        if group.value[:3] not in joined and group.value[:3] not in gone.groups and not scope.may_hold(name):
            yield Violation(
                group.at("name"),
                f"no pod joins PodGroup {name} in namespace {namespace}",
                _how_to_join(joining.get(name, ()), namespace),
                Severity.WARNING,
            )
    for member in scope.memberships:
        value = member.value
        if value.by_pods or member.partial or is_placeholder(value.group):
            continue
        of_groups = groups.get(value[:2])
        if (of_groups and of_groups.may_be(value.group)) or _is_made(member):
            continue
        if value[:3] in there or value[:3] in gone.members or scope.may_hold(value.group):
            continue
        elsewhere = declaring.get(value.group)
        aside = f"; there is one in {_listed(elsewhere)}" if elsewhere else ""
        if other := others.get((value.namespace, value.group)):
            aside = f"; there is one of {other}"
        certain = value.target_name in systems or _is_known(value.scheduler, context)
        yield Violation(
            member.at("group"),
            f"PodGroup {value.group} does not exist in namespace {value.namespace}{aside}",
            "add the PodGroup, or correct the name: without it the pods never start"
            + ("" if certain else f" if {value.scheduler} is a scheduler that reads it"),
            Severity.ERROR if certain else Severity.WARNING,
        )


def _title(target_name: str) -> str:
    target = target_of(target_name)
    return target.title if target else target_name


def _is_known(scheduler: str, context: Context) -> bool:
    """Whether it is known which system a schedulerName is of: another's own scheduler may read no groups."""
    return target_name_of(scheduler, context.cluster) is not None


def _is_made(member: LocatedFact[Membership]) -> bool:
    """Whether Kubeflow's operator makes the group, which has the name of the job.

    Source: `SyncPodGroup` of the training operator (1.5 to 1.9), and of tf-operator before it.
    """
    resource = member.resource
    return resource.api_version.startswith("kubeflow.org/") and resource.name == member.value.group


def _unfilled(names: Iterable[_Name]) -> dict[tuple[str, str], UnfilledNames]:
    """By system and namespace the names with placeholders."""
    found: dict[tuple[str, str], list[str]] = {}
    for target_name, namespace, name in names:
        if is_placeholder(name):
            found.setdefault((target_name, namespace), []).append(name)
    return {key: UnfilledNames(each) for key, each in found.items()}


def _partners(scope: Scope, there: set[tuple[str, str, str]]) -> Iterator[Violation]:
    """Gangs that start together: each must exist and list the same gangs."""
    lists = scope.of(GangPartners)
    kinds: dict[frozenset[tuple[str, str]], int] = {}
    groups: dict[_Name, _List] = {}
    for each in lists:
        partners = frozenset(each.value.partners)
        groups[each.value[:3]] = _List(partners, kinds.setdefault(partners, len(kinds)))
    spaces = {namespace for _, namespace, _ in there}
    for each in lists:
        value = each.value
        kind = kinds[frozenset(value.partners)]
        for number, (namespace, name) in enumerate(value.partners):
            other = (value.target_name, namespace, name)
            if other == value[:3] or namespace not in spaces or is_placeholder(name) or scope.may_hold(name):
                continue
            if other not in there:
                yield Violation(
                    each.at(str(number)),
                    f"gang {value.group} starts together with {namespace}/{name}, which does not exist",
                    "add its PodGroup or pods, or remove it from the list: until then neither gang starts",
                    Severity.ERROR,
                )
            elif (
                other in groups
                and groups[other].kind != kind
                and not _is_reported_there(value, other, groups)
            ):
                yield Violation(
                    each.at("groups"),
                    f"gang {value.group} and {namespace}/{name} list different gangs: they form two groups",
                    "write the same list in all of them",
                    Severity.ERROR,
                )


class _List(NamedTuple):
    """What a gang lists, and a number that only equal lists share: they are compared many times."""

    partners: frozenset[tuple[str, str]]
    kind: int


def _is_reported_there(one: GangPartners, other: _Name, groups: Mapping[_Name, _List]) -> bool:
    """Whether the other, which lists this one too, is reported for it."""
    return one[:3] > other and (one.namespace, one.group) in groups[other].partners


def _unused(scope: Scope) -> Iterator[Violation]:
    """Task groups that no pod of their application names, in whatever namespace it is."""
    lists = scope.of(TaskGroups)
    used = {m.value.group for m in scope.memberships}
    opened = {each.value[:2] for each in lists if not each.value.closed}
    for each in lists:
        value = each.value
        for number, name in enumerate(value.names):
            named = f"{value.application}/{name}" in used
            if value[:2] not in opened and not named and not is_placeholder(name + value.application):
                yield Violation(
                    each.at(str(number)),
                    f"no pod of application {value.application} is in task group {name}: "
                    "its placeholders hold nodes until the timeout",
                    "name it in yunikorn.apache.org/task-group-name of its pods, or delete it",
                    Severity.WARNING,
                )


def _namespaces(named: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Of pairs (name, namespace): the first namespaces of each name, and one more where there are more."""
    found: dict[str, list[str]] = {}
    for name, namespace in sorted(set(named)):
        listed = found.setdefault(name, [])
        if len(listed) <= _SHOWN:
            listed.append(namespace)
    return found


def _listed(namespaces: Sequence[str]) -> str:
    names = ", ".join(namespaces[:_SHOWN]) + (", ..." if len(namespaces) > _SHOWN else "")
    return f"namespace{'s' if len(namespaces) > 1 else ''} {names}"


def _how_to_join(joining: Sequence[str], namespace: str) -> str:
    elsewhere = [each for each in joining if each != namespace]
    if namespace in joining and not elsewhere:
        return "pods name it as a group of another scheduler: write the apiVersion of theirs"
    if elsewhere:
        return f"pods in {_listed(elsewhere)} name it, but a gang stays within one namespace"
    return "name it in the metadata of the pod template that should start together, or delete it"


RULE = Rule(
    code="PK306",
    name="gang-without-group",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(GangPartners, Membership, NameAffix, PodGroup, TaskGroups),
)
