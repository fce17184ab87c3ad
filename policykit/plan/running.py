"""What runs: the nodes of pools, and pods on nodes that change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from policykit.importer.node_membership import membership
from policykit.kube.tolerations import read, untolerated
from policykit.manifests.document import Manifest
from policykit.manifests.path import lookup
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool
from policykit.plan.effects import EVICTED, MOVED, Effect
from policykit.plan.nodes import NodeGroup
from policykit.plan.queues import DONE


def with_names(cluster: Cluster, nodes: Sequence[Pool], *, counted: bool) -> Cluster:
    """The cluster whose pools list their live nodes, where the policy does not name them itself.

    `counted`: also where it only counts them; that is known of the policy that the nodes follow.
    """
    if not nodes:
        return cluster
    names: dict[tuple[str, int], list[str]] = {}
    for pool_node in membership(cluster, nodes).pool_nodes:
        if not (counted or pool_node.shape.selector):
            continue
        place = pool_node.pool.name, pool_node.pool.shapes.index(pool_node.shape)
        names.setdefault(place, []).append(pool_node.node.name)
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


def running_pods(pods: Iterable[Manifest], groups: Sequence[NodeGroup]) -> Iterator[Effect]:
    """Pods on nodes of a group that changes. A taint with NoSchedule leaves them where they are."""
    homes = {name: group for group in groups if group.changes for name in group.names}
    for pod in pods:
        node = lookup(pod.data, ("spec", "nodeName"))
        group = homes.get(node) if isinstance(node, str) else None
        if group is None or group.before is None or lookup(pod.data, ("status", "phase")) in DONE:
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
