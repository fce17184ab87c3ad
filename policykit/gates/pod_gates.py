"""Every gate between a pod set and a running pod, besides the pools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from policykit.gates import queues
from policykit.gates.gang_room import shortages
from policykit.gates.gate import ACCEPTED, REFUSED, UNKNOWN, Gate, state_of
from policykit.gates.quotas import NamespaceLimits
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.kube.podsets.queues import read as read_queue
from policykit.kube.podsets.reading import pod_sets
from policykit.linter.rule import Context
from policykit.linter.scope import Scope
from policykit.manifests.document import Manifest
from policykit.model.declared_queues import QueueUse
from policykit.model.namespace_limits import Demand
from policykit.model.queue import DeclaredPriority
from policykit.namedtuple import NamedTuple
from policykit.placement import separation, topology_keys
from policykit.placement.capacity import gang_problem
from policykit.placement.review import Review
from policykit.targets import DEFAULT_SCHEDULER, DEFAULT_TARGET, TARGETS, submission_facts, target_name_of
from policykit.targets.controllers import decides_scheduler
from policykit.targets.namespace_facts import demand_of_pod, demands_of_gangs

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

_BUILT_IN_PRIORITIES = frozenset({"system-cluster-critical", "system-node-critical"})


class Answer(NamedTuple):
    """Everything that decides whether the pods of a template run."""

    path: str
    """The file, as reported."""
    review: Review
    gates: tuple[Gate, ...] = ()
    line: int = 0
    """In the file; 0: where the object stands that was read."""
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
        return state_of((pools_gate(self.review), *self.gates))


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
        self._queues = queues.Queues(scope, cluster)
        self._limits = NamespaceLimits(scope, cluster)
        self._priorities = {each.value.name for each in scope.of(DeclaredPriority)}
        self._priorities |= {each.name for each in cluster.priorities}

    def of(self, review: Review) -> tuple[Gate, ...]:
        """In the order in which pods meet them; a gate that does not concern the pods is left out."""
        if review.pod_set.stored or review.manifest.partial:
            return ()
        return (
            *self._scheduler(review),
            *self._priority(review),
            *self._namespace(review),
            *queues.gates(_queue_uses(review, self._cluster), self._queues),
            *self._gang(review),
            *self._topology(review),
        )

    def _scheduler(self, review: Review) -> Iterator[Gate]:
        name, listed = review.pod_set.scheduler_name, self._cluster.schedulers
        if is_placeholder(name) or review.pod_set.spec.get("nodeName"):
            return
        if decides_scheduler(review.manifest, name):
            return  # the controller of the object writes another one
        placed_by = name or DEFAULT_SCHEDULER
        if listed and placed_by not in listed:
            detail = f"{placed_by} is not a scheduler of the policy ({', '.join(sorted(listed))})"
            yield Gate("scheduler", REFUSED if name else UNKNOWN, detail)
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

    def _gang(self, review: Review) -> Iterator[Gate]:
        for short in shortages(review.manifest, self._cluster, review.namespace):
            if review.pod_set.name in short.gang.members:
                yield Gate("gang", REFUSED, short.message)
                return
        if problem := gang_problem(review):
            yield Gate("gang", REFUSED, problem)

    def _topology(self, review: Review) -> Iterator[Gate]:
        for each in topology_keys.uses(review.manifest, review.pod_set):
            if each.use in topology_keys.HOLDS and topology_keys.is_absent(self._cluster, each.key):
                yield Gate("topology", REFUSED, f"no pool has the label {each.key}, by which pods are placed")
        for apart in separation.separations(review):
            if apart.replicas > apart.domains:
                there = f"the pools have {apart.domains} {separation.what(apart.key)}"
                yield Gate(
                    "topology", UNKNOWN, f"anti-affinity keeps {apart.replicas} pods apart, but {there}"
                )


def _queue_uses(review: Review, cluster: Cluster) -> Sequence[QueueUse]:
    """The queues that the pods of this template name."""
    manifest, pod_set = review.manifest, review.pod_set
    context = Context(cluster, "", review.namespace)
    read = (read_queue(manifest.data, pod_set, target.name) for target in TARGETS)
    paths = {found.path for found in read if found is not None}
    facts = submission_facts.facts(manifest, _own_pod_sets(manifest), context)
    return [fact.value for fact in facts if fact.places.get("queue") in paths]


def _demands(review: Review) -> Iterator[Demand]:
    """Of one of its pods, and of the gangs of its object."""
    manifest, namespace = review.manifest, review.namespace
    yield demand_of_pod(manifest, review.pod_set, namespace)
    made = [each for each in _own_pod_sets(manifest) if not each.stored]
    yield from (fact.value for fact in demands_of_gangs(manifest, made, namespace))


def _own_pod_sets(manifest: Manifest) -> tuple[PodSet, ...]:
    return pod_sets(manifest.data)
