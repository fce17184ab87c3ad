"""Groups of nodes, each with its state under the policy before and under the policy after."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policykit.model.cluster import Cluster
from policykit.model.pool import Pool, Shape
from policykit.namedtuple import NamedTuple


class NodeGroup(NamedTuple):
    """Nodes that are alike before and after."""

    before: Pool | None
    """With one shape; None: the nodes are new."""
    after: Pool | None
    """None: the nodes go."""
    nodes: int
    """The largest number; 1 if it is not known."""
    names: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        pool = self.after or self.before
        return pool.name if pool else ""

    @property
    def changes(self) -> bool:
        """Whether the nodes come, go, or get other labels or taints. A changed size is a fact, not a step."""
        if self.before is None or self.after is None:
            return True
        return _state(self.before)[:3] != _state(self.after)[:3]


def node_groups(before: Cluster, after: Cluster) -> tuple[NodeGroup, ...]:
    """The nodes of both policies.

    Nodes are the same if they have one name, or else are in a pool of one name. Others that leave a pool
    are those that another pool with the same card gains, in the order of the policy.
    """
    rest_before, rest_after = list(_parts(before)), list(_parts(after))
    found: list[NodeGroup] = []
    for same in (_same_name, _same_pool, _same_card):
        for old in rest_before:
            for new in rest_after:
                number = min(old.nodes, new.nodes)
                if number and same(old, new):
                    names = _shared_names(old, new, number)
                    number = len(names) if names else number
                    found.append(NodeGroup(old.pool, new.pool, number, tuple(sorted(names))))
                    old.take(number, names)
                    new.take(number, names)
    found += (
        NodeGroup(part.pool, None, part.nodes, tuple(sorted(part.names)))
        for part in rest_before
        if part.nodes
    )
    found += (
        NodeGroup(None, part.pool, part.nodes, tuple(sorted(part.names))) for part in rest_after if part.nodes
    )
    return tuple(_joined(found))


class _Part:
    """The nodes of a shape that have no counterpart yet."""

    def __init__(self, pool: Pool, shape: Shape) -> None:
        self.pool = pool._replace(shapes=(shape,))
        self.names = set(shape.node_names)
        self.nodes = len(self.names) or (
            shape.maximum if shape.maximum is not None else max(shape.minimum, 1)
        )

    def take(self, number: int, names: set[str]) -> None:
        self.nodes -= number
        self.names -= names


def _shared_names(old: _Part, new: _Part, number: int) -> set[str]:
    """The names of nodes that both have; a part that is only counted has those of the other."""
    if old.names and new.names:
        return old.names & new.names
    return set(sorted(old.names or new.names)[:number])


def _parts(cluster: Cluster) -> Iterator[_Part]:
    for pool in cluster.pools:
        for shape in pool.shapes:
            yield _Part(pool, shape)


def _same_name(old: _Part, new: _Part) -> bool:
    return bool(old.names & new.names)


def _same_pool(old: _Part, new: _Part) -> bool:
    """Nodes with names are known by them, unless only one side has names."""
    return old.pool.name == new.pool.name and not (old.names and new.names)


def _same_card(old: _Part, new: _Part) -> bool:
    return bool(old.pool.card) and old.pool.card == new.pool.card and not (old.names and new.names)


def _joined(groups: Iterable[NodeGroup]) -> Iterator[NodeGroup]:
    """Groups that differ only in names of shapes, together."""
    found: dict[str, NodeGroup] = {}
    for group in groups:
        key = repr((_key(group.before), _key(group.after)))
        there = found.get(key)
        names = (*there.names, *group.names) if there else group.names
        nodes = group.nodes + (there.nodes if there else 0)
        found[key] = group._replace(nodes=nodes, names=names)
    yield from found.values()


def _key(pool: Pool | None) -> object:
    return None if pool is None else (pool.name, _state(pool))


def _state(pool: Pool) -> tuple[object, ...]:
    (shape,) = pool.shapes
    labels = {**pool.labels, **shape.labels}
    return (
        sorted(labels.items()),
        sorted(pool.taints),
        pool.unschedulable,
        sorted(shape.allocatable.items()),
        pool.resources,
    )
