"""Pools as Volcano's node groups: a node label, and the affinity of queues to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from policykit.errors import PolicykitError
from policykit.generator.artifact import Artifact, Role
from policykit.kube.names import label_value_problem
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool, Shape
from policykit.model.queue import PoolAffinity, Queue
from policykit.model.release import Version
from policykit.targets.nodes.existing_nodes import command, is_reachable, node_arguments, script
from policykit.targets.volcano import versions

LABEL = "volcano.sh/nodegroup-name"
"""Node label that plugin nodegroup reads."""
SCRIPT = "volcano/nodegroups.sh"
_COMMENTS = (
    "Node groups for the affinity of Volcano's queues: one per pool. Safe to run again.",
    "Run it again for nodes that join, or let the provisioner set the label.",
    "Once plugin nodegroup is on, pods of these queues run only on nodes with this label.",
)


def uses_node_groups(queues: Iterable[Queue]) -> bool:
    """Whether any queue names pools, so that plugin nodegroup is needed."""
    return any(queue.pools and any(queue.pools) for queue in queues)


def node_group(pool: Pool) -> str:
    """The node group of a pool: the value of the label in the policy, or else the pool's name."""
    return pool.labels.get(LABEL) or pool.name


def assign_node_groups(
    queues: Sequence[Queue], pools: Sequence[Pool], version: Version
) -> tuple[tuple[Queue, ...], tuple[str, ...]]:
    """The queues with the node groups they may use, and notices.

    With plugin nodegroup, a queue may only use the node groups that its affinity lists, and without an
    affinity no labelled node. So if any queue names pools, every queue gets a complete list: its own,
    that of the nearest queue above, or all. Raises PolicykitError for a queue without any.
    """
    if not uses_node_groups(queues):
        return tuple(queue._replace(pools=None) for queue in queues), ()
    if version < versions.CAPACITY:
        return tuple(queue._replace(pools=None) for queue in queues), (
            f"Volcano {version} has no node groups (plugin nodegroup, added in {versions.CAPACITY}): the "
            "pools of queues are not written. Nearest: node affinity of the workload kinds",
        )
    groups = {pool.name: node_group(pool) for pool in pools}
    by_name = {queue.name: queue for queue in queues}
    found = tuple(queue._replace(pools=_list(_nearest(queue, by_name), groups)) for queue in queues)
    shut = next((queue.name for queue in found if queue.pools and not queue.pools.required), None)
    if shut is not None:
        raise PolicykitError(
            f"queue {shut} may use no pool: all of them are excluded",
            "exclude fewer pools",
            path=("queues", shut, "pools"),
        )
    return found, tuple(_weak(queues))


def _nearest(queue: Queue, queues: Mapping[str, Queue]) -> PoolAffinity:
    seen: set[str] = set()
    above: Queue | None = queue
    while above is not None and above.name not in seen:
        if above.pools and any(above.pools):
            return above.pools
        seen.add(above.name)
        above = queues.get(above.parent)
    return PoolAffinity()


def _list(pools: PoolAffinity, groups: Mapping[str, str]) -> PoolAffinity:
    """Allowed groups are required (100 points); preferred ones get 50 more, and avoided ones lose 101."""
    out = {_known(name, groups) for name in pools.excluded}
    wanted = [_known(name, groups) for name in pools.required] or list(groups.values())
    allowed = _once(name for name in wanted if name not in out)
    return PoolAffinity(
        allowed,
        _once(name for each in pools.preferred if (name := _known(each, groups)) in allowed),
        _once(_known(name, groups) for name in pools.excluded),
        _once(name for each in pools.avoided if (name := _known(each, groups)) in allowed),
    )


def _known(pool: str, groups: Mapping[str, str]) -> str:
    return groups.get(pool, pool)


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _weak(queues: Iterable[Queue]) -> Iterator[str]:
    preferring = sorted(q.name for q in queues if q.pools and (q.pools.preferred or q.pools.avoided))
    if preferring:
        yield (
            f"queue {', '.join(preferring)}: a preferred pool adds 50 points to a node's score, an avoided "
            "one removes 101, and plugin nodegroup has no weight: binpack and nodeaffinity may outweigh it"
        )


def artifacts(cluster: Cluster, version: Version) -> tuple[tuple[Artifact, ...], tuple[str, ...]]:
    """`nodegroups.sh`, if queues name pools: sets the label on every node that the policy names."""
    if not uses_node_groups(cluster.queues) or version < versions.CAPACITY:
        return (), ()
    commands, notices = [], []
    for pool in cluster.pools:
        value = node_group(pool)
        problem = label_value_problem(value)
        if problem:
            notices.append(f"pool {pool.name}: its name {problem}, so it cannot be a value of label {LABEL}")
            continue
        if pool.labels.get(LABEL):
            continue
        for shape in _joined(pool.shapes):
            for nodes in node_arguments(shape):
                commands.append(command("kubectl label nodes --overwrite", nodes, [f"{LABEL}={value}"]))
        if not all(map(is_reachable, pool.shapes)):
            notices.append(
                f"pool {pool.name} is a node group of queues, but the policy does not name its nodes: let "
                f"the provisioner set label {LABEL}={value}"
            )
    found = (Artifact(SCRIPT, script(_COMMENTS, commands), Role.NODE),) if commands else ()
    return found, tuple(notices)


def _joined(shapes: Iterable[Shape]) -> Iterator[Shape]:
    """All nodes with names as one shape, then those with a selector."""
    listed = list(shapes)
    names = [name for shape in listed for name in shape.node_names]
    if names:
        yield Shape({}, node_names=tuple(names))
    yield from (shape for shape in listed if not shape.node_names)
