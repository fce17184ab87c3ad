"""Reads Volcano's objects back: queues with node groups, HyperNodes, and namespaces with a queue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.names import dns_subdomain_problem
from policykit.manifests.document import Manifest
from policykit.model.inventory import Inventory
from policykit.model.queue import PoolAffinity, Queue, Tenant
from policykit.model.topology import LEVELS
from policykit.targets.volcano.names import QUEUE_NAME
from policykit.targets.volcano.objects import nodegroups, queues, topology
from policykit.targets.volcano.objects.queue_admission import MAX_WEIGHT

_ROOT, _DEFAULT = "root", Queue("default")


def queue(data: Mapping[str, Any], inventory: Inventory) -> None:
    """A Queue, unless it is `root`, or `default` as Volcano creates it."""
    inventory.target("volcano")
    read = queues.read(data)
    if read.parent == _ROOT:
        read = read._replace(parent="")
    if read.name == _ROOT or read == _DEFAULT:
        return
    if not 1 <= read.weight <= MAX_WEIGHT:
        inventory.add_remark(
            f"queue {read.name} has weight {read.weight}, outside 1..{MAX_WEIGHT}; weight 1 is used"
        )
        read = read._replace(weight=1)
    if read.priority is not None and read.priority < 0:
        inventory.add_remark(
            f"queue {read.name} has negative priority {read.priority}; the priority is left out"
        )
        read = read._replace(priority=None)
    inventory.add_queue(_with_parent(read, queues.branches(data), inventory))


def _with_parent(read: Queue, branches: tuple[queues.Branch, ...], inventory: Inventory) -> Queue:
    """The queue below its parent in the annotated hierarchy (plugin drf), whose ancestors become queues."""
    if not branches or read.parent:
        return read
    path = "/".join(branch.name for branch in branches)
    if any(dns_subdomain_problem(branch.name) for branch in branches):
        inventory.add_remark(
            f"queue {read.name} is annotated with hierarchy {path}, in which not all names are valid; "
            "hierarchy left out"
        )
        return read
    above = ""
    for branch in branches[:-1]:
        inventory.add_queue(Queue(branch.name, above, _weight(branch)))
        above = branch.name
    inventory.add_remark(
        f"queue {read.name} is annotated with hierarchy {path} for plugin drf: imported as nested queues, "
        "which `policykit gen` writes for plugin capacity"
    )
    return read._replace(parent=above, weight=_weight(branches[-1]))


def _weight(branch: queues.Branch) -> int:
    """Rounded, as queues need it; 1 if it is not a finite number."""
    return min(max(round(branch.weight), 1), MAX_WEIGHT) if abs(branch.weight) < MAX_WEIGHT else 1


def namespace(found: Manifest, inventory: Inventory) -> bool:
    """A Namespace with a queue; False: it has none.

    Namespaces with the same queue form a tenant named after it.
    """
    queue = found.annotations.get(QUEUE_NAME, "")
    if queue and found.name:
        inventory.target("volcano")
        inventory.add_tenant(Tenant(queue, (found.name,), queue))
    return bool(queue)


def hyper_node(data: Mapping[str, Any], inventory: Inventory) -> None:
    """A HyperNode gives the node label of its level, if its tier is named after a level."""
    inventory.target("volcano")
    read = topology.read(data)
    own = [member for member in read.members if member.kind == "Node"]
    if inventory.levels_complete and not read.tier_name:
        # Before 1.14 tiers have no names; other generated files list the levels.
        return
    if read.tier_name not in LEVELS:
        tier = f"tier {read.tier}" + (f" ({read.tier_name})" if read.tier_name else "")
        inventory.add_remark(f"HyperNodes of {tier}: a policy has levels {', '.join(LEVELS)} only; left out")
        return
    keys = {key for member in own for key in member.labels}
    if len(keys) == 1:
        inventory.add_level(read.tier_name, next(iter(keys)))
    elif any(member.name or member.pattern for member in own):
        inventory.add_remark(
            f"HyperNode {read.name} selects nodes by name, but a policy locates nodes by label: "
            f"label them for the level {read.tier_name}"
        )


def reduce_node_groups(inventory: Inventory) -> None:
    """Reduces node groups of queues to what the policy must state."""
    if not nodegroups.uses_node_groups(inventory.queues.values()):
        return
    every = frozenset(_groups(inventory))
    there = dict(inventory.queues)
    reduced = {
        name: each._replace(pools=_policy_affinity(each, there, every)) for name, each in there.items()
    }
    if not nodegroups.uses_node_groups(reduced.values()):
        # Every queue may use every pool: stated by none of them, no queue would have an affinity.
        reduced |= {name: each for name, each in there.items() if name != "default"}
    inventory.queues.update(reduced)
    parents = {each.parent for each in there.values()}
    if inventory.queues.get("default") == _DEFAULT and "default" not in parents:
        del inventory.queues["default"]


def _groups(inventory: Inventory) -> Iterator[str]:
    """All node groups of generated pools, nodes and queues."""
    yield from (pool.name for pool in inventory.generated)
    yield from (group for node in inventory.nodes.values() if (group := node.labels.get(nodegroups.LABEL)))
    for each in inventory.queues.values():
        for names in each.pools or ():
            yield from names


def _policy_affinity(queue: Queue, there: Mapping[str, Queue], every: frozenset[str]) -> PoolAffinity | None:
    above = there.get(queue.parent)
    pools = queue.pools
    if pools is None or (above is not None and above.pools == pools):
        return None
    anywhere = above is None or above.pools is None or set(above.pools.required) == every
    if anywhere and set(pools.required) == every - set(pools.excluded):
        pools = pools._replace(required=())
    return pools if any(pools) else None
