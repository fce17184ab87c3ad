"""Node objects: what is read from them, and groups of similar nodes, each of which becomes a pool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from policykit.catalogue.labels import provider_taints
from policykit.importer import node_labels
from policykit.importer.cards import NodeCard, card_of, card_of_resource, other_card_labels, usable_resources
from policykit.kube.nodes import read as read_pool
from policykit.kube.nodes import registered
from policykit.kube.requests import amounts
from policykit.manifests.document import Manifest
from policykit.manifests.path import lookup
from policykit.manifests.shape import mapping
from policykit.model.inventory import GeneratedPool, Inventory, Node
from policykit.model.pool import Amounts, Taint
from policykit.namedtuple import NamedTuple
from policykit.policy.presets import PRESETS

INSTANCE_TYPE = "node.kubernetes.io/instance-type"
_NEARLY = 50
"""Memory may differ by less than one part in this many within one size."""


class Size(NamedTuple):
    """Nodes of a group with the same size and location."""

    offered: Amounts
    """Least amounts that each of them offers; empty: unknown."""
    location: Mapping[str, str]
    names: tuple[str, ...]
    label_count: int = 0
    """Cards by the count label of the nodes; 0: no such label."""
    instance_types: tuple[str, ...] = ()
    """Instance types of the nodes; an empty one: some node has none."""
    instance_type: str = ""
    """Instance type that distinguishes them within their node pool; empty: not needed."""


class Group(NamedTuple):
    """Nodes that become one pool."""

    labels: Mapping[str, str]
    """Labels that describe the purpose of the nodes, without those of the card."""
    taints: tuple[Taint, ...]
    card: NodeCard | None
    sizes: tuple[Size, ...] = ()
    """Empty: known only from generated files."""
    cordoned: bool = False
    generated: GeneratedPool | None = None
    all_labels: Mapping[str, str] = {}
    """All labels of its first node, for names and guesses."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted(name for size in self.sizes for name in size.names))


def with_cards(groups: tuple[Group, ...], resource: str) -> tuple[Group, ...]:
    """The groups, with this card for generated pools whose card is unknown."""
    card = card_of_resource(resource)
    return tuple(
        group._replace(card=card) if group.generated and not group.card else group for group in groups
    )


def is_control_plane(node: Node, reserved_by: Taint | None = None) -> bool:
    """Whether a taint reserves it: a control plane without the taint takes pods like any other node.

    `reserved_by`: the taint that generated files put on the control plane.
    """
    return any(
        taint.hard and (taint == reserved_by or node_labels.closes_control_plane(taint))
        for taint in node.taints
    )


def groups(inventory: Inventory, named: frozenset[str] = frozenset()) -> tuple[Group, ...]:
    """Generated pools in their order, then the other nodes by labels, taints and card.

    `named`: resources outside the catalogue that generated files name as cards.
    """
    nodes = sorted(inventory.nodes.values())
    workers = [node for node in nodes if not is_control_plane(node, inventory.control_plane)]
    own = node_labels.unique_keys(workers)
    left = list(workers)
    by_cloud = frozenset(each.taint for each in provider_taints(inventory.provider) if each.automatic)
    claimed: dict[str, list[Node]] = {}
    # Specific pools claim their nodes first.
    for pool in sorted(inventory.generated, key=lambda pool: (not pool.names, -_specificity(pool))):
        claimed[pool.name] = [node for node in left if _member(node, pool, by_cloud)]
        left = [node for node in left if node not in claimed[pool.name]]
    made = [
        _group_of_pool(pool, claimed[pool.name], own, named, inventory.provider)
        for pool in inventory.generated
    ]
    alike: dict[object, list[Node]] = {}
    for node in left:
        alike.setdefault(_signature(node, own, named), []).append(node)
    return (
        *made,
        *(_group_of_nodes(_repaired(nodes, named, inventory), own, named) for nodes in alike.values()),
    )


def _repaired(nodes: list[Node], named: frozenset[str], inventory: Inventory) -> list[Node]:
    """The nodes with as many cards as those like them have; a node that lost one is reported, and is no
    size of its own.
    """
    card = card_of(nodes[0].labels, usable_resources(nodes[0]), named, nodes[0].virtual)
    if card is None or card.sharing.options or not card.resource:
        return nodes
    counts = [usable_resources(node).get(card.resource, 0) for node in nodes]
    usual = max(counts)
    if usual not in card.sizes or counts.count(usual) * 2 <= len(nodes):
        return nodes
    found = []
    for node, count in zip(nodes, counts, strict=True):
        if 0 < count < usual and count not in card.sizes:
            inventory.add_remark(
                f"node {node.name}: has {count} {card.resource}, but nodes like it have {usual}: it may have"
                f" lost cards; the policy has {usual}"
            )
            labels = {k: str(usual) if k in card.count_keys else v for k, v in node.labels.items()}
            whole = {**node.capacity, card.resource: usual}
            node = node._replace(labels=labels, capacity=whole)
        found.append(node)
    return found


def _specificity(pool: GeneratedPool) -> int:
    return len(pool.labels) + len(pool.selector) + len(pool.taints)


def _member(node: Node, pool: GeneratedPool, by_cloud: frozenset[Taint]) -> bool:
    if pool.names:
        return node.name in pool.names
    selected = {**pool.selector, **pool.labels}
    return all(node.labels.get(key) == value for key, value in selected.items()) and (
        set(pool.taints) == set(node_labels.policy_taints(node.taints)) - (by_cloud - set(pool.taints))
    )


def _signature(node: Node, own: frozenset[str], named: frozenset[str]) -> object:
    """What the nodes of one pool have in common."""
    card = card_of(node.labels, usable_resources(node), named, node.virtual)
    sharing = tuple(sorted(map(str, card.sharing.options.items()))) if card else ()
    shown = (card.entry, card.label_value, sharing) if card else None
    labels = {
        **_without_card_labels(node_labels.purpose_labels(node, own), card),
        **other_card_labels(node.labels, card),
    }
    return tuple(sorted(labels.items())), node_labels.policy_taints(node.taints), shown


def _without_card_labels(labels: Mapping[str, str], card: NodeCard | None) -> dict[str, str]:
    """Labels without those that follow from the card."""
    return {key: value for key, value in labels.items() if card is None or key not in card.keys}


def _group_of_nodes(nodes: list[Node], own: frozenset[str], named: frozenset[str]) -> Group:
    first = min(nodes, key=lambda node: (not node.allocatable, node.name))
    card = card_of(first.labels, usable_resources(first), named, first.virtual)
    return Group(
        {
            **_without_card_labels(node_labels.purpose_labels(first, own), card),
            **other_card_labels(first.labels, card),
        },
        node_labels.policy_taints(first.taints),
        card,
        _sizes(nodes, own, card),
        all(node.cordoned for node in nodes),
        None,
        first.labels,
    )


def _group_of_pool(
    pool: GeneratedPool, nodes: list[Node], own: frozenset[str], named: frozenset[str], provider: str
) -> Group:
    """The purpose of the nodes comes from generated files, their sizes from the nodes."""
    labels = {**pool.labels, **pool.selector}
    first = min(nodes, key=lambda node: (not node.allocatable, node.name), default=None)
    shown = {**first.labels, **labels} if first else labels
    card = card_of(shown, usable_resources(first) if first else {}, named, first.virtual if first else None)
    return Group(
        _without_card_labels(labels, card),
        node_labels.policy_taints((*pool.taints, *_cloud_taints(card, provider))),
        card,
        _sizes(nodes, own, card, pool) if nodes else _places(pool),
        bool(nodes) and all(node.cordoned for node in nodes),
        pool,
        shown,
    )


def _cloud_taints(card: NodeCard | None, provider: str) -> tuple[Taint, ...]:
    """The taint that a cloud sets for a card; it is not generated."""
    taint = PRESETS[provider].card_taints.get(card.vendor) if card and provider in PRESETS else None
    return (taint,) if taint else ()


def _sizes(
    nodes: list[Node], own: frozenset[str], card: NodeCard | None, pool: GeneratedPool | None = None
) -> tuple[Size, ...]:
    """Nodes by resources and location; memory may differ slightly."""
    found: list[tuple[dict[str, int], dict[str, str], int, list[Node]]] = []
    for node in sorted(nodes, key=lambda node: node.name):
        has = usable_resources(node)
        counted = card.label_count(node.labels) if card else 0
        where = _node_location(node, own, pool)
        for theirs, there, number, members in found:
            if (there, number) == (where, counted) and same_size(theirs, has):
                theirs["memory"] = min(theirs.get("memory", 0), has.get("memory", 0))
                members.append(node)
                break
        else:
            found.append((has, where, counted, [node]))
    return tuple(
        Size(
            {resource: number for resource, number in has.items() if number},
            where,
            tuple(node.name for node in members),
            counted,
            tuple(sorted({node.labels.get(INSTANCE_TYPE, "") for node in members})),
        )
        for has, where, counted, members in found
    )


def _node_location(node: Node, own: frozenset[str], pool: GeneratedPool | None) -> dict[str, str]:
    """Location labels of a node: from generated files if they set labels, else its own."""
    if pool is None:
        return node_labels.location_labels(node.labels, own)
    if pool.labels_by_node or not pool.names:
        return dict(pool.labels_by_node.get(node.name, {}))
    return {
        key: value
        for key, value in node_labels.location_labels(node.labels, own).items()
        if key not in pool.labels
    }


def _places(pool: GeneratedPool) -> tuple[Size, ...]:
    """The named nodes of a pool by location, from generated labels."""
    if not any(pool.labels_by_node.values()):
        return ()
    found: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for name in pool.names:
        found.setdefault(tuple(sorted(pool.labels_by_node.get(name, {}).items())), []).append(name)
    return tuple(Size({}, dict(where), tuple(names)) for where, names in found.items())


def same_size(one: Amounts, other: Amounts) -> bool:
    """Whether nodes have the same size; memory may differ slightly."""
    rest, theirs = ({r: n for r, n in each.items() if r != "memory"} for each in (one, other))
    low, high = sorted((one.get("memory", 0), other.get("memory", 0)))
    return rest == theirs and (low == high or (high - low) * _NEARLY < high)


_SHOWN = 3
"""Number of nodes that a remark names."""


def add_node(manifest: Manifest, inventory: Inventory) -> None:
    """Adds a Node, unless there is one with its name."""
    node = _node(manifest.data)
    if node is not None and inventory.nodes.setdefault(node.name, node) != node:
        inventory.add_remark(
            f"node {node.name} is defined more than once with different contents; the first one is used"
        )


def _node(data: Mapping[str, Any]) -> Node | None:
    """A Node; None: it has no name. Malformed taints and labels are left out."""
    pool = read_pool(data)
    if not pool.name:
        return None
    status = data.get("status")
    status = status if isinstance(status, dict) else {}
    info = status.get("nodeInfo")
    kubelet = info.get("kubeletVersion") if isinstance(info, dict) else ""
    return Node(
        pool.name,
        pool.labels,
        tuple(sorted(taint for taint in set(pool.taints) if taint.key and taint.effect)),
        amounts(status.get("allocatable")),
        amounts(status.get("capacity")),
        pool.unschedulable,
        kubelet if isinstance(kubelet, str) else "",
        registered(mapping(lookup(data, ("metadata", "annotations")))),
    )


def add_node_remarks(inventory: Inventory) -> None:
    """Adds remarks on nodes with special or temporary state."""
    nodes = sorted(inventory.nodes.values())
    workers = [node for node in nodes if not is_control_plane(node, inventory.control_plane)]
    control_planes = [node.name for node in nodes if is_control_plane(node, inventory.control_plane)]
    if control_planes:
        inventory.add_remark(
            f"{_node_list(control_planes)}: control plane, reserved by a taint; not in any pool"
        )
    cordoned = [node.name for node in workers if node.cordoned]
    if cordoned:
        inventory.add_remark(
            f"{_node_list(cordoned)}: currently cordoned; a pool is unschedulable only if all its nodes are"
        )
    transient_taints = sorted(
        {
            str(t)
            for node in workers
            for t in node.taints
            if node_labels.is_transient(t) and "unschedulable" not in t.key
        }
    )
    for taint in transient_taints:
        having = [node.name for node in workers if taint in map(str, node.taints)]
        inventory.add_remark(
            f"{_node_list(having)}: taint {taint} is set and removed automatically; left out"
        )
    without_allocatable = [node.name for node in workers if not node.allocatable]
    if without_allocatable:
        inventory.add_remark(
            f"{_node_list(without_allocatable)}: reports no allocatable resources; sizes are left out"
        )
    _failing(workers, inventory)
    for key in sorted(node_labels.unique_keys(workers)):
        if any(
            node_labels.describes_purpose(key, node.labels.get(key, ""))
            for node in workers
            if key in node.labels
        ):
            inventory.add_remark(f"label {key} has a different value on each node; left out")


def _failing(workers: Iterable[Node], inventory: Inventory) -> None:
    for node in workers:
        for resource, number in usable_resources(node).items():
            have = node.allocatable.get(resource, 0)
            if "/" in resource and node.allocatable and have < number:
                inventory.add_remark(
                    f"node {node.name}: only {have} of {number} {resource} allocatable; "
                    f"the policy has {number}"
                )


def _node_list(names: list[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{'node' if len(names) == 1 else 'nodes'} {shown}{more}"
