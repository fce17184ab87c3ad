"""Groups of nodes as the `cards` and `pools` of a policy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from policykit.importer import names, node_labels
from policykit.importer.cards import CardEntry, discovery
from policykit.importer.draft import Draft
from policykit.importer.label_scheme import UsageKey, guessed_usage, kind_of, usage
from policykit.importer.nodes import INSTANCE_TYPE, Group, Size, same_size
from policykit.kube.names import dns_subdomain_problem
from policykit.model.pool import Amounts
from policykit.model.shared_cards import NAMES
from policykit.namedtuple import NamedTuple
from policykit.policy.compile.pools import PODS_PER_NODE
from policykit.policy.presets import PRESETS
from policykit.targets.import_values import quantities

PoolGroups = dict[str, Group]
"""Pool name to group."""

_KINDS = ("training", "inference", "hybrid", "")
"""The order of pools in the policy."""


class PoolContext(NamedTuple):
    """What all pools share."""

    key: UsageKey
    preset: str
    discovery: str
    """Who writes the labels of cards according to the scheme."""
    cards: Mapping[CardEntry, str]
    """Card entry to name."""
    sizes: Mapping[CardEntry, int]
    """Cards per node if all nodes with the card agree; 0: they differ, or it is unknown."""

    def usage(self, group: Group) -> tuple[str, str]:
        """Usage of a group, and what it is guessed from; the latter is empty if the nodes state the usage."""
        return (usage(group, self.key), "") if self.key.key else guessed_usage(group)


def add_pools(
    draft: Draft, groups: tuple[Group, ...], key: UsageKey, preset: str, card_names: Mapping[str, str]
) -> PoolGroups:
    """Writes `cards` and `pools`; `card_names` maps product or resource to the name in generated files."""
    groups = tuple(_with_product_key(group, preset) for group in groups)
    cards = names.card_names([group.card for group in groups if group.card], card_names)
    scheme = draft.data["scheme"]
    writer = scheme.get("discovery", "") if isinstance(scheme, dict) else ""
    context = PoolContext(key, preset, writer, cards, {entry: _one_size(groups, entry) for entry in cards})
    if cards:
        draft.data["cards"] = {cards[g.card.entry]: _card(g, context) for g in groups if g.card}
    named: PoolGroups = {}
    draft.data["pools"] = {}
    for name, group in _by_name(context, groups).items():
        named[name], found_by = _selected_nodes(group, groups)
        draft.data["pools"][name] = _pool(draft, name, named[name], context, found_by)
    return named


def _with_product_key(group: Group, preset: str) -> Group:
    """The group with its product label stated, if a cloud wrote it and the preset does not know it."""
    card = group.card
    if card is None or card.writer != "cloud" or card.key in PRESETS[preset].product_keys.values():
        return group
    entry = {**dict(card.entry), "productKey": card.key, "labels": ((card.key, card.label_value),)}
    return group._replace(card=card._replace(entry=tuple(entry.items())))


def _card(group: Group, context: PoolContext) -> dict[str, Any]:
    assert group.card is not None
    entry = {key: dict(value) if key == "labels" else value for key, value in group.card.entry}
    number = context.sizes[group.card.entry]
    return {**entry, "perNode": number} if number and not group.card.default_count else entry


def _one_size(groups: tuple[Group, ...], entry: CardEntry) -> int:
    having = [group for group in groups if group.card and group.card.entry == entry]
    numbers = {_cards_per_node(group, size) for group in having for size in group.sizes}
    return numbers.pop() if len(numbers) == 1 else 0


def _by_name(context: PoolContext, groups: tuple[Group, ...]) -> PoolGroups:
    """Generated pools in their order; then pools for training, inference and both, cards first.

    Names that several would have get the value of a label that differs, else a number.
    """

    def rank(group: Group) -> tuple[object, ...]:
        stated, _ = context.usage(group)
        order = (_KINDS.index(kind_of(stated)), stated, not group.card, group.names[:1])
        return (0, groups.index(group)) if group.generated else (1, *order)

    bases: dict[str, list[Group]] = {}
    for group in groups:
        bases.setdefault(_name(group, context), []).append(group)
    named: PoolGroups = {}
    for group in sorted(groups, key=rank):
        base = _name(group, context)
        suffixes = names.suffixes([each.labels for each in bases[base]])
        ending = suffixes[bases[base].index(group)] if len(bases[base]) > 1 else ""
        named[names.free(f"{base}-{ending}" if ending else base, named)] = group
    return named


def _name(group: Group, context: PoolContext) -> str:
    if group.generated:
        return names.pool_name(group.generated.name, "", "", {})
    named = [key for key in node_labels.NODE_POOLS if key not in node_labels.NODE_POOL_IDS]
    pool = next((group.all_labels[key] for key in named if group.all_labels.get(key)), "")
    silent = {context.key.key, *node_labels.NODE_POOL_IDS}
    others = {key: value for key, value in group.labels.items() if key not in silent}
    card = context.cards[group.card.entry] if group.card else ""
    return names.pool_name(names.plain(pool), context.usage(group)[0], card, others)


def _pool(
    draft: Draft, name: str, group: Group, context: PoolContext, found_by: dict[str, str]
) -> dict[str, Any]:
    pool: dict[str, Any] = {}
    stated, source = context.usage(group)
    if stated:
        pool["usage"] = stated
        if source:
            draft.note(("pools", name, "usage"), f"guessed from {source}")
    if group.card:
        pool["card"] = context.cards[group.card.entry]
    pool |= _node_fields(group, found_by)
    if found_by and not group.generated:
        total = len(group.names)
        draft.note(("pools", name, "nodes"), f"{total} {'node' if total == 1 else 'nodes'} now")
    pool |= _cards(draft, name, group, context)
    labels = {k: v for k, v in group.labels.items() if k not in found_by}
    if stated and context.key.labelled:
        labels.pop(context.key.key, None)
    if len(group.sizes) == 1:
        labels |= group.sizes[0].location
    if labels:
        pool["labels"] = labels
    if group.cordoned:
        pool["unschedulable"] = True
        draft.note(("pools", name, "unschedulable"), "all its nodes are cordoned now")
    return pool


def _cards(draft: Draft, name: str, group: Group, context: PoolContext) -> dict[str, Any]:
    """Number, sharing and discovery of the cards if they differ from the defaults."""
    card = group.card
    if card is None:
        return {}
    fields: dict[str, Any] = {}
    number = _cards_per_node(group, group.sizes[0] if group.sizes else None)
    usual = card.default_count or context.sizes[card.entry]
    # If the catalogue lists several sizes, gen writes a count label only for a stated number.
    counted = len(card.sizes) > 1 and bool(card.label_count(group.all_labels))
    if number and (number != usual or counted):
        fields["cardsPerNode"] = number
    if card.sharing.options:
        fields["sharing"] = dict(card.sharing.options)
        if card.sharing.guess:
            draft.note(("pools", name, "sharing"), f"guessed: {card.sharing.guess}")
    writer = discovery(card, context.preset, context.discovery)
    return {**fields, "scheme": {"discovery": writer}} if writer else fields


def _by_shapes(group: Group, found_by: dict[str, str]) -> bool:
    """Whether the nodes differ in size or location and need one shape each."""
    if found_by:
        return any(size.instance_type for size in group.sizes)
    return len(group.sizes) > 1 and (group.generated is None or bool(group.generated.names))


def _alike(sizes: Iterable[Size]) -> bool:
    """Whether sizes differ only in location and slightly in memory."""
    first, *others = [size.offered for size in sizes] or [{}]
    return all(same_size(each, first) for each in others)


def _selected_nodes(group: Group, groups: tuple[Group, ...]) -> tuple[Group, dict[str, str]]:
    """A group, and the labels that select its nodes; empty: they are listed or counted instead.

    The labels come from generated files, else from the node pool, plus one more label if the node
    pool has other nodes. Node names in a node pool do not last, so sizes are distinguished by
    instance type, and the group then has one size for each type.
    """
    pool = group.generated
    stated = pool and (pool.selector or pool.names or pool.minimum or pool.maximum is not None)
    found_by = dict(pool.selector) if pool and stated else _node_pool(group, groups)
    if not found_by or _alike(group.sizes):
        return group, found_by
    sizes = _by_instance_type(group.sizes)
    if sizes:
        return group._replace(sizes=sizes), found_by
    return group, found_by if pool else {}


def _node_pool(group: Group, groups: tuple[Group, ...]) -> dict[str, str]:
    for key in node_labels.NODE_POOLS:
        value = group.all_labels.get(key)
        if not value:
            continue
        others = [each for each in groups if each is not group and each.all_labels.get(key) == value]
        if not others:
            return {key: value}
        for more, label_value in sorted(group.labels.items()):
            if label_value and all(each.labels.get(more) != label_value for each in others):
                return {key: value, more: label_value}
    return {}


def _by_instance_type(sizes: tuple[Size, ...]) -> tuple[Size, ...]:
    """One size for each instance type; empty: the types do not distinguish the sizes."""
    by_type: dict[str, list[Size]] = {}
    for size in sizes:
        for machine in size.instance_types:
            by_type.setdefault(machine, []).append(size)
    if "" in by_type or not all(_alike(having) for having in by_type.values()):
        return ()
    return tuple(_merged(machine, having) for machine, having in sorted(by_type.items()))


def _merged(machine: str, sizes: list[Size]) -> Size:
    first, *others = sizes
    place = {k: v for k, v in first.location.items() if all(each.location.get(k) == v for each in others)}
    names = tuple(sorted(name for size in sizes for name in size.names))
    return Size(_least(sizes), place, names, first.label_count, (machine,), machine)


def _node_fields(group: Group, found_by: dict[str, str]) -> dict[str, Any]:
    """`nodes` and `allocatable` of a pool, as far as known."""
    has = _allocatable(group, _least(group.sizes)) if group.sizes else {}
    if _by_shapes(group, found_by):
        same = _alike(group.sizes)
        shapes = [_shape(group, size, found_by, same) for size in group.sizes]
        return {"nodes": shapes, **({"allocatable": has} if same and has else {})}
    which = {"selector": found_by} if found_by else _which(group)
    fields: dict[str, Any] = {"nodes": which} if which is not None else {}
    return {**fields, "allocatable": has} if has else fields


def _least(sizes: Sequence[Size]) -> dict[str, int]:
    """Least amounts that nodes of these sizes offer."""
    first, *others = (size.offered for size in sizes)
    found = {r: min(n, *(each.get(r, 0) for each in others)) if others else n for r, n in first.items()}
    return {resource: number for resource, number in found.items() if number}


def _cards_per_node(group: Group, size: Size | None) -> int:
    """Whole cards of a node of this size; 0: unknown."""
    if group.card is None:
        return 0
    if group.card.sharing.options:
        return group.card.sharing.cards
    if size is None:
        return group.card.label_count(group.all_labels)
    return size.label_count or size.offered.get(group.card.resource, 0)


def _shape(group: Group, size: Size, found_by: dict[str, str], same: bool) -> dict[str, Any]:
    """One shape; `same`: the pool states `allocatable` for all of them."""
    named = {"selector": {**found_by, INSTANCE_TYPE: size.instance_type}} if found_by else _listed(size.names)
    shape: dict[str, Any] = {"nodes": named}
    has = _allocatable(group, size.offered)
    if has and not same:
        shape["allocatable"] = has
    number, first = _cards_per_node(group, size), _cards_per_node(group, group.sizes[0])
    if number and number != first:
        shape["cardsPerNode"] = number
    if size.location:
        shape["labels"] = dict(size.location)
    return shape


def _which(group: Group) -> Any:
    """Names, a number or a range; None: unknown."""
    pool = group.generated
    if pool is None:
        return _listed(group.names)
    if pool.names:
        return _listed(pool.names)
    if pool.minimum == pool.maximum:
        return pool.minimum
    if pool.maximum is None and not pool.minimum:
        return len(group.names) or None
    return {"min": pool.minimum, **({"max": pool.maximum} if pool.maximum is not None else {})}


def _listed(nodes: tuple[str, ...]) -> Any:
    """Names, or their number if a policy does not accept one of the names."""
    if any(dns_subdomain_problem(node) for node in nodes):
        return len(nodes)
    return {"names": names.ranges(nodes)}


def _allocatable(group: Group, offered: Amounts) -> dict[str, str | int]:
    """What pods may use, without what follows from the card or the kubelet's default."""
    implied = {"pods"} if offered.get("pods") == PODS_PER_NODE else set()
    if group.card:
        implied |= {group.card.resource, f"{group.card.resource}.shared"}
        if group.card.sharing.options:
            implied |= {resource for resource in offered if resource.startswith("nvidia.com/mig-")}
            implied |= {*NAMES.get(group.card.sharing.options["mode"], ())}
    return quantities({resource: number for resource, number in offered.items() if resource not in implied})
