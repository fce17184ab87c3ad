"""Gangs that pods join by name, and whether there are enough of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from policykit.kube.autoscaling import POD_PER_REPLICA
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.gang import Autoscaler, Membership, PodGroup
from policykit.namedtuple import NamedTuple
from policykit.targets import target_of

Name = tuple[str, str, str]
"""(system, namespace, group) of a gang, or (namespace, kind, name) of a workload."""


class GangLack(NamedTuple):
    """A gang that needs more members than there are pods."""

    name: Name
    declared: LocatedFact[PodGroup] | LocatedFact[Membership]
    """What sets its size."""
    joined: tuple[LocatedFact[Membership], ...]
    pods: int
    message: str
    help: str
    certain: bool = True
    """They wait forever; if not, for a while, or only if they do not come first that state less."""


def name_of(one: PodGroup | Membership) -> Name:
    """The gang; without a namespace if its system does not tell them apart."""
    target = target_of(one.target_name)
    return one[0], "" if target is not None and target.gangs_of_cluster else one[1], one[2]


def lacks(scope: Scope) -> Iterator[GangLack]:
    """By the size of the group, else the one that the pods state."""
    scalers = scalers_of(scope)
    members: dict[Name, list[LocatedFact[Membership]]] = {}
    spaces: dict[tuple[str, str], dict[str, None]] = {}
    for member in scope.memberships:
        members.setdefault(name_of(member.value), []).append(member)
        spaces.setdefault((member.value[0], member.value[2]), {})[member.value.namespace] = None
    groups: dict[Name, list[LocatedFact[PodGroup]]] = {}
    for group in scope.groups:
        groups.setdefault(name_of(group.value), []).append(group)
    for name, joined in members.items():
        if scope.may_hold(name[2]):
            continue
        pods = _together(joined, scalers)
        # Without any pod the workload is off, or scaled up from zero on demand.
        sizes = _declared(groups.get(name, []), joined) if pods else ()
        lacking = [each for each in sizes if (each.value.min_member or 0) > (pods or 0)]
        if pods and lacking:
            there = spaces[name[0], name[2]] if name[1] else ()
            other = next((each for each in there if each != name[1]), "")
            yield _lack(name, lacking[0], joined, pods, len(lacking) == len(sizes), other)


def _lack(
    name: Name,
    declared: LocatedFact[PodGroup] | LocatedFact[Membership],
    joined: Sequence[LocatedFact[Membership]],
    pods: int,
    certain: bool,
    other: str,
) -> GangLack:
    minimum = declared.value.min_member or 0
    has = f"{_owners(joined)} {_has(joined)} {pods_text(pods)}"
    target = target_of(name[0])
    if target is not None and target.reserves_gangs:
        surplus = minimum - pods
        holds = "1 placeholder holds" if surplus == 1 else f"{surplus} placeholders hold"
        message = f"gang {name[2]} has {minimum} members but {has}: {holds} nodes until the timeout"
        return GangLack(name, declared, tuple(joined), pods, message, f"lower minMember to {pods}", False)
    where = "" if certain else f", as {declared.resource.kind} {declared.resource.name} states,"
    message = f"gang {name[2]} needs {minimum} members{where} but {has}"
    advice = f"{_raise(joined, pods, minimum)}, or lower the minimum to {pods}"
    if not certain:
        advice = "state the same size in all of its pods: that of the first pod counts"
    if other:
        advice += f"\npods in namespace {other} name it too, but a gang stays within one namespace"
    return GangLack(name, declared, tuple(joined), pods, message, advice, certain)


def _declared(
    groups: Sequence[LocatedFact[PodGroup]], joined: list[LocatedFact[Membership]]
) -> Sequence[LocatedFact[PodGroup] | LocatedFact[Membership]]:
    """What sets the minimum, the smallest first; nothing where two copies of a group might disagree."""
    if groups:
        return groups if len(groups) == 1 and groups[0].value.min_member is not None else ()
    if [m.resource.kind for m in joined] == ["Pod"]:
        return ()  # one pod of several created one by one: the others come from elsewhere
    # The first pod seen sets the values, and it is unknown which one that is.
    stating = [m for m in joined if m.value.min_member is not None]
    return sorted(stating, key=lambda m: m.value.min_member or 0)


def _together(joined: Iterable[LocatedFact[Membership]], scalers: Mapping[Name, Autoscaler]) -> int | None:
    """All pods of the members; one in two files (a base and its copy) counts once."""
    counted: dict[tuple[str, ...], dict[tuple[str, int], int]] = {}
    for member in joined:
        pods = raised(member.value.pods, member, member.value.namespace, scalers)
        if pods is None:
            return None
        place = member.value.namespace, member.place("group").pointer
        who = (member.resource.kind, member.resource.name, *place)
        copies = counted.setdefault(who, {})
        # Templates of one object may take the group from one place: each has pods of its own.
        copies[member.path, member.document] = copies.get((member.path, member.document), 0) + pods
    return sum(max(copies.values()) for copies in counted.values())


def raised(
    pods: int | None, where: LocatedFact[Any], namespace: str, scalers: Mapping[Name, Autoscaler]
) -> int | None:
    """Pods of a workload, up to its autoscaler's maximum; None: unknown."""
    scaler = scalers.get((namespace, where.resource.kind, where.resource.name))
    if scaler is None or pods is None:
        return pods
    if scaler.maximum is None or where.resource.kind not in POD_PER_REPLICA:
        return None
    return max(pods, scaler.maximum)


def _owners(joined: Sequence[LocatedFact[Membership]]) -> str:
    names = list(dict.fromkeys(f"{m.resource.kind} {m.resource.name}" for m in joined))
    return " and ".join(names) if len(names) < 3 else f"its {len(names)} workloads"


def _has(joined: Sequence[LocatedFact[Membership]]) -> str:
    return "has" if len({(m.resource.kind, m.resource.name) for m in joined}) == 1 else "have"


def _raise(joined: Sequence[LocatedFact[Membership]], pods: int, minimum: int) -> str:
    """The first suggestion: more pods."""
    who = _owners(joined)
    if _has(joined) == "has" and joined[0].resource.kind in POD_PER_REPLICA:
        return f"raise replicas of {who} to {minimum}"
    return f"add {minimum - pods} more {'pod' if minimum - pods == 1 else 'pods'} to it"


def pods_text(number: int, counted: str = "pod") -> str:
    """`1 pod`, `2 pods`."""
    return f"1 {counted}" if number == 1 else f"{number} {counted}s"


def scalers_of(scope: Scope) -> Mapping[Name, Autoscaler]:
    """The autoscaler of each workload."""
    return {(s.namespace, s.kind, s.name): s for s in (each.value for each in scope.autoscalers)}
