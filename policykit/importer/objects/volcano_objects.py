"""Volcano's objects: queues with their node groups, HyperNodes, and namespaces sent to a queue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.importer.found import Found
from policykit.kube.names import dns_subdomain_problem
from policykit.manifests.shape import mapping, text
from policykit.model.queue import PoolAffinity, Queue
from policykit.model.tenant import Tenant
from policykit.policy.levels import LEVELS
from policykit.targets.volcano.names import QUEUE_NAME
from policykit.targets.volcano.objects import hypernodes, nodegroups, queues
from policykit.targets.volcano.objects.admission import MAX_WEIGHT

_ROOT, _DEFAULT = "root", Queue("default")


def queue(data: Mapping[str, Any], found: Found) -> None:
    """A Queue. `root` is Volcano's own, and so is `default` as Volcano makes it."""
    found.target("volcano")
    read = queues.read(data)
    if read.parent == _ROOT:
        read = read._replace(parent="")
    if read.name == _ROOT or read == _DEFAULT:
        return
    if not 1 <= read.weight <= MAX_WEIGHT:
        found.say(
            f"queue {read.name} has weight {read.weight}, which is not from 1 to {MAX_WEIGHT}; taken for 1"
        )
        read = read._replace(weight=1)
    if read.priority is not None and read.priority < 0:
        found.say(f"queue {read.name} has priority {read.priority}, below zero; left out")
        read = read._replace(priority=None)
    found.add_queue(_in_tree(read, queues.branches(data), found))


def _in_tree(read: Queue, branches: tuple[queues.Branch, ...], found: Found) -> Queue:
    """The queue where annotations put it (plugin drf): what it is below become queues."""
    if not branches or read.parent:
        return read
    path = "/".join(branch.name for branch in branches)
    if any(dns_subdomain_problem(branch.name) for branch in branches):
        found.say(f"queue {read.name} stands at {path} by annotation, not all of which are names of queues")
        return read
    above = ""
    for branch in branches[:-1]:
        found.add_queue(Queue(branch.name, above, _weight(branch)))
        above = branch.name
    found.say(
        f"queue {read.name} stands at {path} by annotation, for plugin drf: taken for queues, one below the "
        "other, which `policykit gen` writes for plugin capacity"
    )
    return read._replace(parent=above, weight=_weight(branches[-1]))


def _weight(branch: queues.Branch) -> int:
    """Whole, as queues have it; of what is no number, 1."""
    return min(max(round(branch.weight), 1), MAX_WEIGHT) if abs(branch.weight) < MAX_WEIGHT else 1


def is_sent(data: Mapping[str, Any]) -> bool:
    """Whether a Namespace says which queue of Volcano's its jobs belong to."""
    return bool(_queue_of(data))


def namespace(data: Mapping[str, Any], found: Found) -> None:
    """A Namespace with a queue: all that share one are a tenant, named after the queue."""
    name, sent = text(mapping(data.get("metadata")).get("name")), _queue_of(data)
    if name:
        found.target("volcano")
        found.add_tenant(Tenant(sent, (name,), sent))


def _queue_of(data: Mapping[str, Any]) -> str:
    return text(mapping(mapping(data.get("metadata")).get("annotations")).get(QUEUE_NAME))


def hyper_node(data: Mapping[str, Any], found: Found) -> None:
    """A HyperNode: the node label that tells its level, where its tier is named after one."""
    found.target("volcano")
    read = hypernodes.read(data)
    own = [member for member in read.members if member.kind == "Node"]
    if found.levels_whole and not read.tier_name:
        # Before 1.14 tiers have no names; generated files say elsewhere which levels there are.
        return
    if read.tier_name not in LEVELS:
        called = f"tier {read.tier}" + (f" ({read.tier_name})" if read.tier_name else "")
        found.say(f"HyperNodes of {called} are of no level that a policy has: {', '.join(LEVELS)}; left out")
        return
    keys = {key for member in own for key in member.labels}
    if len(keys) == 1:
        found.add_level(read.tier_name, next(iter(keys)))
    elif any(member.name or member.pattern for member in own):
        found.say(
            f"HyperNode {read.name} finds its nodes by name; a policy tells where nodes stand by labels: "
            f"give them one for the level {read.tier_name}"
        )


def settle(found: Found) -> None:
    """Node groups of queues as a policy says them: what a queue has anyway is left unsaid."""
    if not nodegroups.named(found.queues.values()):
        return
    every = frozenset(_groups(found))
    there = dict(found.queues)
    for name, each in there.items():
        found.queues[name] = each._replace(pools=_said(each, there, every))
    parents = {each.parent for each in there.values()}
    if found.queues.get("default") == _DEFAULT and "default" not in parents:
        del found.queues["default"]


def _groups(found: Found) -> Iterator[str]:
    """Every node group there is: of nodes and generated pools, else what queues name."""
    yield from (pool.name for pool in found.described)
    yield from (group for node in found.nodes.values() if (group := node.labels.get(nodegroups.LABEL)))
    for each in found.queues.values():
        for names in each.pools or ():
            yield from names


def _said(queue: Queue, there: Mapping[str, Queue], every: frozenset[str]) -> PoolAffinity | None:
    above = there.get(queue.parent)
    pools = queue.pools
    if pools is None or (above is not None and above.pools == pools):
        return None
    anywhere = above is None or above.pools is None or set(above.pools.required) == every
    if anywhere and set(pools.required) == every - set(pools.excluded):
        pools = pools._replace(required=())
    return pools if any(pools) else None
