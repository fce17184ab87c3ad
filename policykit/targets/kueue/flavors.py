"""ResourceFlavors and Topologies for the policy's pools, and the amounts of each flavor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from policykit.model.cluster import Cluster
from policykit.model.pool import Pool, Toleration
from policykit.model.release import Version
from policykit.namedtuple import NamedTuple
from policykit.targets.kueue import versions
from policykit.targets.kueue.names import HOSTNAME
from policykit.targets.kueue.objects.resource_flavors import ResourceFlavor, Topology
from policykit.targets.pool_capacity import card_resources, offered_resources, total_capacity


class PoolFlavor(NamedTuple):
    """A flavor and the pools that it selects."""

    flavor: ResourceFlavor
    pools: tuple[Pool, ...]


class Flavors(NamedTuple):
    """Flavors of all pools, in the policy's order."""

    flavors: tuple[PoolFlavor, ...]
    topologies: tuple[Topology, ...] = ()
    notices: tuple[str, ...] = ()


def pool_flavors(cluster: Cluster, version: Version) -> Flavors:
    """A flavor for each pool; pools that Kueue cannot tell apart by their labels share one."""
    levels, unwritten = _levels(cluster, version)
    groups: dict[tuple[tuple[str, str], ...], list[Pool]] = {}
    for pool in cluster.pools:
        groups.setdefault(tuple(sorted(labels(cluster, pool).items())), []).append(pool)
    found: list[PoolFlavor] = []
    topologies: dict[str, Topology] = {}
    former: list[str] = []
    for selector, pools in groups.items():
        topology = (
            _topology(pools, levels, stated=_topology_is_stated(cluster)) if levels and selector else None
        )
        if topology:
            topologies[topology.name] = topology
        renamed = [key for key, value in selector if cluster.formerly.former_values(key, value)]
        written = {key: value for key, value in selector if topology or key not in renamed}
        found.append(PoolFlavor(_flavor(cluster, written, pools, topology), tuple(pools)))
        former += _of_former_values(found[-1].flavor, renamed) if renamed else ()
    alike = _indistinct(zip(groups, found, strict=True))
    notices = (*unwritten, *alike, *former, *(_without_topology(cluster) if topologies else ()))
    return Flavors(tuple(found), tuple(topologies[name] for name in sorted(topologies)), notices)


def labels(cluster: Cluster, pool: Pool) -> dict[str, str]:
    """Labels that select the pool's nodes: its own, and the product of its card.

    Other labels of discovery (counts, memory, driver) are left out.
    """
    card = cluster.card_of(pool)
    product = card.product_key if card else ""
    return {key: value for key, value in pool.labels.items() if key == product or key not in pool.discovered}


def _flavor(
    cluster: Cluster, selector: Mapping[str, str], pools: Sequence[Pool], topology: Topology | None
) -> ResourceFlavor:
    """The flavor of some pools, with the taints that all of them have."""
    first = pools[0]
    taints = tuple(taint for taint in first.taints if all(taint in pool.taints for pool in pools))
    added = dict.fromkeys(each for pool in pools for each in _injected(cluster, pool))
    return ResourceFlavor(first.name, selector, taints, tuple(added), topology.name if topology else "")


def _injected(cluster: Cluster, pool: Pool) -> Iterator[Toleration]:
    """Tolerations that admission adds to pods: the template, which Kueue judges, lacks them."""
    yield from pool.injects
    if pool.injects_resource_tolerations:
        for resource in card_resources(cluster, pool):
            yield Toleration(resource, "Exists", effect="NoSchedule")


def _of_former_values(flavor: ResourceFlavor, renamed: Sequence[str]) -> Iterator[str]:
    """Nodes have one of the values at a time, and Kueue adds the labels of a flavor to the node selector of
    the pods that it admits."""
    keys = ", ".join(renamed)
    if flavor.topology:
        yield (
            f"flavor {flavor.name} selects the present value of {keys}, although `formerly:` has others: the "
            "API server refuses to change a flavor with a topology. Its pods wait for nodes with that value: "
            "change the nodes while none is queued, and replace the flavor"
        )
        return
    yield (
        f"flavor {flavor.name} does not select {keys} while `formerly:` has former values of it: nodes have "
        "either, and the affinity of the pods accepts both"
    )


def _indistinct(found: Iterable[tuple[object, PoolFlavor]]) -> Iterator[str]:
    for selector, (flavor, pools) in found:
        if not selector:
            names = ", ".join(pool.name for pool in pools)
            yield (
                f"pool {names} has no labels of its own: flavor {flavor.name} selects every node. Give "
                "the pool a usage, a card or labels"
            )
        elif len(pools) > 1:
            names = " and ".join(pool.name for pool in pools)
            yield f"pools {names} have the same labels: they share the flavor {flavor.name}, and its quota"


def _levels(cluster: Cluster, version: Version) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Node labels of the levels, if a workload kind must stay within one; and notices."""
    close = sorted(kind.name for kind in cluster.workloads.values() if kind.within)
    if not close:
        return (), ()
    if version < versions.TAS_IN_COHORTS:
        first = versions.TAS_IN_COHORTS
        return (), (
            f"Kueue {version} has no topologies for queues in a cohort (added in {first}): within of "
            f"{', '.join(close)} is not written",
        )
    keys = tuple(level.key for level in cluster.levels)
    if version < versions.TAS_DEFAULT:
        return keys, (
            f"Kueue {version} reads topologies only with feature gate TopologyAwareScheduling, which is on "
            f"by default from {versions.TAS_DEFAULT}",
        )
    return keys, ()


def _topology_is_stated(cluster: Cluster) -> bool:
    """Whether a pool states the topology of its nodes."""
    keys = {level.key for level in cluster.levels}
    return any(keys & {*pool.labels, *shape.labels} for pool in cluster.pools for shape in pool.shapes)


def _topology(pools: Sequence[Pool], levels: tuple[str, ...], *, stated: bool) -> Topology:
    """The levels that all nodes of the pools are known to have, and single nodes below them.

    Kueue ignores nodes that lack one of the labels, so a level that some nodes lack is left out. If no
    pool states a topology, the nodes are assumed to have all labels.
    """
    known = [{**pool.labels, **shape.labels}.keys() for pool in pools for shape in pool.shapes]
    keys = tuple(key for key in levels if not stated or all(key in each for each in known))
    chain = (*(key for key in keys if key != HOSTNAME), HOSTNAME)
    return Topology("-".join(_short(key) for key in chain), chain)


def _short(key: str) -> str:
    """The label's name without its domain, as part of an object's name."""
    return key.rpartition("/")[2].lower().replace("_", "-").replace(".", "-").strip("-")


def _without_topology(cluster: Cluster) -> Iterator[str]:
    if not _topology_is_stated(cluster):
        keys = ", ".join(level.key for level in cluster.levels)
        yield (
            f"no pool has a topology: Kueue admits no workload to nodes without the labels {keys}. Set "
            "topology on the pools, or make sure that all nodes have them"
        )


_ALWAYS = ("cpu", "memory")
"""Resources that every node has, even if the policy does not say how much."""
_ON_REQUEST = frozenset({"pods"})
"""Resources that every pod uses, which are covered only if a queue limits them."""


class Capacity(NamedTuple):
    """Resources that quotas cover, and their amounts in each flavor."""

    resources: tuple[str, ...]
    """cpu and memory first, others by name."""
    flavors: Mapping[str, Mapping[str, int | None]]
    """Flavor to covered resource to its amount; None: unknown."""

    def shares(self, amount: int, resource: str, flavors: Sequence[str]) -> dict[str, int]:
        """An amount divided among flavors in proportion to what they have, or equally if that is unknown.

        The parts add up to the amount, unless no flavor has the resource.
        """
        there = {name: self.flavors[name].get(resource) for name in flavors}
        if any(number is None for number in there.values()):
            weights = {name: 0 if number == 0 else 1 for name, number in there.items()}
        else:
            weights = {name: number or 0 for name, number in there.items()}
        return _split(amount, weights)


def flavor_capacity(cluster: Cluster, flavors: Sequence[PoolFlavor]) -> Capacity:
    """Amounts of the pools of each flavor, with autoscaled pools at their largest."""
    wanted = {
        resource
        for queue in cluster.queues
        for amounts in (queue.guarantee, queue.deserved, queue.limit)
        for resource in amounts
    }
    covered = wanted | (offered_resources(cluster) - _ON_REQUEST)
    ordered = (*(name for name in _ALWAYS if name in covered), *sorted(covered - {*_ALWAYS}))
    amounts = {each.flavor.name: _flavor_amounts(cluster, each, ordered) for each in flavors}
    return Capacity(tuple(ordered), amounts)


def _flavor_amounts(cluster: Cluster, flavor: PoolFlavor, resources: Sequence[str]) -> dict[str, int | None]:
    part = cluster._replace(pools=flavor.pools)
    known, offered = total_capacity(part), offered_resources(part)
    return {
        resource: known.get(resource, None if resource in offered or resource in _ALWAYS else 0)
        for resource in resources
    }


def _split(amount: int, weights: Mapping[str, int]) -> dict[str, int]:
    """An amount divided in proportion to weights, with the largest remainders rounded up."""
    total = sum(weights.values())
    if not total:
        return dict.fromkeys(weights, 0)
    parts = {name: amount * weight // total for name, weight in weights.items()}
    rest = amount - sum(parts.values())
    by_remainder = sorted(weights, key=lambda name: -(amount * weights[name] % total))
    for name in by_remainder[:rest]:
        parts[name] += 1
    return parts
