"""The plan of a change: built from two policies and the manifests of both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from policykit.errors import PolicykitError
from policykit.kube.affinity import NodeAffinity
from policykit.manifests.document import Manifest
from policykit.model.cluster import Cluster
from policykit.model.gang import PodGroup
from policykit.model.pool import Pool, Toleration
from policykit.namedtuple import NamedTuple
from policykit.placement.eligible_pools import product_of
from policykit.placement.former_names import FormerNames, with_former_names
from policykit.placement.landing import land
from policykit.placement.review import Review
from policykit.plan.changes import REMOVED, Change, changes
from policykit.plan.effects import (
    GANG,
    KINDS,
    NOWHERE,
    PRIORITY,
    REPLACED_OBJECT,
    Effect,
    changes_pods,
    is_judged,
    workload_effects,
)
from policykit.plan.gangs import (
    Gang,
    Phases,
    domain_constraints,
    gang_constraints,
    gang_effects,
    gangs,
)
from policykit.plan.nodes import NodeGroup, node_groups
from policykit.plan.order import Move, Order, find_order
from policykit.plan.queues import (
    QueueChanges,
    live_queue_effects,
    priority_effects,
    queue_changes,
    queue_effects,
    unused,
)
from policykit.plan.running import running_pods, with_names
from policykit.plan.steps import steps
from policykit.plan.transition import DELETE, MERGE, WAIT, GoneObject, Step, Transition
from policykit.plan.workloads import (
    Acceptance,
    Reviewed,
    Template,
    Workload,
    constraints,
    patched_template,
    template,
    workloads,
)

_Names = Mapping[str, tuple[str, ...]]


def renames(before: Cluster, after: Cluster, groups: Sequence[NodeGroup]) -> FormerNames:
    """Names that gave way to others on the same nodes, or for the same workload kind."""
    pairs = [(group.before, group.after) for group in groups if group.before and group.after]
    usages = _renamed(((old.usage, new.usage) for old, new in pairs), *_all_usages(before, after))
    products = _renamed(
        ((product_of(before, old), product_of(after, new)) for old, new in pairs),
        *_all_products(before, after),
    )
    kinds = before.workloads.keys() & after.workloads.keys()
    queues = _renamed(
        ((before.workloads[kind].queue, after.workloads[kind].queue) for kind in sorted(kinds)),
        frozenset(queue.name for queue in before.queues),
        frozenset(queue.name for queue in after.queues),
    )
    name = {} if before.name == after.name else {after.name: (before.name,)}
    return FormerNames(_domain(before, after), usages, products, queues, name)


def on_nodes(names: FormerNames) -> FormerNames:
    """Only those of labels and taints."""
    return FormerNames(names.domain, names.usages, names.products)


def _domain(before: Cluster, after: Cluster) -> _Names:
    old, slash, rest = before.usage_key.partition("/")
    new, _, other = after.usage_key.partition("/")
    return {new: (old,)} if slash and rest == other and old != new else {}


def _renamed(pairs: Iterable[tuple[str, str]], before: frozenset[str], after: frozenset[str]) -> _Names:
    """New name to old ones, where the old one is gone and the new one was not there."""
    found: dict[str, dict[str, None]] = {}
    for old, new in pairs:
        if old and new and old in before - after and new in after - before:
            found.setdefault(new, {})[old] = None
    return {new: tuple(olds) for new, olds in found.items()}


def _all_usages(*clusters: Cluster) -> Iterable[frozenset[str]]:
    return [frozenset(pool.usage for pool in cluster.pools) for cluster in clusters]


def _all_products(*clusters: Cluster) -> Iterable[frozenset[str]]:
    return [frozenset(product_of(cluster, pool) for pool in cluster.pools) for cluster in clusters]


class Plan(NamedTuple):
    """What a change does, and the steps to it."""

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
    stale: int = 0
    """Those that land nowhere because `patch` has not been run yet: the steps are not known."""
    gangs: int = 0
    """Those whose room the steps keep."""
    not_judged: int = 0
    """Those that land where something else than manifest and policy decides."""

    @property
    def is_harmless(self) -> bool:
        """One merge is enough, and nothing that landed lands nowhere."""
        return self.one_merge and not any(each.kind in (NOWHERE, GANG, PRIORITY) for each in self.effects)


class Live(NamedTuple):
    """What runs at the moment, as far as it is known."""

    nodes: tuple[Pool, ...] = ()
    pods: tuple[Manifest, ...] = ()
    queues: tuple[Manifest, ...] = ()


_NOTHING = Live()


def make_plan(
    before: Cluster,
    after: Cluster,
    manifests_before: Iterable[Reviewed],
    manifests_after: Iterable[Reviewed],
    live: Live = _NOTHING,
    *,
    source: str = "HEAD",
    commit: str = "",
    gone: Sequence[GoneObject] = (),
    pod_groups: tuple[Iterable[PodGroup], Iterable[PodGroup]] = ((), ()),
) -> Plan:
    """The plan from one policy, with its manifests, to another.

    `source`: what the change starts from, as `--from` takes it; `commit`: its commit, if it is a revision;
    `gone`: objects that only the old policy generates; `pod_groups`: before and after, for pods that join one
    by name.
    """
    groups = node_groups(
        with_names(before, live.nodes, counted=True), with_names(after, live.nodes, counted=False)
    )
    acceptance = Acceptance(before, after, groups)
    found = workloads(manifests_before, manifests_after)
    judged = [each for each in found if each.before and each.after and is_judged(each.after)]
    templates = [tuple(template(each) for each in (one.before, one.after) if each) for one in judged]
    others = [each for each in found if not (each.before and each.after and is_judged(each.after))]
    together = gangs(judged, others, pod_groups)
    queues = queue_changes(before, after)
    reported = (
        *workload_effects(acceptance, found),
        *gang_effects(acceptance, judged, together, templates),
        *queue_effects(before, after, queues, found, live.pods),
        *priority_effects(before, after, found),
        *live_queue_effects(live.queues, before, after, queues),
        *running_pods(live.pods, groups),
    )
    queues = queues.without(unused(live.queues, found))
    names = renames(before, after, groups)
    problem = _OrderProblem(acceptance, judged, templates, together)
    found_order = _find_order(after, problem, on_nodes(names))
    made = changes(before, after)
    rolls = any(changes_pods(each.before, each.after) for each in found if each.before and each.after)
    moves = found_order.order.moves
    moving = any(group.changes for group in groups)
    transition = Transition(
        before,
        after,
        groups,
        _straight(groups) if moves is None else moves,
        source,
        found_order.middle,
        _restored(judged, templates) if found_order.keeps else (),
        commit or source,
        queues,
        rolls,
        replaced=sum(each.kind == REPLACED_OBJECT for each in reported),
        kept=names,
        stale=_stale(judged, templates, acceptance, after),
        only_queues_go=not (moving or rolls) and _only_queues_go(made, queues),
        gone=gone,
        removed=any(each.sign == REMOVED for each in made),
        protected=[each.name for each in made if each.sign == REMOVED and each.note],
    )
    order = steps(transition) if made or moving or rolls else ()
    return Plan(
        after.name,
        made,
        tuple(sorted(reported, key=lambda each: KINDS.index(each.kind))),
        order,
        moves is not None,
        found_order.order.exhaustive,
        one_merge=moves is not None and _is_one_merge(transition, order),
        pod_sets=len(judged),
        stale=transition.stale if order else 0,
        gangs=len(together),
        not_judged=sum(1 for each in found if each.after and not is_judged(each.after)),
    )


def _is_one_merge(transition: Transition, order: Sequence[Step]) -> bool:
    """Whether nothing else is done to what exists; new nodes join whenever they come."""
    whens = [step.when for step in order]
    only_new = all(group.before is None for group in transition.groups if group.changes)
    same_taint = transition.before.control_plane_taint == transition.after.control_plane_taint
    return whens.count(MERGE) <= 1 and not {DELETE, WAIT} & {*whens} and only_new and same_taint


def _only_queues_go(made: Iterable[Change], queues: QueueChanges) -> bool:
    parts = {"queue": queues.gone, "target": queues.targets}
    return all(each.sign == REMOVED and each.name in parts.get(each.what, ()) for each in made)


def _stale(judged: Sequence[Workload], templates: Phases, acceptance: Acceptance, after: Cluster) -> int:
    """Pod sets that lose every node although pools of their workload kind have room: not patched yet.

    `patch` refuses an object as a whole, so each of its pod sets must have room.
    """
    lost = [
        one.after
        for one, (old, new) in zip(judged, templates, strict=True)
        if one.after
        and one.after.workload
        and not acceptance.nodes(new, after=True)
        and acceptance.nodes(old, after=False)
    ]
    theirs = {id(each.manifest) for each in lost}
    refused = {
        id(one.after.manifest)
        for one in judged
        if one.after and id(one.after.manifest) in theirs and not _has_room(one.after, after)
    }
    return sum(id(each.manifest) not in refused for each in lost)


def _has_room(review: Review, after: Cluster) -> bool:
    """Whether a node of an eligible pool is large enough: where none is, `patch` refuses."""
    tolerated = (Toleration(operator="Exists"),)
    return any(
        land(after, pool, tolerated, NodeAffinity(), review.requests).verdict != "refused"
        for pool in review.eligible_pools or ()
    )


def _restored(judged: Sequence[Workload], templates: Phases) -> tuple[str, ...]:
    """Files with a pod set whose placement changes."""
    pairs = zip(judged, templates, strict=True)
    return tuple(sorted({one.path for one, (old, new) in pairs if old != new}))


class _OrderWithNames(NamedTuple):
    order: Order
    middle: FormerNames | None = None
    keeps: bool = False
    """The first merge keeps what the old policy wrote into the manifests."""


class _OrderProblem(NamedTuple):
    """What an order is sought for."""

    acceptance: Acceptance
    judged: Sequence[Workload]
    templates: Phases
    """Before and after, of each pod set that is judged."""
    gangs: Sequence[Gang]


def _find_order(after: Cluster, problem: _OrderProblem, former: FormerNames) -> _OrderWithNames:
    """The shortest order: the merge and the nodes in some order, else with former names in between, else with
    manifests in between that keep what the old policy wrote."""
    renamed = [(former, False)] if former != FormerNames() else []
    attempts: list[tuple[FormerNames | None, bool]] = [(None, False), *renamed, (former, True)]
    orders = []
    for middle, keeps in attempts:
        phases = problem.templates
        if middle is not None:
            phases = _with_middle(problem, with_former_names(after, middle), keeps=keeps)
        orders.append(_order(problem, phases))
        if orders[-1].moves is not None:
            return _OrderWithNames(orders[-1], middle, keeps)
    return _OrderWithNames(Order(None, all(each.exhaustive for each in orders)))


def _with_middle(problem: _OrderProblem, cluster: Cluster, *, keeps: bool) -> Phases:
    """With what `patch` makes of each pod set in between, once for those of the same kind and templates.

    `keeps`: of the old manifests; else of the new ones.
    """
    key = problem.acceptance.key
    made: dict[tuple[str, str, str], Template] = {}
    phases = []
    for one, (old, new) in zip(problem.judged, problem.templates, strict=True):
        review = one.before if keeps else one.after
        assert review is not None
        kind = review.workload.name if review.workload else ""
        alike = key(old), key(new), kind
        if alike not in made:
            made[alike] = _middle(review, cluster)
        phases.append((old, made[alike], new))
    return phases


def _middle(review: Review, cluster: Cluster) -> Template:
    """What `patch` makes of a pod set; one that it refuses stays as it is."""
    try:
        return patched_template(review, cluster)
    except PolicykitError:
        return template(review)


def _order(problem: _OrderProblem, phases: Phases) -> Order:
    """An order of the groups that change."""
    acceptance = problem.acceptance
    moving = [number for number, group in enumerate(acceptance.groups) if group.changes]
    wanted = (
        *constraints(acceptance, phases, moving),
        *gang_constraints(acceptance, problem.gangs, phases, moving),
    )
    sizes = [acceptance.groups[number].nodes for number in moving]
    within = tuple(domain_constraints(acceptance, problem.gangs, phases, moving))
    found = find_order(sizes, len(phases[0]) if phases else 2, wanted, within)
    if found.moves is None:
        return found
    moves = (move if move.group < 0 else Move(moving[move.group], move.nodes) for move in found.moves)
    return found._replace(moves=tuple(moves))


def _straight(groups: Sequence[NodeGroup]) -> tuple[Move, ...]:
    """What would be done without an order."""
    return (Move(), *(Move(number, group.nodes) for number, group in enumerate(groups) if group.changes))
