"""What runs: the nodes of pools, pods on nodes that change, and queues in use that go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from policykit.importer.node_membership import membership
from policykit.kube.requests import amounts
from policykit.kube.tolerations import read, untolerated
from policykit.manifests.document import Manifest
from policykit.manifests.path import lookup
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool
from policykit.model.quantity import amount_text
from policykit.plan.effects import EVICTED, MOVED, QUEUE, Effect
from policykit.plan.nodes import NodeGroup

_DONE = ("Succeeded", "Failed")


def with_names(cluster: Cluster, nodes: Sequence[Pool], *, counted: bool) -> Cluster:
    """The cluster whose pools list their live nodes, where the policy does not name them itself.

    `counted`: also where it only counts them; that is known of the policy that the nodes follow.
    """
    if not nodes:
        return cluster
    names: dict[tuple[str, int], list[str]] = {}
    for member in membership(cluster, nodes).members:
        if not (counted or member.shape.selector):
            continue
        place = member.pool.name, member.pool.shapes.index(member.shape)
        names.setdefault(place, []).append(member.node.name)
    return cluster._replace(pools=tuple(_listing(pool, names) for pool in cluster.pools))


def _listing(pool: Pool, names: Mapping[tuple[str, int], list[str]]) -> Pool:
    shapes = []
    for number, shape in enumerate(pool.shapes):
        found = tuple(names.get((pool.name, number), ()))
        listed = shape.node_names or found
        shapes.append(
            shape._replace(node_names=listed, minimum=len(listed), maximum=len(listed)) if listed else shape
        )
    return pool._replace(shapes=tuple(shapes))


def queues_in_use(queues: Iterable[Manifest], before: Cluster, after: Cluster) -> Iterator[Effect]:
    """Live queues that the new policy does not have, with the amounts that are allocated from them."""
    kept = {queue.name for queue in after.queues}
    gone = {queue.name for queue in before.queues} - kept
    for queue in queues:
        used = amounts(lookup(queue.data, ("status", "allocated")))
        listed = ", ".join(f"{amount_text(name, used[name])} {name}" for name in sorted(used) if used[name])
        if queue.name in gone and listed:
            yield Effect(QUEUE, f"queue {queue.name}", f"is deleted, but {listed} are allocated from it")


def running_pods(pods: Iterable[Manifest], groups: Sequence[NodeGroup]) -> Iterator[Effect]:
    """Pods on nodes of a group that changes. A taint with NoSchedule leaves them where they are."""
    homes = {name: group for group in groups if group.changes for name in group.names}
    for pod in pods:
        node = lookup(pod.data, ("spec", "nodeName"))
        group = homes.get(node) if isinstance(node, str) else None
        if group is None or group.before is None or lookup(pod.data, ("status", "phase")) in _DONE:
            continue
        who = f"Pod {pod.namespace or 'default'}/{pod.name}"
        if group.after is None:
            yield Effect(EVICTED, who, f"runs on {node}, which leaves the cluster")
            continue
        new = tuple(each for each in group.after.taints if each.evicts and each not in group.before.taints)
        taint = untolerated(new, read(lookup(pod.data, ("spec", "tolerations"))))
        if taint is not None:
            yield Effect(EVICTED, who, f"runs on {node}: taint {taint} evicts it")
        else:
            yield Effect(MOVED, who, f"keeps running on {node}, which changes; it may not come back there")
