"""Renames between two policies, as `formerly:` would state them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from policykit.model.cluster import Cluster
from policykit.placement.eligible_pools import product_of
from policykit.placement.former_names import FormerNames
from policykit.plan.nodes import NodeGroup

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
