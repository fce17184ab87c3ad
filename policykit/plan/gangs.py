"""What gangs need of the nodes that accept their pods, before and after a change.

A gang fits if its nodes hold enough pods of each template, and have enough of each card that several of its
templates request. Nodes count as empty.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from policykit.kube.podsets import pod_sets
from policykit.model.gang import PodGroup
from policykit.model.pool import Amounts
from policykit.model.topology import Level
from policykit.namedtuple import NamedTuple
from policykit.placement.capacity import pods_on, required_level
from policykit.placement.review import Review
from policykit.plan.effects import GANG, Effect
from policykit.plan.nodes import NodeGroup
from policykit.plan.order import CapacityConstraint, DomainConstraint
from policykit.plan.workloads import Acceptance, Template, Workload, constraint
from policykit.targets import TARGETS
from policykit.targets.workloads.gangs import gang_of, job_of, makes_several_gangs

_UNKNOWN = 1 << 60
"""What a node of unknown size offers: it is not known to be too small."""

Phases = Sequence[Sequence[Template]]
"""[pod set][phase] The templates that each pod set has one after the other."""


_GroupName = tuple[str, str, str]
"""Target that reads it, namespace and name."""
_Domain = frozenset[tuple[int, bool]]
"""Numbers of groups whose nodes are in it, and whether after their change or before."""


class Unit(NamedTuple):
    """One gang of those that an object makes, or one that pods join by name."""

    pods: Mapping[str, int]
    """By name of the pod set."""
    least: int
    """Pods that must fit at once."""

    def least_of(self, names: Iterable[str]) -> int:
        """Pods of some pod sets that must fit at once, whichever of the others do."""
        chosen = set(names)
        return max(0, self.least - sum(pods for name, pods in self.pods.items() if name not in chosen))

    def least_amount(self, requests: Mapping[str, int]) -> int:
        """What is requested at once if those pods start that request least; `requests` by pod set."""
        left, amount = self.least, 0
        for name in sorted(self.pods, key=lambda name: requests.get(name, 0)):
            pods = min(left, self.pods[name])
            left, amount = left - pods, amount + pods * requests.get(name, 0)
        return amount


class Gang(NamedTuple):
    """Pods of an object, or of all that join a PodGroup, that start together, before and after the change."""

    members: Mapping[str, int]
    """Name of the pod set to its position among those that are judged."""
    before: Unit
    after: Unit
    level: Level | None = None
    """The level of the topology within one domain of which it must be, before and after."""


class _Need(NamedTuple):
    """What a gang needs of the nodes that accept some of its pods."""

    members: tuple[int, ...]
    """Positions of pod sets, one for each template."""
    resource: str
    """Empty: room for pods of the only template."""
    before: int
    after: int


def gangs(
    judged: Sequence[Workload],
    others: Iterable[Workload] = (),
    groups: tuple[Iterable[PodGroup], Iterable[PodGroup]] = ((), ()),
) -> tuple[Gang, ...]:
    """The gangs that are gangs before and after the change.

    `others`: workloads that are not judged, which may join PodGroups too; `groups`: before and after.
    """
    found = _joined(judged, others, groups)
    named = {position for gang in found for position in gang.members.values()}
    for _, group in groupby(enumerate(judged), key=lambda one: id(one[1].after and one[1].after.manifest)):
        made: dict[frozenset[str], Gang] = {}
        for position, workload in group:
            if position in named:
                continue
            before, after = (review and _unit(review) for review in (workload.before, workload.after))
            if before and after:
                names = frozenset(after.pods)
                members = made[names].members if names in made else {}
                level = _level(workload.before, workload.after)
                made[names] = Gang({**members, workload.pod_set: position}, before, after, level)
        found += made.values()
    return tuple(found)


def _joined(
    judged: Sequence[Workload],
    others: Iterable[Workload],
    groups: tuple[Iterable[PodGroup], Iterable[PodGroup]],
) -> list[Gang]:
    """The gangs of PodGroups that pods join by name, before and after the change the same one."""
    before, after = (_minima(each) for each in groups)
    members: dict[_GroupName, dict[str, int]] = {}
    units: dict[_GroupName, tuple[dict[str, int], dict[str, int]]] = {}
    for position, workload in enumerate((*judged, *others) if before and after else ()):
        names = [_group(workload.before), _group(workload.after)]
        for side, (name, review) in enumerate(zip(names, (workload.before, workload.after), strict=True)):
            if name in before and name in after and review:
                pods = units.setdefault(name, ({}, {}))[side]
                pods[str(position)] = review.pod_set.replicas or 0
        if names[0] == names[1] and names[0] in units and position < len(judged):
            members.setdefault(names[0], {})[str(position)] = position
    found = []
    for name, joined in members.items():
        was, will = (
            Unit(pods, min(minima[name], sum(pods.values())))
            for minima, pods in zip((before, after), units[name], strict=True)
        )
        if was.least > 1 and will.least > 1:
            levels = {_level(judged[one].before, judged[one].after) for one in joined.values()}
            found.append(Gang(joined, was, will, levels.pop() if len(levels) == 1 else None))
    return found


def _minima(groups: Iterable[PodGroup]) -> dict[_GroupName, int]:
    """Without groups that are stated twice: it is unknown which of them counts."""
    stated: dict[_GroupName, list[int | None]] = {}
    for each in groups:
        stated.setdefault(each[:3], []).append(each.min_member)
    return {name: found[0] for name, found in stated.items() if len(found) == 1 and found[0] is not None}


def _group(review: Review | None) -> _GroupName:
    """The group that the pods join by name; empty names: none."""
    readers = [target.read_membership for target in TARGETS if target.read_membership] if review else ()
    for read in readers:
        if review and (found := read(review.manifest, review.pod_set, review.namespace)):
            return found.membership[:3]
    return "", "", ""


def _level(before: Review | None, after: Review | None) -> Level | None:
    """The level within which pods wait rather than run apart, if it is the same before and after."""
    first, second = (
        required_level(review.cluster, review.workload) if review and review.cluster else None
        for review in (before, after)
    )
    return first if first == second else None


def _unit(review: Review) -> Unit | None:
    """The gang that a pod set is in, by its object or by its workload kind."""
    manifest, pod_set, kind = review.manifest, review.pod_set, review.workload
    own = gang_of(manifest.data, pod_set)
    made = any(each.jobs and each.jobs.includes(manifest.group) for each in TARGETS)
    stated = own.min_member if own and own.enabled and (own.written or made) else None
    if stated is None and not (kind and kind.gang == "all"):
        return None
    sets = pod_sets(manifest.data)
    pods = {one.name: one.replicas or 0 for one in job_of(manifest, pod_set, sets)}
    size = sum(pods.values())
    if own and own.pods and makes_several_gangs(manifest, pod_set, sets):
        pods = {name: number * own.pods // size for name, number in pods.items()}
        size = own.pods
    rule = kind.gang_rule.size if kind and kind.gang_rule else None
    least = min(stated or rule or size, size)
    return Unit(pods, least) if least > 1 else None


def gang_constraints(
    acceptance: Acceptance, found: Iterable[Gang], phases: Phases, moving: Sequence[int]
) -> Iterator[CapacityConstraint]:
    """What an order of moves must keep for gangs; `moving`: groups that change."""
    made: dict[object, CapacityConstraint] = {}
    for need, key in _needs(acceptance, found, phases):
        if key not in made:
            made[key] = _constraint(acceptance, need, phases, moving)
        yield _needed(made[key], need)


def domain_constraints(
    acceptance: Acceptance, found: Iterable[Gang], phases: Phases, moving: Sequence[int]
) -> Iterator[DomainConstraint]:
    """What an order of moves must keep for gangs that stay within one domain."""
    domains = _Domains(acceptance, phases, moving)
    yield from filter(None, map(domains.constraint, found))


class _Domains:
    """Constraints of gangs that stay within one domain; those that need the same are one."""

    def __init__(self, acceptance: Acceptance, phases: Phases, moving: Sequence[int]) -> None:
        self._acceptance = acceptance
        self._phases = phases
        self._moving = moving
        self._domains: dict[Level, list[_Domain]] = {}
        self._known: dict[object, DomainConstraint | None] = {}

    def constraint(self, gang: Gang) -> DomainConstraint | None:
        """None: it may be anywhere, or no node states its domain."""
        if gang.level is None:
            return None
        needs = [*_needs(self._acceptance, (gang,), self._phases)]
        alike = gang.level, *((need.before, need.after, key) for need, key in needs)
        if alike not in self._known:
            if gang.level not in self._domains:
                self._domains[gang.level] = _domains(self._acceptance.groups, gang.level)
            made = [
                tuple(
                    _needed(_constraint(self._acceptance, one, self._phases, self._moving, domain), one)
                    for one, _ in needs
                )
                for domain in self._domains[gang.level]
            ]
            self._known[alike] = DomainConstraint(tuple(made)) if made else None
        return self._known[alike]


def _needed(made: CapacityConstraint, need: _Need) -> CapacityConstraint:
    return made._replace(needs=(need.before, *[need.after] * (len(made.base) - 1)))


def _domains(groups: Sequence[NodeGroup], level: Level) -> list[_Domain]:
    """The domains of a level; empty: no node states one. Nodes that state none may all be together."""
    found: dict[str, set[tuple[int, bool]]] = {}
    for number, group in enumerate(groups):
        for after, pool in ((False, group.before), (True, group.after)):
            if pool is not None:
                value = {**pool.labels, **pool.shapes[0].labels}.get(level.key, "")
                found.setdefault(value, set()).add((number, after))
    return [frozenset(each) for each in found.values()] if any(found) else []


def gang_effects(
    acceptance: Acceptance, judged: Sequence[Workload], found: Iterable[Gang], phases: Phases
) -> Iterator[Effect]:
    """Gangs that fitted before and do not any more."""
    every = range(len(acceptance.groups))
    sizes = [group.nodes for group in acceptance.groups]
    known: dict[object, tuple[int, int]] = {}
    domains = _Domains(acceptance, phases, every)
    for gang in found:
        for need, key in _needs(acceptance, (gang,), phases):
            if key not in known:
                known[key] = _constraint(acceptance, need, phases, every).ends(sizes)
            was, now = known[key]
            if was >= need.before and now < need.after:
                yield _effect(judged[need.members[0]], gang, need, was, now)
                break
        else:
            within = domains.constraint(gang)
            if within and gang.level and within.ends(sizes) == (True, False):
                workload = judged[min(gang.members.values())]
                message = (
                    f"the gang of {gang.after.least} pods no longer fits: it must stay within one "
                    f"{gang.level.name}, and none has room for it, as one had before"
                )
                yield Effect(GANG, workload.title, message, workload.path)


def _effect(workload: Workload, gang: Gang, need: _Need, was: int, now: int) -> Effect:
    if need.resource:
        lack = f"it needs {need.after} {need.resource}, and its nodes have {now}, before {was}"
    elif need.after < gang.after.least:
        lack = f"the nodes of {workload.pod_set} hold {now} of {need.after}, before {was}"
    else:
        lack = f"its nodes hold {now}, before {was}"
    message = f"the gang of {gang.after.least} pods no longer fits: {lack}"
    return Effect(GANG, workload.title, message, workload.path)


def _needs(acceptance: Acceptance, found: Iterable[Gang], phases: Phases) -> Iterator[tuple[_Need, object]]:
    """Room for the pods of each template, and cards that several templates request; each with a key that is
    the same where nodes offer the same."""
    for gang in found:
        alike: dict[tuple[str, ...], list[str]] = {}
        for name, member in gang.members.items():
            alike.setdefault(tuple(map(acceptance.key, phases[member])), []).append(name)
        for key, names in alike.items():
            least = gang.before.least_of(names), gang.after.least_of(names)
            yield _Need((gang.members[names[0]],), "", *least), ("", key)
        parts = {key: gang.members[names[0]] for key, names in alike.items()}
        for resource in _shared(phases[member][-1].requests for member in parts.values()):
            before, after = (
                {name: phases[member][at].requests.get(resource, 0) for name, member in gang.members.items()}
                for at in (0, -1)
            )
            amounts = gang.before.least_amount(before), gang.after.least_amount(after)
            yield _Need(tuple(parts.values()), resource, *amounts), (resource, *parts)


def _shared(requests: Iterable[Amounts]) -> list[str]:
    """Cards that several templates request."""
    asked = Counter(name for each in requests for name, amount in each.items() if amount and "/" in name)
    return sorted(name for name, times in asked.items() if times > 1)


def _constraint(
    acceptance: Acceptance,
    need: _Need,
    phases: Phases,
    moving: Sequence[int],
    domain: _Domain | None = None,
) -> CapacityConstraint:
    """`domain`: what counts; None: everything."""

    def offer(phase: int, group: int, after: bool) -> int:
        if domain is not None and (group, after) not in domain:
            return 0
        templates = [phases[member][phase] for member in need.members]
        return max(_room(acceptance, one, need.resource, group, after=after) for one in templates)

    return constraint(acceptance.groups, len(phases[need.members[0]]), moving, offer)


def _room(acceptance: Acceptance, one: Template, resource: str, group: int, *, after: bool) -> int:
    """Pods of a template that a node holds, or its amount of a resource that the template requests."""
    found = acceptance.groups[group]
    pool = found.after if after else found.before
    if pool is None or not acceptance.accepts(one, group, after=after):
        return 0
    (shape,) = pool.shapes
    if resource:
        return shape.allocatable.get(resource, _UNKNOWN) if one.requests.get(resource) else 0
    pods = pods_on(shape, one.requests)
    return _UNKNOWN if pods is None else pods
