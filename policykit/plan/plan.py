"""The plan of a change: built from two policies and the manifests of both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from policykit.errors import PolicykitError
from policykit.manifests.document import Manifest
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool
from policykit.namedtuple import NamedTuple
from policykit.placement.former_names import FormerNames, with_former_names
from policykit.placement.review import Review
from policykit.plan.changes import Change, changes
from policykit.plan.effects import (
    GANG,
    KINDS,
    NOWHERE,
    REPLACED_OBJECT,
    Effect,
    changes_pods,
    effects,
    is_judged,
)
from policykit.plan.nodes import NodeGroup, node_groups
from policykit.plan.order import Move, Order, find_order
from policykit.plan.renames import on_nodes, renames
from policykit.plan.running import queues_in_use, running_pods, with_names
from policykit.plan.steps import DELETE, MERGE, Step, Way, steps
from policykit.plan.workloads import (
    Acceptance,
    Reviewed,
    Template,
    Workload,
    demands,
    patched_template,
    template,
    workloads,
)
from policykit.targets import TARGETS


class Plan(NamedTuple):
    """What a change does, and the way there."""

    policy: str
    """Name of the cluster."""
    changes: tuple[Change, ...]
    effects: tuple[Effect, ...]
    steps: tuple[Step, ...]
    is_safe: bool
    """The steps keep every pod set at the smaller of its nodes before and after."""
    exhaustive: bool
    """If they do not: no order of steps does. False: none was found."""
    one_merge: bool
    """Nothing but one merge is needed."""
    pod_sets: int
    """Those that were judged."""
    not_judged: int = 0
    """Those that land where something else than manifest and policy decides."""

    @property
    def is_harmless(self) -> bool:
        """One merge is enough, and nothing that landed lands nowhere."""
        return self.one_merge and not any(each.kind in (NOWHERE, GANG) for each in self.effects)


def make_plan(
    before: Cluster,
    after: Cluster,
    manifests_before: Iterable[Reviewed],
    manifests_after: Iterable[Reviewed],
    nodes: Iterable[Pool] = (),
    pods: Iterable[Manifest] = (),
    queues: Iterable[Manifest] = (),
) -> Plan:
    """The plan from one policy, with its manifests, to another; `nodes`, `pods`, `queues`: those that run."""
    live = tuple(nodes)
    groups = node_groups(with_names(before, live, counted=True), with_names(after, live, counted=False))
    acceptance = Acceptance(before, after, groups)
    found = workloads(manifests_before, manifests_after)
    judged = [each for each in found if each.before and each.after and is_judged(each.after)]
    reported = (
        *effects(before, after, acceptance, found),
        *running_pods(pods, groups),
        *queues_in_use(queues, before, after),
    )
    names = renames(before, after, groups)
    way = _way(before, after, groups, acceptance, judged, names)
    gone = _gone_queues(before, after)
    made = changes(before, after)
    rolls = any(changes_pods(each.before, each.after) for each in found if each.before and each.after)
    moves = way.order.moves
    taken = _straight(groups) if moves is None else moves
    moving = any(group.changes for group in groups)
    replaced = sum(each.kind == REPLACED_OBJECT for each in reported)
    going = Way(before, after, groups, taken, way.middle, gone, rolls, replaced, names)
    order = steps(going) if made or moving or rolls else ()
    return Plan(
        after.name,
        made,
        tuple(sorted(reported, key=lambda each: KINDS.index(each.kind))),
        order,
        moves is not None,
        way.order.exhaustive,
        one_merge=moves is not None and _is_one_merge(order, groups),
        pod_sets=len(judged),
        not_judged=sum(1 for each in found if each.after and not is_judged(each.after)),
    )


def _is_one_merge(order: Sequence[Step], groups: Sequence[NodeGroup]) -> bool:
    """Whether nothing else is done to what exists; new nodes join whenever they come."""
    whens = [step.when for step in order]
    only_new = all(group.before is None for group in groups if group.changes)
    return whens.count(MERGE) <= 1 and DELETE not in whens and only_new


def _gone_queues(before: Cluster, after: Cluster) -> tuple[str, ...]:
    """Queues whose objects go: by name, or all of them with the target that they are written for."""
    kept = {queue.name for queue in after.queues}
    writers = {each.name for each in TARGETS if each.queues and each.generate and not each.always}
    off = bool((before.targets.keys() - after.targets.keys()) & writers)
    return tuple(queue.name for queue in before.queues if off or queue.name not in kept)


class _Found(NamedTuple):
    order: Order
    middle: FormerNames | None = None


def _way(
    before: Cluster,
    after: Cluster,
    groups: Sequence[NodeGroup],
    acceptance: Acceptance,
    judged: Sequence[Workload],
    names: FormerNames,
) -> _Found:
    """The shortest way: the merge and the nodes in some order, else with former names in between."""
    both = [(template(each.before), template(each.after)) for each in judged if each.before and each.after]
    straight = _order(groups, acceptance, both)
    former = on_nodes(names)
    if straight.moves is not None or former == FormerNames():
        return _Found(straight)
    cluster = with_former_names(after, former)
    phases = [
        (template(alike.before), _middle(alike.after, cluster), template(alike.after))
        for alike in _one_of_each(judged, acceptance)
        if alike.before and alike.after
    ]
    found = _order(groups, acceptance, phases)
    return _Found(found, former) if found.moves is not None else _Found(straight)


def _one_of_each(judged: Sequence[Workload], acceptance: Acceptance) -> Iterable[Workload]:
    """One workload of all with the same templates and workload kind, which are patched alike."""
    found: dict[tuple[str, str, str], Workload] = {}
    for each in judged:
        if each.before and each.after:
            kind = each.after.workload.name if each.after.workload else ""
            key = (acceptance.key(template(each.before)), acceptance.key(template(each.after)), kind)
            found.setdefault(key, each)
    return found.values()


def _middle(review: Review, cluster: Cluster) -> Template:
    """What `patch` makes of a pod set; one that it refuses stays as it is."""
    try:
        return patched_template(review, cluster)
    except PolicykitError:
        return template(review)


def _order(
    groups: Sequence[NodeGroup], acceptance: Acceptance, phases: Sequence[Sequence[Template]]
) -> Order:
    """An order of the groups that change."""
    moving = [number for number, group in enumerate(groups) if group.changes]
    wanted = demands(acceptance, phases, moving)
    found = find_order([groups[number].nodes for number in moving], len(phases[0]) if phases else 2, wanted)
    if found.moves is None:
        return found
    moves = (move if move.group < 0 else Move(moving[move.group], move.nodes) for move in found.moves)
    return found._replace(moves=tuple(moves))


def _straight(groups: Sequence[NodeGroup]) -> tuple[Move, ...]:
    """What would be done without an order."""
    return (Move(), *(Move(number, group.nodes) for number, group in enumerate(groups) if group.changes))
