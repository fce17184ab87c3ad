"""Reads Kueue's objects back: queues from ClusterQueues and Cohorts, tenants from LocalQueues, priorities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from policykit.linter.import_reader import ImportReader, WorkloadComponent
from policykit.manifests.document import Manifest
from policykit.manifests.shape import mapping, text
from policykit.model.inventory import Inventory, LevelBound
from policykit.model.queue import PoolAffinity, Preemption, Priority, Queue, Tenant
from policykit.model.topology import LEVELS
from policykit.targets.kueue.generate import NAMESPACE
from policykit.targets.kueue.names import (
    GROUP,
    HOSTNAME,
    PREFERRED_TOPOLOGY,
    QUEUE_NAME,
    REQUIRED_TOPOLOGY,
    TARGET_NAME,
)
from policykit.targets.kueue.objects import READERS, Object
from policykit.targets.kueue.objects.queues import ClusterQueue, Cohort, LocalQueue
from policykit.targets.kueue.objects.resource_flavors import Quota, StatedResources, Topology
from policykit.targets.kueue.options import ROOT_COHORT

_IMAGE = "kueue"
_NEVER = ("", "Never")
_STOP = frozenset({"Borrow", "Preempt", "MayStopSearch"})


class KueueReader(ImportReader):
    """Reads Kueue's objects. Queues are added once all objects are read."""

    target_name = TARGET_NAME
    namespace = NAMESPACE

    def __init__(self, inventory: Inventory) -> None:
        super().__init__(inventory)
        self.objects: list[Object] = []

    def read_object(self, manifest: Manifest, path: str) -> bool:
        if manifest.kind == "Deployment":
            return self.read_image(manifest, _IMAGE)
        if manifest.group != GROUP or manifest.kind not in READERS:
            return False
        self.add_target()
        found = READERS[manifest.kind](manifest.data)
        if isinstance(found, LocalQueue):
            _local_queue(found, self.inventory)
        elif isinstance(found, Topology):
            _topology(found, self.inventory)
        else:
            self.objects.append(found)
        return True

    def finish(self) -> None:
        """Adds queues and priorities that no other target's objects define, and Kueue's options."""
        queues = {each.name: each for each in self.objects if isinstance(each, ClusterQueue)}
        cohorts = {each.name: each for each in self.objects if isinstance(each, Cohort)}
        for name in [each.cohort for each in queues.values()] + [each.parent for each in cohorts.values()]:
            if name:
                cohorts.setdefault(name, Cohort(name))
        for each in self.objects:
            if isinstance(each, Priority) and each.name not in self.inventory.priorities:
                self.inventory.add_priority(each)
        for queue in _policy_queues(queues, cohorts, self.inventory):
            if queue.name not in self.inventory.queues:
                self.inventory.add_queue(queue)
        _options(list(queues.values()), self.inventory)

    @classmethod
    def component_queue(cls, component: WorkloadComponent) -> str:
        return text(mapping(component.owner.get("labels")).get(QUEUE_NAME))

    @classmethod
    def component_level(cls, component: WorkloadComponent) -> LevelBound | None:
        annotations = mapping(component.pods.get("annotations"))
        for key, hard in ((REQUIRED_TOPOLOGY, True), (PREFERRED_TOPOLOGY, False)):
            if level := text(annotations.get(key)):
                return LevelBound(hard, level)
        return None


def _local_queue(found: LocalQueue, inventory: Inventory) -> None:
    """Namespaces with the same queue form a tenant named after it, unless the object names another."""
    if found.tenant != "" and found.namespace and found.cluster_queue:
        name = found.tenant or found.cluster_queue
        inventory.add_tenant(Tenant(name, (found.namespace,), found.cluster_queue))


def _topology(found: Topology, inventory: Inventory) -> None:
    for key in found.levels if not inventory.levels_complete else ():
        level = key.rpartition("/")[2].removesuffix("-domain").removeprefix("network-")
        if level in LEVELS:
            inventory.add_level(level, key)
        elif key != HOSTNAME:
            inventory.add_remark(
                f"Topology {found.name}: level {key} is not one of {', '.join(LEVELS)}; left out"
            )


def _policy_queues(
    queues: Mapping[str, ClusterQueue], cohorts: Mapping[str, Cohort], inventory: Inventory
) -> Iterator[Queue]:
    tops = [cohort.name for cohort in cohorts.values() if not cohort.parent]
    root = tops[0] if len(tops) == 1 else ""
    if root and root != ROOT_COHORT:
        inventory.option(TARGET_NAME, "rootCohort", root)
    if len(tops) > 1:
        inventory.add_remark(
            f"Cohorts {', '.join(tops)} share no quota: the policy's queues without a parent share one root"
        )
    totals = _totals(queues, cohorts)
    every: list[ClusterQueue | Cohort] = [*queues.values(), *cohorts.values()]
    flavors = {name for each in every for name in _flavors(each)}
    for cohort in cohorts.values():
        if cohort.name != root:
            parent = "" if cohort.parent == root else cohort.parent
            amounts = _amounts(cohort, totals[cohort.name])
            pools = _pools(cohort, _inherited(cohort.parent, cohorts) or flavors)
            yield Queue(cohort.name, parent, cohort.weight or 1, *amounts, pools=pools)
    for queue in queues.values():
        if queue.name in cohorts and queue.cohort == queue.name:
            continue  # one queue of the policy, with workloads of its own and children
        parent = "" if queue.cohort == root else queue.cohort
        guarantee, deserved, limit = _amounts(queue, totals[queue.name])
        if not queue.cohort:
            inventory.add_remark(
                f"ClusterQueue {queue.name} is in no cohort: its quota is imported as its limit"
            )
            limit = dict(deserved or guarantee)
        pools = _pools(queue, _inherited(queue.cohort, cohorts) or flavors)
        yield Queue(queue.name, parent, queue.weight or 1, guarantee, deserved, limit, pools=pools)


def _quotas(each: ClusterQueue | Cohort) -> Iterator[tuple[str, str, Quota]]:
    """(flavor, resource, quota)."""
    for group in each.groups:
        for flavor, quotas in group.flavors.items():
            yield from ((flavor, resource, quota) for resource, quota in quotas.items())


def _flavors(each: ClusterQueue | Cohort) -> Iterator[str]:
    for group in each.groups:
        yield from group.flavors


def _totals(
    queues: Mapping[str, ClusterQueue], cohorts: Mapping[str, Cohort]
) -> dict[str, dict[tuple[str, str], int]]:
    """Name to (flavor, resource) to the quota of the queue and all below it."""
    found: dict[str, dict[tuple[str, str], int]] = {}
    for cohort in cohorts.values():
        found[cohort.name] = {(flavor, name): quota.nominal for flavor, name, quota in _quotas(cohort)}
    own = {name: dict(amounts) for name, amounts in found.items()}
    for cohort in cohorts.values():
        for above in _above(cohort.parent, cohorts):
            _add(found[above], own[cohort.name])
    for queue in queues.values():
        amounts = {(flavor, name): quota.nominal for flavor, name, quota in _quotas(queue)}
        for above in _above(queue.cohort, cohorts):
            _add(found[above], amounts)
        if queue.name not in cohorts:
            found[queue.name] = amounts
    return found


def _above(name: str, cohorts: Mapping[str, Cohort]) -> Iterator[str]:
    seen: set[str] = set()
    while name and name not in seen:
        seen.add(name)
        yield name
        name = cohorts[name].parent


def _add(total: dict[tuple[str, str], int], more: Mapping[tuple[str, str], int]) -> None:
    for key, amount in more.items():
        total[key] = total.get(key, 0) + amount


def _amounts(
    each: ClusterQueue | Cohort, totals: Mapping[tuple[str, str], int]
) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    """guarantee, deserved and limit. Quotas of flavors are added; the largest limit counts."""
    guarantee: dict[str, int] = {}
    deserved: dict[str, int] = {}
    limit: dict[str, int] = {}
    for flavor, resource, quota in _quotas(each):
        total = totals.get((flavor, resource), 0)
        kept = total - quota.lending_limit if quota.lending_limit is not None else 0
        _add_amount(guarantee, resource, kept)
        _add_amount(deserved, resource, total)
        if quota.borrowing_limit is not None:
            limit[resource] = max(limit.get(resource, 0), total + quota.borrowing_limit)
    stated = each.stated or _evident(guarantee, deserved, limit)
    found = zip((guarantee, deserved, limit), stated, strict=True)
    kept_amounts, due, most = ({name: all_of.get(name, 0) for name in names} for all_of, names in found)
    return kept_amounts, due, most


def _add_amount(amounts: dict[str, int], resource: str, amount: int) -> None:
    if amount > 0:
        amounts[resource] = amounts.get(resource, 0) + amount


def _evident(
    guarantee: Mapping[str, int], deserved: Mapping[str, int], limit: Mapping[str, int]
) -> StatedResources:
    """Resources to state for other objects: what is fully guaranteed is not deserved as well."""
    due = tuple(name for name, amount in deserved.items() if amount != guarantee.get(name))
    return StatedResources(tuple(guarantee), due, tuple(limit))


def _inherited(name: str, cohorts: Mapping[str, Cohort]) -> set[str]:
    """Flavors of the nearest Cohort that lists any."""
    found = (set(_flavors(cohorts[above])) for above in _above(name, cohorts))
    return next((flavors for flavors in found if flavors), set())


def _pools(each: ClusterQueue | Cohort, flavors: set[str]) -> PoolAffinity | None:
    """Pools of its flavors, unless it has all. A generated flavor has the name of its pool."""
    named = tuple(dict.fromkeys(_flavors(each)))
    return PoolAffinity(named) if named and len(named) < len(flavors) else None


def _options(queues: Iterable[ClusterQueue], inventory: Inventory) -> None:
    """Options for all queues, each from the first queue that sets it."""
    for queue in queues:
        preemption, there = queue.preemption, inventory.preemption
        within = True if preemption.within_queue not in _NEVER else None
        reclaim = True if preemption.reclaim not in _NEVER else None
        inventory.preemption = Preemption(
            within if there.within_queue is None else there.within_queue,
            reclaim if there.reclaim is None else there.reclaim,
        )
        if preemption.borrow not in _NEVER:
            threshold = preemption.borrow_threshold
            threshold_data = {} if threshold is None else {"maxPriorityThreshold": threshold}
            inventory.option(TARGET_NAME, "borrowWithinCohort", threshold_data)
        if queue.strategy == "StrictFIFO":
            inventory.option(TARGET_NAME, "queueingStrategy", queue.strategy)
        if queue.weight is not None:
            inventory.option(TARGET_NAME, "fairSharing", True)
        if any(queue.fungibility):
            fields = zip(("whenCanBorrow", "whenCanPreempt", "preference"), queue.fungibility, strict=True)
            data = {key: "MayStopSearch" if value in _STOP else value for key, value in fields if value}
            inventory.option(TARGET_NAME, "flavorFungibility", data)
