"""Whether the queue that pods name and the quotas of their namespace admit them, or a whole gang."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from policykit.gates import ACCEPTED, REFUSED, UNKNOWN, Gate
from policykit.kube.placeholders import is_placeholder
from policykit.linter.scope import Scope
from policykit.model.declared_queues import DeclaredQueue, QueueUse
from policykit.model.pool import Amounts
from policykit.model.quantity import amount_text
from policykit.model.queue import DeclaredQuota, DeclaredRange, Demand
from policykit.namedtuple import NamedTuple
from policykit.targets.facts import queue_trees
from policykit.targets.facts.queue_trees import CLOSED, FOUND, HOLDS, NOWHERE, Destination, Directory

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

_GATE = "queue"


class Limit(NamedTuple):
    """The most that a queue may use."""

    queue: str
    amounts: Amounts


class UncoveredResource(NamedTuple):
    """A resource that a queue does not serve."""

    queue: str
    resource: str


class QueueExcess(NamedTuple):
    """A request above the limit of a queue."""

    use: QueueUse
    limit: Limit
    resource: str

    @property
    def message(self) -> str:
        alone = f"PodGroup {self.use.group}" if self.use.group else "one pod"
        gang = "the workload" if self.use.whole else "the gang"
        pods = f"{gang} of {self.use.gang} pods" if (self.use.gang or 0) > 1 else alone
        asked = amount_text(self.resource, self.use.request[self.resource])
        allowed = amount_text(self.resource, self.limit.amounts[self.resource])
        return (
            f"{pods} requests {asked} {self.resource}, but queue {self.limit.queue} may use at most {allowed}"
        )


class Queues:
    """The queues of a scope and of the policy, with the trees that declare them."""

    def __init__(self, scope: Scope, cluster: Cluster | None) -> None:
        self._scope = scope
        self._cluster = cluster
        self._directories: dict[str, Directory] = {}
        self._trees: dict[str, queue_trees.Tree | None] | None = None
        """Of each target the tree that documents declare; None: there are several."""

    def directory(self, target_name: str) -> Directory:
        found = self._directories.get(target_name)
        if found is None:
            found = queue_trees.directory(target_name, self._scope, self._cluster)
            self._directories[target_name] = found
        return found

    def destination(self, use: QueueUse) -> Destination | None:
        """None: nothing is known about the queue."""
        return queue_trees.destination(use, self.directory(use.target_name))

    def may_hold(self, name: str) -> bool:
        """Whether a document that cannot be interpreted may define a queue."""
        # A file of queues names each level by itself.
        last = name.rpartition("/")[2]
        return any(map(self._scope.may_hold, (name, last, last.rpartition(".")[2])))

    def limits(self, use: QueueUse) -> tuple[Limit, ...]:
        """Every limit from the queue up that is known; none if it does not take the pods."""
        found = self.destination(use)
        if found is None or found.verdict != FOUND:
            return ()
        declared = self._declared(found.queue, use.target_name)
        return (*declared, *self._planned(found.queue, use.target_name))

    def excess(self, use: QueueUse) -> QueueExcess | None:
        """The first resource that exceeds some limit, cards first."""
        limits = self.limits(use)
        for resource in sorted(use.request, key=lambda name: ("/" not in name, name)):
            for limit in limits:
                allowed = limit.amounts.get(resource)
                if allowed is not None and use.request[resource] > allowed:
                    return QueueExcess(use, limit, resource)
        return None

    def uncovered(self, use: QueueUse) -> UncoveredResource | None:
        """The first resource that the queue, or one above it, takes no pods for."""
        found = self.destination(use)
        if found is None or found.verdict != FOUND:
            return None
        asked = sorted(name for name, amount in use.request.items() if amount > 0)
        for queue in self._above(found.queue, use.target_name):
            for name in asked if queue.serves and not any(map(is_placeholder, queue.serves)) else ():
                if name not in queue.serves:
                    return UncoveredResource(f"{queue.noun} {queue.name}".strip(), name)
        return None

    def _declared(self, queue: str, target_name: str) -> Iterator[Limit]:
        """Limits of queues that documents declare."""
        for one in self._above(queue, target_name):
            if one.measured:
                yield Limit(one.name, one.limit)

    def _above(self, queue: str, target_name: str) -> Iterator[DeclaredQueue]:
        """A queue that documents declare, and those above; none if two do, or if they are of two clusters."""
        if self._trees is None:
            self._trees = {}
            for each in queue_trees.trees(self._scope, self._cluster, configurations=True):
                self._trees[each.target_name] = None if each.target_name in self._trees else each
        tree = self._trees.get(target_name)
        there = tree.named(queue) if tree else ()
        if tree and len(there) == 1 and not there[0].partial:
            yield from (one.value for one in (there[0], *tree.above(there[0])) if not one.partial)

    def _planned(self, queue: str, target_name: str) -> Iterator[Limit]:
        """Limits of the policy's queues, under the system's own names."""
        planned = queue_trees.policy_queues(target_name, self._cluster)
        if self._cluster is None or queue not in planned.queues:
            return
        queues = {each.name: each for each in self._cluster.queues}
        name, seen = planned.policy_names.get(queue, queue), set[str]()
        while name in queues and name not in seen:
            seen.add(name)
            yield Limit(name, queues[name].limit)
            name = queues[name].parent


def gates(uses: Sequence[QueueUse], queues: Queues) -> Iterator[Gate]:
    """One for each queue that the pods name."""
    for use in uses:
        if not is_placeholder(use.queue):
            yield _gate(use, queues)


def _gate(use: QueueUse, queues: Queues) -> Gate:
    known, found = queues.directory(use.target_name), queues.destination(use)
    semantics = known.semantics
    name = f"{semantics.noun} {found.queue if found else use.queue}"
    if found is None or found.verdict not in (FOUND, HOLDS, CLOSED, NOWHERE):
        return Gate(_GATE, UNKNOWN, f"the files do not say where {name} puts the pods")
    if found.verdict == NOWHERE:
        # Where neither the policy nor a likely name says so, another repository may define the queue.
        certain = known.policy.queues or queue_trees.is_misspelt(use, found, known)
        if certain and known.proves_absence and not queues.may_hold(found.queue):
            return Gate(_GATE, REFUSED, f"{name} does not exist: {semantics.unknown_fault}")
        return Gate(_GATE, UNKNOWN, f"no file here defines {name}")
    if found.verdict == HOLDS:
        return Gate(_GATE, REFUSED, f"{name} has child queues: {semantics.submit_fault}")
    if found.verdict == CLOSED:
        return Gate(_GATE, REFUSED, f"{name} is closed: {semantics.closed_fault}")
    if uncovered := queues.uncovered(use):
        return Gate(
            _GATE, REFUSED, f"{uncovered.queue} does not cover {uncovered.resource}, which the pods request"
        )
    excess = queues.excess(use)
    return Gate(_GATE, REFUSED, excess.message) if excess else Gate(_GATE, ACCEPTED, name)


_COMPUTE = frozenset({"requests.cpu", "requests.memory", "limits.cpu", "limits.memory"})
"""What every pod must state where a quota counts it."""
_PODS = "pods"


class QuotaExcess(NamedTuple):
    """An amount above what a namespace allows."""

    quota: str
    """Name of the ResourceQuota or LimitRange."""
    key: str
    """Of the quota; of a LimitRange the resource."""
    asked: int
    allowed: int
    container: bool = False
    """The amounts are those of one container."""
    default: bool = False
    """What is allowed is the limit that the container gets."""
    below: bool = False
    """The container, or the pod, must ask for more, not for less."""
    whole: bool = False
    """What a LimitRange says of the whole pod."""

    @property
    def of_range(self) -> bool:
        """A LimitRange refuses it."""
        return self.container or self.whole

    @property
    def message(self) -> str:
        """What is asked for and what is allowed, as a predicate of the pods."""
        resource = self.key.removeprefix("requests.").removeprefix("limits.")
        asked, allowed = amount_text(resource, self.asked), amount_text(resource, self.allowed)
        if self.key == _PODS:
            return f"has {asked} pods, but ResourceQuota {self.quota} of the namespace allows {allowed}"
        if self.default:
            of = f"LimitRange {self.quota} of the namespace makes {allowed} its limit"
            return f"requests {asked} {resource} in a container without a limit, but {of}"
        if self.of_range:
            bound = "demands at least" if self.below else "allows at most"
            of = f"LimitRange {self.quota} of the namespace {bound} {allowed}"
            where = " in one container" if self.container else ""
            return f"asks for {asked} {resource}{where}, but {of}{'' if where else ' of a pod'}"
        side = "has limits of" if self.key.startswith("limits.") else "requests"
        return f"{side} {asked} {resource}, but ResourceQuota {self.quota} of the namespace allows {allowed}"


class NamespaceLimits:
    """The ResourceQuotas and LimitRanges of a scope and of the policy, by namespace.

    Quotas with the same name in a namespace are alternatives. Most pods are within all amounts: they are
    compared with the least amounts of their namespace, not with each quota.
    """

    def __init__(self, scope: Scope, cluster: Cluster | None) -> None:
        self._quotas: dict[str, list[DeclaredQuota]] = {}
        self._ranges: dict[str, list[DeclaredRange]] = {}
        for quota in _declared(scope, cluster):
            self._quotas.setdefault(quota.namespace, []).append(quota)
        for each in scope.of(DeclaredRange):
            if not each.partial:
                self._ranges.setdefault(each.value.namespace, []).append(each.value)
        self._allowed = {place: _allowed(quotas) for place, quotas in self._quotas.items()}
        self._least = {place: _least(allowed.values()) for place, allowed in self._allowed.items()}
        self._compared = {
            place: tuple((key, *key.partition(".")[::2], allowed) for key, allowed in least.items())
            for place, least in self._least.items()
        }
        """(key, pods or the side of a container's resources, resource, what is allowed)"""
        ranges_of = self._ranges.items()
        self._largest = {place: _least(each.maximum for each in ranges) for place, ranges in ranges_of}
        self._minimum = {place: _most(each.minimum for each in ranges) for place, ranges in ranges_of}
        self._limits = {place: _most(each.limits for each in ranges) for place, ranges in ranges_of}
        self._of_pods = {
            place: (_least(each.pod_maximum for each in ranges), _most(each.pod_minimum for each in ranges))
            for place, ranges in ranges_of
            if any(each.pod_maximum or each.pod_minimum for each in ranges)
        }
        self._given = {
            place: frozenset[str]().union(*(each.defaults for each in ranges)) for place, ranges in ranges_of
        }

    def __bool__(self) -> bool:
        return bool(self._quotas or self._ranges)

    def quota_excess(self, demand: Demand) -> QuotaExcess | None:
        """The first key, cards first, of which a quota of the namespace allows less; None: all is allowed."""
        of_side = {"limits": demand.limits, _PODS: {"": demand.pods}}
        above = {
            key: asked
            for key, side, resource, allowed in self._compared.get(demand.namespace, ())
            if (asked := of_side.get(side, demand.request).get(resource, 0)) > allowed
        }
        for quota in self._quotas[demand.namespace] if above else ():
            for key in sorted(above.keys() & quota.hard.keys(), key=_cards_first):
                allowed = self._allowed[demand.namespace][quota.name][key]
                if above[key] > allowed and _counts(quota, demand):
                    return QuotaExcess(quota.name, key, above[key], allowed)
        return None

    def unstated(self, demand: Demand) -> tuple[str, str]:
        """(quota, key) of an amount that a pod must state and does not; empty: there is none.

        Source: `podEvaluator.Constraints` in kubernetes `pkg/quota/v1/evaluator/core/pods.go` (v1.36).
        """
        counted = _COMPUTE & self._least.get(demand.namespace, {}).keys()
        lacking = counted - demand.stated - self._given.get(demand.namespace, frozenset())
        for quota in self._quotas[demand.namespace] if lacking else ():
            for key in sorted(lacking & quota.hard.keys()) if _counts(quota, demand) else ():
                return quota.name, key
        return "", ""

    def given(self, demand: Demand) -> tuple[str, Amounts]:
        """(LimitRange, what the pod asks for with it), where it gives containers requests; empty: nothing.

        Of several LimitRanges it is not known which one is asked first.
        """
        ranges = self._ranges.get(demand.namespace, ())
        if len(ranges) != 1 or demand.pods != 1:
            return "", {}
        given: dict[str, int] = {}
        for name, amount in ranges[0].requests.items():
            stated = [requests.get(name, limits.get(name)) for limits, requests in demand.containers]
            if None in stated:
                total = sum(amount if each is None else each for each in stated)
                # An init container, or the pod itself, may ask for more than all of them.
                given[name] = max(total, demand.request.get(name, 0))
        return (ranges[0].name, {**demand.request, **given}) if given else ("", {})

    def range_excess(self, demand: Demand) -> QuotaExcess | None:
        """The first resource of which a container asks for more than a LimitRange allows, or for less.

        A container that states no limit gets that of the LimitRange. A request above it is refused, as above
        any other limit; one that states no request gets enough of it. Source: `mergeContainerResources` and
        `minConstraint` in kubernetes `plugin/pkg/admission/limitranger` (v1.36).
        """
        ranges = self._ranges.get(demand.namespace, ())
        if demand.pods == 1 and demand.namespace in self._of_pods and (found := self._whole_excess(demand)):
            return found
        for container in demand.containers if ranges else ():
            asked = _most(container)
            above = {key for key, most in self._largest[demand.namespace].items() if asked.get(key, 0) > most}
            for each in ranges if above else ():
                for key in sorted(above & each.maximum.keys()):
                    if asked[key] > each.maximum[key]:
                        return QuotaExcess(each.name, key, asked[key], each.maximum[key], container=True)
            limits, requests = container
            given = self._limits[demand.namespace]
            above = {key for key in given.keys() - limits.keys() if requests.get(key, 0) > given[key]}
            for each in ranges if above else ():
                for key in sorted(above & each.limits.keys()):
                    return QuotaExcess(each.name, key, requests[key], each.limits[key], True, True)
            for key, least in self._minimum[demand.namespace].items():
                stated = [amounts[key] for amounts in container if key in amounts]
                if stated and min(stated) < least:
                    name = next(each.name for each in ranges if each.minimum.get(key) == least)
                    return QuotaExcess(name, key, min(stated), least, container=True, below=True)
        return None

    def _whole_excess(self, demand: Demand) -> QuotaExcess | None:
        """Of type Pod. What containers get by default only adds to what they ask for."""
        maximum, minimum = self._of_pods[demand.namespace]
        ranges = self._ranges[demand.namespace]
        for key, most in maximum.items():
            asked = max(demand.request.get(key, 0), demand.limits.get(key, 0))
            if asked > most:
                name = next(each.name for each in ranges if each.pod_maximum.get(key) == most)
                return QuotaExcess(name, key, asked, most, whole=True)
        for key, least in minimum.items():
            asked = demand.request.get(key, 0)
            if f"requests.{key}" in demand.stated and 0 < asked < least:
                name = next(each.name for each in ranges if each.pod_minimum.get(key) == least)
                return QuotaExcess(name, key, asked, least, below=True, whole=True)
        return None


def _declared(scope: Scope, cluster: Cluster | None) -> Iterator[DeclaredQuota]:
    found = [each.value for each in scope.of(DeclaredQuota) if not each.partial]
    yield from found
    named = {(each.namespace, each.name) for each in found}
    for quota in cluster.quotas if cluster else ():
        if (quota.namespace, quota.name) not in named:
            hard = {f"requests.{name}": amount for name, amount in quota.requests.items()}
            hard |= {f"limits.{name}": amount for name, amount in quota.limits.items() if "/" not in name}
            hard |= {_PODS: quota.pods} if quota.pods is not None else {}
            yield DeclaredQuota(quota.namespace, quota.name, hard, quota.priorities)


def _allowed(quotas: Iterable[DeclaredQuota]) -> dict[str, dict[str, int]]:
    """Name of a quota to its amounts: the largest of the quotas with this name."""
    found: dict[str, dict[str, int]] = {}
    for quota in quotas:
        amounts = found.setdefault(quota.name, {})
        for key, allowed in quota.hard.items():
            amounts[key] = max(allowed, amounts.get(key, allowed))
    return found


def _least(limits: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Of all quotas or limit ranges of a namespace, whichever pods they count."""
    found: dict[str, int] = {}
    for amounts in limits:
        for key, allowed in amounts.items():
            found[key] = min(allowed, found.get(key, allowed))
    return found


def _most(amounts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """The largest amount of each."""
    found: dict[str, int] = {}
    for each in amounts:
        for name, amount in each.items():
            found[name] = max(amount, found.get(name, 0))
    return found


def _cards_first(key: str) -> tuple[bool, str]:
    return "/" not in key, key


def _counts(quota: DeclaredQuota, demand: Demand) -> bool:
    return not quota.priorities or demand.priority_class in quota.priorities
