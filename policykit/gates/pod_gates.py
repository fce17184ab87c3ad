"""Every gate between a pod set and a running pod, besides the pools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from policykit.gates import ACCEPTED, REFUSED, UNKNOWN, Gate, card_parts, limits, shared_cards, state_of
from policykit.gates.gang_members import lacks, name_of
from policykit.gates.gang_room import group_shortages, shortages
from policykit.gates.namespace_limits import NamespaceLimits
from policykit.gates.pod_affinity import PodAffinities
from policykit.gates.pod_security import Standards
from policykit.gates.volumes import Volumes
from policykit.kube import runtime_classes
from policykit.kube.placeholders import is_placeholder
from policykit.kube.pod_security import forbidden
from policykit.kube.podsets.podset import PodSet
from policykit.kube.podsets.queues import read as read_queue
from policykit.kube.podsets.reading import pod_sets
from policykit.kube.selectors import may_meet
from policykit.linter.rule import Context
from policykit.linter.scope import Scope
from policykit.manifests.document import Manifest
from policykit.manifests.shape import mappings, text
from policykit.model.declared_queues import QueueUse
from policykit.model.gang import Membership
from policykit.model.pod_admission import PodMutation
from policykit.model.quantity import amount_text
from policykit.model.queue import DeclaredPriority, Demand
from policykit.namedtuple import NamedTuple
from policykit.placement import topology, untolerated_domains
from policykit.placement.capacity import gang_problem, pods_in
from policykit.placement.claims import claim_uses
from policykit.placement.owner import is_gated_or_suspended, owner
from policykit.placement.pod_affinity import affine, empty_selections, separate
from policykit.placement.review import Review
from policykit.targets import (
    DEFAULT_SCHEDULER,
    DEFAULT_TARGET,
    DOMAIN_ANNOTATIONS,
    TARGETS,
    target_name_of,
    target_of,
)
from policykit.targets.controllers import decides_scheduler
from policykit.targets.facts import queue_submissions
from policykit.targets.facts.namespaces import demand_of_pod, demands_of_gangs

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

ADMISSION, ROOM = "admission policy", "room"
SCHEDULING_GATE, SUSPENSION = "scheduling gate", "suspension"
LIVE_GATES = frozenset({ROOM, SCHEDULING_GATE, SUSPENSION})
"""Gates of which `why` knows more from the cluster."""
_BUILT_IN_PRIORITIES = frozenset({"system-cluster-critical", "system-node-critical"})


class Answer(NamedTuple):
    """Everything that decides whether the pods of a template run."""

    path: str
    """The file, as reported."""
    review: Review
    gates: tuple[Gate, ...] = ()
    line: int = 0
    """In the file; 0: at the object that was read."""
    clusters: tuple[str, ...] = ()
    """Names of the policies that say so, sorted; empty: nodes do, or nobody asked."""
    builds: tuple[str, ...] = ()
    """Folders that it is built from, as reported; empty: it is applied as it is written."""

    @property
    def first_line(self) -> int:
        """Of the pod set in its file."""
        return self.line or self.review.manifest.span(self.review.pod_set.path).line

    @property
    def state(self) -> str:
        """Of pods that must pass every gate and find a pool."""
        pools = pools_gate(self.review)
        if pools.state == REFUSED and any(gate.name == ADMISSION for gate in self.gates):
            pools = pools._replace(state=UNKNOWN)
        return state_of((pools, *self.gates))


def pools_gate(review: Review) -> Gate:
    """The pools as one gate: a policy that lists only some of them decides for the pods that it covers."""
    landings = review.landings
    if any(landing.accepts for landing in landings):
        return Gate("pools", ACCEPTED)
    cluster = review.cluster
    closed = cluster is not None and (cluster.complete or cluster.observed or bool(review.card_resources))
    refused = landings and all(landing.verdict == "refused" for landing in landings)
    if refused and closed and review.is_final and not review.selects_unlisted_pool:
        return Gate("pools", REFUSED, f"{landings[0].pool.name}: {landings[0].detail}")
    return Gate("pools", UNKNOWN)


class PodGates:
    """The gates of a scope, for each of its pod sets: what `where`, `why` and rules have in common."""

    def __init__(self, scope: Scope, cluster: Cluster) -> None:
        self._scope = scope
        self._cluster = cluster
        self._queues = limits.Queues(scope, cluster)
        self._limits = NamespaceLimits(scope, cluster)
        self._lacks = {each.name: each for each in lacks(scope)}
        self._short = {each.group.value[:3]: each.message for each in group_shortages(scope, cluster)}
        self._mounts = Volumes(scope, cluster)
        self._standards = Standards(scope)
        self._affinities = PodAffinities(scope, cluster)
        self._priorities = {each.value.name for each in scope.of(DeclaredPriority)}
        self._priorities |= {each.name for each in cluster.priorities}

    def of(self, review: Review) -> tuple[Gate, ...]:
        """In the order in which pods meet them; a gate that does not concern the pods is left out."""
        if review.pod_set.stored or review.manifest.partial:
            return ()
        uses = _queue_uses(review, self._cluster)
        return (
            *self._admission(review),
            *_runtime_class(review),
            *self._security(review),
            *_held(review, uses),
            *self._scheduler(review),
            *self._priority(review),
            *self._namespace(review),
            *limits.gates(uses, self._queues),
            *(self._gang(review) or self._group(review) or self._room(review)),
            *shared_cards.gates(review, self._cluster),
            *card_parts.gates(review, self._cluster),
            *self._topology(review),
            *self._affinity(review),
            *self._volumes(review),
            *_claims(review),
        )

    def _admission(self, review: Review) -> Iterator[Gate]:
        """What may yet change where the pods go; a pool that accepts them is listed all the same."""
        namespace = owner(review.manifest, review.pod_set).namespace or review.namespace
        if namespace in self._cluster.placed_elsewhere:
            detail = f"the policy says that something else places the pods of namespace {namespace}"
            yield Gate(ADMISSION, UNKNOWN, detail)
            return
        for each in self._scope.of(PodMutation):
            mine = each.value.namespace in ("", namespace)
            if mine and may_meet(each.value.selects, review.pod_set.labels):
                yield Gate(ADMISSION, UNKNOWN, f"{each.value.name} may change where the pods go")
                return

    def _scheduler(self, review: Review) -> Iterator[Gate]:
        name, listed = review.pod_set.scheduler_name, self._cluster.schedulers
        if is_placeholder(name) or review.pod_set.spec.get("nodeName"):
            return
        if decides_scheduler(review.manifest, name):
            return  # the controller of the object writes another one
        placed_by = name or DEFAULT_SCHEDULER
        if listed and placed_by not in listed:
            detail = f"{placed_by} is not a scheduler of the policy ({', '.join(sorted(listed))})"
            stated = name and listed != {DEFAULT_SCHEDULER}  # that one runs in every cluster
            yield Gate("scheduler", REFUSED if stated else UNKNOWN, detail)
        elif name and not listed and target_name_of(name, self._cluster) != DEFAULT_TARGET:
            yield Gate("scheduler", UNKNOWN, f"nothing here says that {name} runs")
        elif name:
            yield Gate("scheduler", ACCEPTED, placed_by)

    def _priority(self, review: Review) -> Iterator[Gate]:
        name = review.pod_set.spec.get("priorityClassName")
        if not isinstance(name, str) or not name or is_placeholder(name) or name in _BUILT_IN_PRIORITIES:
            return
        if name in self._priorities:
            yield Gate("priority", ACCEPTED, name)
        else:
            yield Gate("priority", UNKNOWN, f"no file here defines PriorityClass {name}")

    def _namespace(self, review: Review) -> Iterator[Gate]:
        for demand in _demands(review):
            if excess := self._limits.quota_excess(demand):
                yield Gate("quota", REFUSED, f"{demand.what} {excess.message}")
            elif demand.pods == 1:
                name, key = self._limits.unstated(demand)
                if name:
                    side, _, resource = key.partition(".")
                    detail = (
                        f"ResourceQuota {name} counts {key}, but a container states no {side} of {resource}"
                    )
                    yield Gate("quota", REFUSED if self._scope.complete else UNKNOWN, detail)
            if over := self._limits.range_excess(demand):
                yield Gate("limit-range", REFUSED, f"{demand.what} {over.message}")
            elif over := self._limits.ratio_excess(demand):
                certain = self._scope.complete or not over.default
                yield Gate("limit-range", REFUSED if certain else UNKNOWN, f"{demand.what} {over.message}")
            yield from self._with_given(review, demand)

    def _with_given(self, review: Review, demand: Demand) -> Iterator[Gate]:
        """What a LimitRange adds to the pods, against the nodes that take them and the quotas."""
        name, request = self._limits.given(demand)
        if not name:
            return
        shapes = [shape for each in review.landings if each.accepts for shape in each.pool.shapes]
        largest = {
            key: max((shape.allocatable.get(key, amount) for shape in shapes), default=amount)
            for key, amount in request.items()
        }
        for key in sorted(request):
            if request[key] > largest[key] >= demand.request.get(key, 0):
                asked, most = amount_text(key, request[key]), amount_text(key, largest[key])
                why = f"requests {asked} {key}, but its nodes have at most {most}"
                yield Gate("limit-range", REFUSED, f"with LimitRange {name} the pod {why}")
                return
        given = demand._replace(request=request)
        if not self._limits.quota_excess(demand) and (excess := self._limits.quota_excess(given)):
            detail = f"with LimitRange {name} {demand.what} {excess.message}"
            yield Gate("quota", REFUSED, detail)

    def _gang(self, review: Review) -> tuple[Gate, ...]:
        for short in shortages(review.manifest, self._cluster, review.namespace):
            if review.pod_set.name in short.gang.members:
                return (Gate("gang", REFUSED, short.message),)
        problem = gang_problem(review)
        return (Gate("gang", REFUSED, problem),) if problem else ()

    def _group(self, review: Review) -> tuple[Gate, ...]:
        """The group that the pods join by name: whether it is there, with enough members and room."""
        found = next(_memberships(review), None)
        if found is None:
            return ()
        name, shown = found[:3], f"PodGroup {found.group}"
        if name in self._short:
            return (Gate("gang", REFUSED, self._short[name]),)
        groups = [each.value for each in self._scope.groups if each.value[2] == found.group]
        there = any(name_of(each) == name_of(found) for each in groups)
        if not there and not found.by_pods and found.min_member is None:
            places = sorted({each.namespace for each in groups if each.target_name == found.target_name})
            aside = f" in namespace {found.namespace}, only in {places[0]}" if places else self._like(found)
            return (Gate("gang", UNKNOWN, f"no file here defines {shown}{aside}"),)
        lack = self._lacks.get(name_of(found))
        if lack is None:
            return ()
        refused = self._scope.complete and lack.certain
        return (Gate("gang", REFUSED if refused else UNKNOWN, lack.message),)

    def _like(self, joined: Membership) -> str:
        """A group that is here, and may be the same under a name that a kustomization gives it."""
        names = {each.value[:3] for each in self._scope.memberships}
        for one in (each.value for each in self._scope.groups):
            alike = one[:2] == joined[:2] and joined.group in one.name
            if alike and one[:3] not in names:
                return f", only {one.name}, which no pod joins"
        return ""

    def _room(self, review: Review) -> tuple[Gate, ...]:
        """Pods that do not start together run as far as there is room."""
        replicas, pools = review.pod_set.replicas, [each.pool for each in review.landings if each.accepts]
        if not self._cluster.complete or not replicas or review.pod_set.per_node or not pools:
            return ()
        room = pods_in((shape for pool in pools for shape in pool.shapes), review.requests)
        if room is None or room >= replicas:
            return ()
        return (Gate(ROOM, UNKNOWN, f"the empty pools hold {room} of its {replicas} pods"),)

    def _topology(self, review: Review) -> Iterator[Gate]:
        for use in topology.topology_uses(review.manifest, review.pod_set):
            if use.use in topology.HOLDS and topology.is_absent(self._cluster, use.key):
                yield Gate("topology", REFUSED, f"no pool has the label {use.key}, by which pods are placed")
            elif use.use in topology.HOLDS and (names := topology.lacking(review, use.key)):
                where = f"the pods can run only in {', '.join(names)}"
                detail = f"{where}, without the label {use.key}, by which they are placed"
                known = self._cluster.observed or not topology.is_of_clouds(use.key)
                yield Gate("topology", REFUSED if known else UNKNOWN, detail)
        for spread in untolerated_domains.over_untolerated(review):
            detail = "a constraint of its pods " + spread.message
            yield Gate("topology", UNKNOWN, detail)
        for each in topology.separations(review, DOMAIN_ANNOTATIONS):
            if each.replicas > each.room:
                yield Gate("topology", UNKNOWN, f"{each.cause}, but {each.limit}")

    def _affinity(self, review: Review) -> Iterator[Gate]:
        """Pods that these must be near."""
        for _, empty in empty_selections(review.pod_set):
            if empty.waits:
                yield Gate("affinity", REFUSED, empty.message)
                return
        affine_pods = affine(review)
        unmet = self._affinities.unmet(affine_pods) if affine_pods else None
        if unmet is not None:
            yield Gate("affinity", REFUSED if unmet.certain else UNKNOWN, unmet.message)
        apart = separate(review)
        barred = self._affinities.barred(apart) if apart else None
        if barred is not None:
            yield Gate("affinity", UNKNOWN, barred.message)

    def _security(self, review: Review) -> Iterator[Gate]:
        """The pod security standard of the namespace."""
        namespace = owner(review.manifest, review.pod_set).namespace or review.namespace
        level, _ = self._standards.of(namespace)
        causes = dict.fromkeys(what for _, what in forbidden(review.pod_set)) if level else {}
        if causes:
            yield Gate(
                "pod security", REFUSED, f"{level} of namespace {namespace} forbids {', '.join(causes)}"
            )

    def _volumes(self, review: Review) -> Iterator[Gate]:
        """Claims whose volumes the pods cannot mount, or not all of them."""
        for _, use in claim_uses(review):
            if found := self._mounts.problem(use):
                refused = found.whole and found.known and found.certain
                yield Gate("volume", REFUSED if refused else UNKNOWN, found.message)
            if found := self._mounts.of_one_pod(use):
                yield Gate("volume", UNKNOWN, f"claim {use.claim}: {found.message}")


def _runtime_class(review: Review) -> Iterator[Gate]:
    """What the RuntimeClass of the pods may change, and where the API server refuses them for it."""
    known = review.cluster.runtime_classes if review.cluster else {}
    name = runtime_classes.named(review.pod_set)
    found = known.get(name)
    if found is not None:
        for conflict in runtime_classes.conflicts(review.pod_set.spec, found):
            yield Gate("runtime class", REFUSED, conflict.message)
    elif name and not is_placeholder(name) and runtime_classes.may_add(name, known):
        yield Gate("runtime class", UNKNOWN, f"no file here says what RuntimeClass {name} adds to the pods")


def _held(review: Review, uses: Sequence[QueueUse]) -> Iterator[Gate]:
    """Scheduling gates and suspension; a system that admits the workload removes its own."""
    listed = review.pod_set.spec.get("schedulingGates")
    names = ", ".join(text(each.get("name")) for each in mappings(listed))
    support = [target.queues for use in uses if (target := target_of(use.target_name))]
    admitted = any(each is not None and each.admits for each in support)
    pod_owner = owner(review.manifest, review.pod_set)
    if names:
        yield Gate(SCHEDULING_GATE, UNKNOWN, f"{names} blocks the pods until somebody removes it")
    elif not admitted and is_gated_or_suspended(pod_owner, review.pod_set):
        detail = f"the {pod_owner.kind} is suspended: it makes no pods until somebody resumes it"
        yield Gate(SUSPENSION, UNKNOWN, detail)


def _claims(review: Review) -> Iterator[Gate]:
    """Which nodes have the devices of a claim is in no file."""
    names = [text(each.get("name")) for each in mappings(review.pod_set.spec.get("resourceClaims"))]
    if names:
        yield Gate("device claim", UNKNOWN, f"nothing here says which nodes can serve {', '.join(names)}")


def _memberships(review: Review) -> Iterator[Membership]:
    for target in TARGETS:
        read = target.read_membership
        found = read(review.manifest, review.pod_set, review.namespace) if read else None
        if found and not is_placeholder(found.membership.group):
            yield found.membership


def _queue_uses(review: Review, cluster: Cluster) -> Sequence[QueueUse]:
    """The queues that the pods of this template name."""
    manifest, pod_set = review.manifest, review.pod_set
    context = Context(cluster, "", review.namespace)
    read = (read_queue(manifest.data, pod_set, target.name) for target in TARGETS)
    paths = {found.path for found in read if found is not None}
    facts = queue_submissions.facts(manifest, _own_pod_sets(manifest), context)
    return [fact.value for fact in facts if fact.places.get("queue") in paths]


def _demands(review: Review) -> Iterator[Demand]:
    """Of one of its pods, and of the gangs of its object."""
    manifest, namespace = review.manifest, review.namespace
    yield demand_of_pod(manifest, review.pod_set, namespace)
    made = [each for each in _own_pod_sets(manifest) if not each.stored]
    yield from (fact.value for fact in demands_of_gangs(manifest, made, namespace))


def _own_pod_sets(manifest: Manifest) -> tuple[PodSet, ...]:
    return pod_sets(manifest.data)
