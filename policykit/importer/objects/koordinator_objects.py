"""Koordinator's objects: elastic quotas, reservations, classes of pods, and layers of the network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.catalogue.koordinator.bands import QOS, named
from policykit.importer.found import Found
from policykit.manifests.shape import mapping, mappings
from policykit.model.pool import Amounts
from policykit.model.queue import Queue
from policykit.model.tenant import Reservation, Tenant
from policykit.placement.recognition import WORKLOAD_KEY
from policykit.targets.koordinator.names import SYSTEM
from policykit.targets.koordinator.objects import colocation as profiles
from policykit.targets.koordinator.objects import policy_reservations, quotas, reservations, topology
from policykit.targets.koordinator.objects.quota_tree import plenty
from policykit.targets.koordinator.objects.quotas import ElasticQuota
from policykit.targets.koordinator.objects.reservations import Owner
from policykit.targets.koordinator.objects.resources import stated
from policykit.targets.koordinator.scheduler.chart import NAMESPACE

_LEVELS = frozenset({"zone", "domain", "rack", "switch", "nvlink"})
_MOST_WEIGHT = 65535


def elastic_quota(data: Mapping[str, Any], found: Found) -> None:
    """An ElasticQuota as a queue: max limits; min is lent when unused, unless the quota says no."""
    found.target(SYSTEM)
    quota = quotas.read(data)
    if quota.name in ("", *quotas.BUILT_IN):
        return
    if quota.tree:
        found.say(f"ElasticQuota {quota.name} is of tree {quota.tree}: a policy has one tree of queues")
    parent = quota.parent if quota.parent not in quotas.BUILT_IN else ""
    queue = Queue(quota.name, parent, _weight(quota, found), *_amounts(quota))
    if found.elastic.setdefault(quota.name, queue) != queue:
        found.say(
            f"ElasticQuota {quota.name} is given more than once, in different words; the first is taken"
        )
    if quota.stated is not None:
        # Ours stand where Koordinator does.
        found.target(SYSTEM, namespace=quota.namespace if quota.namespace != NAMESPACE else "")
        found.stated.add(quota.name)
    others = tuple(n for n in quota.namespaces if not any(n in of for of in quota.tenants.values()))
    for name, namespaces in (*quota.tenants.items(), *(((quota.name, others),) if others else ())):
        found.add_tenant(Tenant(name, namespaces, quota.name))


def settle(found: Found) -> None:
    """Adds the queues of ElasticQuotas, after those of systems that say more of a queue; names tenants
    where classes of pods list all their namespaces."""
    for name, queue in found.elastic.items():
        there = found.queues.get(name)
        if there is None or name in found.lesser:
            found.add_queue(queue)
        elif name in found.stated:
            found.queues[name] = _as_stated(there, queue)
        elif there.limit != queue.limit:
            found.add_queue(queue)
    for says in mapping(mapping(found.targets.get(SYSTEM, {}).get("colocation")).get("workloads")).values():
        _name_tenants(says, found)


def _as_stated(there: Queue, elastic: Queue) -> Queue:
    """A queue without what its system only derives: due for a guarantee, limits of what stands above."""
    deserved = {r: amount for r, amount in there.deserved.items() if r in elastic.deserved}
    return there._replace(deserved=deserved)


def _name_tenants(says: dict[str, Any], found: Found) -> None:
    listed = says.pop("namespaces", [])
    tenants = [
        each for each in found.tenants.values() if each.namespaces and set(each.namespaces) <= set(listed)
    ]
    if tenants:
        says["tenants"] = [tenant.name for tenant in tenants]
    theirs = {namespace for tenant in tenants for namespace in tenant.namespaces}
    if others := [namespace for namespace in listed if namespace not in theirs]:
        says["namespaces"] = others


def _amounts(quota: ElasticQuota) -> tuple[Amounts, Amounts, Amounts]:
    """Guarantee, deserved and limit: what the quota's queue stated, else all that it says."""
    if quota.stated is not None:
        deserved = stated(quota.minimum, quota.stated.deserved)
        kept_alone = [name for name in quota.stated.guarantee if name not in deserved]
        guarantee = stated(quota.minimum, kept_alone if quota.lends else quota.stated.guarantee)
        return guarantee, deserved, stated(quota.maximum, quota.stated.limit)
    limit = {r: amount for r, amount in quota.maximum.items() if amount < plenty(r)}
    return ({}, quota.minimum, limit) if quota.lends else (quota.minimum, {}, limit)


def _weight(quota: ElasticQuota, found: Found) -> int:
    """The number that every resource is shared by; 1 where there is no such."""
    shared = {
        amount / 1000 if resource == "cpu" else amount for resource, amount in (quota.weight or {}).items()
    }
    if not shared:
        return 1
    weight = shared.pop()
    if shared or weight != int(weight) or not 1 <= weight <= _MOST_WEIGHT:
        found.say(
            f"ElasticQuota {quota.name} has a shared-weight of its own for each resource, which a policy "
            "cannot say; left out"
        )
        return 1
    return int(weight)


def reservation(data: Mapping[str, Any], found: Found) -> None:
    """A Reservation: one of ours with its pool and the others like it, else as far as a policy can say."""
    found.target(SYSTEM)
    read = reservations.read(data)
    owners = mappings(mapping(data.get("spec")).get("owners"))
    if not read.name or not read.requests:
        return
    if any(reservations.write_owner(owner) != raw for owner, raw in zip(read.owners, owners, strict=True)):
        found.say(f"Reservation {read.name} is for pods that a policy cannot tell; left out")
        return
    workloads = {owner.labels.get(WORKLOAD_KEY, "") for owner in read.owners}
    if len(workloads) != 1 or any(not _plain(owner) for owner in read.owners):
        found.say(f"Reservation {read.name} is for pods that a policy cannot tell; left out")
        return
    pool, pods = (
        read.annotations.get(policy_reservations.POOL, ""),
        read.annotations.get(policy_reservations.PODS, ""),
    )
    if read.required and policy_reservations.OF not in read.annotations:
        found.say(f"Reservation {read.name} is kept on nodes of some labels: name the pool they are of")
    found.add_reservation(
        Reservation(
            read.annotations.get(policy_reservations.OF, read.name),
            read.requests,
            int(pods) if pods.isdecimal() and pods.isascii() and len(pods) < 6 else 1,
            _tenant(read.annotations.get(policy_reservations.TENANT, ""), read.owners, found),
            workloads.pop(),
            pool,
            read.ttl,
        )
    )


def _plain(owner: Owner) -> bool:
    """Whether it says no more than namespace and workload kind."""
    return not owner.pod and owner.labels.keys() <= {WORKLOAD_KEY}


def _tenant(name: str, owners: tuple[Owner, ...], found: Found) -> str:
    """The tenant of the owners' namespaces: as the object says, one that is known, or a new one."""
    namespaces = tuple(owner.namespace for owner in owners if owner.namespace)
    if name or not namespaces:
        if name:
            found.add_tenant(Tenant(name, namespaces))
        return name
    for tenant in found.tenants.values():
        if set(namespaces) <= set(tenant.namespaces):
            return tenant.name
    found.add_tenant(Tenant(namespaces[0], namespaces))
    return namespaces[0]


def colocation(data: Mapping[str, Any], found: Found) -> None:
    """A ClusterColocationProfile for the pods of one workload kind."""
    found.target(SYSTEM)
    profile = profiles.read(data)
    kind, band = profile.labels.get(WORKLOAD_KEY, ""), named(profile.priority_class)
    fitting = QOS[band.name] if band else ()
    if not kind or len(profile.labels) > 1 or profile.unread or band is None or profile.qos not in fitting:
        found.say(
            f"ClusterColocationProfile {profile.name} is not for the pods of one workload kind with one of "
            "Koordinator's PriorityClasses, and a policy knows no others; it stays yours"
        )
        return
    says: dict[str, Any] = {"priority": band.name}
    if profile.qos != fitting[0]:
        says["qos"] = profile.qos
    if profile.priority is not None:
        says["order"] = profile.priority
    if profile.namespaces:
        says["namespaces"] = list(profile.namespaces)
    there = mapping(found.targets[SYSTEM].get("colocation"))
    workloads = {**mapping(there.get("workloads"))}
    workloads.setdefault(kind, says)
    found.targets[SYSTEM]["colocation"] = {**there, "workloads": workloads}


def network_topology(data: Mapping[str, Any], found: Found) -> None:
    """A ClusterNetworkTopology: the node labels of the levels that a policy knows."""
    found.target(SYSTEM)
    for layer in topology.read(data):
        if layer.name in _LEVELS and layer.keys:
            found.add_level(layer.name, layer.keys[0])
        elif layer.name != topology.NODES:
            found.say(
                f"layer {layer.name} of the network: a policy's levels are zone, domain, rack, switch, nvlink"
            )
