"""Groups of a pool's nodes, with their labels and taints except those set by others."""

from __future__ import annotations

from collections.abc import Mapping

from policykit.catalogue import labels as known
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool, Shape, Taint
from policykit.namedtuple import NamedTuple

Labels = dict[str, str]

_KUBELET = frozenset(f"{prefix}kubernetes.io/{name}" for prefix in ("", "beta.") for name in ("arch", "os"))
_FEATURES = "feature.node.kubernetes.io/"
"""Set by Node Feature Discovery."""
_NEVER = _KUBELET | {"kubernetes.io/hostname"}
MAX_FILES = 16
"""Largest number of files of one form for the named nodes of a pool."""
ZONE = "topology.kubernetes.io/zone"
_CLOUD = frozenset({"node.kubernetes.io/instance-type", "topology.kubernetes.io/region", ZONE})
"""Labels that a cloud's controller sets on nodes that it creates; without a cloud the policy sets them."""


class NodeGroup(NamedTuple):
    """Nodes of a pool with the same labels."""

    suffix: str
    """Empty, or -1, -2, ... where the pool has several groups."""
    labels: Labels
    """Sorted by key."""
    minimum: int
    maximum: int | None
    """None: unlimited or unknown."""
    autoscaled: bool
    cards: int
    """Cards per node; 0: none or unknown."""
    zone: str = ""
    """Their zone; empty: unknown, or several."""
    names: tuple[str, ...] = ()
    """Names of the nodes, if the pool lists nodes by name in several groups."""

    @property
    def fixed(self) -> int | None:
        """The number of nodes if it is fixed; None: it may change."""
        return self.minimum if self.minimum == self.maximum else None


def has_settings(cluster: Cluster, pool: Pool) -> bool:
    """Whether the pool's nodes need a label or taint."""
    shapes = any(shape_labels(cluster, pool, shape) for shape in pool.shapes)
    return shapes or bool(pool_taints(cluster, pool))


def shape_labels(cluster: Cluster, pool: Pool, shape: Shape) -> Labels:
    """Labels to set on existing nodes of a shape, sorted, without those that its selector requires."""
    labels = _labels_to_set(cluster, pool, {**pool.labels, **shape.labels})
    return {key: value for key, value in labels.items() if shape.selector.get(key) != value}


def pool_taints(cluster: Cluster, pool: Pool) -> tuple[Taint, ...]:
    """Taints to set, sorted by key and effect."""
    by_cloud = {each.taint for each in known.provider_taints(cluster.provider) if each.automatic}
    return tuple(
        sorted((t for t in pool.taints if t not in by_cloud), key=lambda taint: (taint.key, taint.effect))
    )


def groups(cluster: Cluster, pool: Pool) -> tuple[NodeGroup, ...]:
    """Groups of the pool's nodes: one for each set of labels.

    Nodes listed by name are one group with their common labels; the other labels are set node by node.
    """
    found: dict[tuple[tuple[tuple[str, str], ...], str], list[Shape]] = {}
    named = [shape for shape in pool.shapes if shape.node_names]
    if named:
        sets = [
            set(_labels_to_set(cluster, pool, {**pool.labels, **shape.labels}).items()) for shape in named
        ]
        zones = {_zone(pool, shape) for shape in named}
        zone = zones.pop() if len(zones) == 1 else ""
        found[tuple(sorted(set.intersection(*sets))), zone] = named
    for shape in pool.shapes:
        if not shape.node_names:
            labels = _labels_to_set(cluster, pool, {**pool.labels, **shape.labels})
            found.setdefault((tuple(labels.items()), _zone(pool, shape)), []).append(shape)
    several = len(found) > 1
    return tuple(
        _group(cluster, pool, f"-{number}" if several else "", dict(labels), shapes)._replace(zone=zone)
        for number, ((labels, zone), shapes) in enumerate(found.items(), 1)
    )


def joining_groups(cluster: Cluster, pool: Pool) -> tuple[NodeGroup, ...]:
    """Groups for join-time files: like `groups`, but nodes listed by name have one group for each set of
    labels, unless that results in more than `MAX_FILES` groups.
    """
    named = [shape for shape in pool.shapes if shape.node_names]
    found: dict[tuple[tuple[str, str], ...], list[Shape]] = {}
    for shape in named:
        labels = _labels_to_set(cluster, pool, {**pool.labels, **shape.labels})
        found.setdefault(tuple(labels.items()), []).append(shape)
    if not 1 < len(found) <= MAX_FILES:
        return groups(cluster, pool)
    rest = pool._replace(shapes=tuple(shape for shape in pool.shapes if not shape.node_names))
    made = [
        _group(cluster, pool, "", dict(labels), shapes)._replace(
            names=tuple(sorted(name for shape in shapes for name in shape.node_names))
        )
        for labels, shapes in found.items()
    ]
    together = [*made, *groups(cluster, rest)]
    return tuple(group._replace(suffix=f"-{number}") for number, group in enumerate(together, 1))


def _zone(pool: Pool, shape: Shape) -> str:
    """The zone in which the cloud creates nodes, whose label it sets itself."""
    return {**pool.labels, **shape.labels}.get(ZONE, "")


def _group(cluster: Cluster, pool: Pool, suffix: str, labels: Labels, shapes: list[Shape]) -> NodeGroup:
    bounds = [shape.maximum for shape in shapes]
    most = None if None in bounds else sum(bound for bound in bounds if bound is not None)
    card = cluster.card_of(pool)
    cards = max((shape.allocatable.get(card.resource, 0) for shape in shapes), default=0) if card else 0
    least = sum(shape.minimum for shape in shapes)
    return NodeGroup(suffix, labels, least, most, pool.autoscaled and least != most, cards)


def _labels_to_set(cluster: Cluster, pool: Pool, labels: Mapping[str, str]) -> Labels:
    return {key: labels[key] for key in sorted(labels) if not _set_elsewhere(cluster, pool, key)}


def _set_elsewhere(cluster: Cluster, pool: Pool, key: str) -> bool:
    if key in pool.discovered or key in _NEVER:
        return True
    if key.startswith(_FEATURES) and "nfd" not in (cluster.node_forms or ()):
        return True
    if pool.discovered and (known.discovery(key) or known.replaced_by(key) is not None):
        return True
    return bool(cluster.provider) and (key in _CLOUD or bool(known.provider(key)))
