"""Turns files into a policy: read, group, name, write, compile, and reconcile with the nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from policykit.catalogue import resources
from policykit.errors import PolicyError, SourceError
from policykit.importer.cards import product_keys, product_named
from policykit.importer.draft import Draft
from policykit.importer.files import Files, ImportedFiles
from policykit.importer.label_scheme import UsageKey, scheme_of, usage_key
from policykit.importer.nodes import Group, add_node_remarks, groups, with_cards
from policykit.importer.pools import PoolGroups, add_pools
from policykit.importer.sections import add_targets
from policykit.importer.topology import add_topology
from policykit.importer.workloads import add_workloads
from policykit.kube.names import dns_subdomain_problem
from policykit.manifests.node import Node as YamlNode
from policykit.manifests.parser import parse
from policykit.manifests.path import Path, dotted
from policykit.model.cluster import Cluster
from policykit.model.inventory import Component, Inventory, Node
from policykit.model.pool import Amounts, Pool
from policykit.namedtuple import NamedTuple
from policykit.policy.compile.releases import release
from policykit.policy.files import API_VERSION, KIND
from policykit.policy.load import load_text
from policykit.targets import target_of_sharing

_FILE = "policykit.yaml"
_ROUNDS = 4
Notify = Callable[[str], None]


def reconcile(draft: Draft, named: PoolGroups, notify: Notify) -> Cluster:
    """The compiled draft, changed until each pool matches its nodes.

    Invalid fields are removed from the draft and reported.
    """
    cluster = compile_draft(draft, notify)
    for _ in range(_ROUNDS):
        changed = [_correct_pool(draft, named[pool.name], cluster, pool) for pool in cluster.pools]
        if not any(changed):
            break
        cluster = compile_draft(draft, notify)
    return cluster


def compile_draft(draft: Draft, notify: Notify) -> Cluster:
    """The compiled draft, after invalid fields were removed from it."""
    while True:
        text = draft.text()
        try:
            return load_text(text.encode(), _FILE, _no_files).cluster
        except PolicyError as error:
            root = next(document.root for document in parse(text) if document.root is not None)
            # One at a time: removing an item from a list moves the others.
            _, line, column = error.problems[0].place.split(":")
            path = _at(root, int(line), int(column))
            if not path:
                raise
            notify(f"{dotted(path)} is left out: {error.problems[0].message}")
            draft.remove(path)


def _no_files(path: str) -> bytes:
    raise SourceError("an imported policy reads no files", "", path)


def _at(root: YamlNode, line: int, column: int, path: Path = ()) -> Path:
    """Path of the key, value or item that starts at a position, counted from 1; empty: none."""
    if isinstance(root.entries, dict):
        children = [(key, [where, value], value) for key, (where, value) in root.entries.items()]
    else:
        children = [(number, [item], item) for number, item in enumerate(root.entries or ())]
    for step, marks, value in children:
        here = (*path, step)
        below = _at(value, line, column, here)
        if below or any((each.start.line + 1, each.start.column + 1) == (line, column) for each in marks):
            return below or here
    return ()


def _correct_pool(draft: Draft, group: Group, cluster: Cluster, pool: Pool) -> bool:
    """Corrects a pool; returns whether anything changed."""
    data: dict[str, Any] = draft.data["pools"][pool.name]
    return any(
        [
            _labels(data, group, cluster, pool),
            _taints(data, group, cluster, pool),
            _devices(data, group, pool),
        ]
    )


def _labels(data: dict[str, Any], group: Group, cluster: Cluster, pool: Pool) -> bool:
    """Turns off labels of the scheme that the nodes lack."""
    ours = group.card.keys - {group.card.key} if group.card else frozenset()
    wrong = [
        key for key, value in pool.labels.items() if group.all_labels.get(key) != value and key not in ours
    ]
    parts = {
        "usage" if key == cluster.usage_key else "product" for key in wrong if _by_scheme(key, cluster, pool)
    }
    changed = [_turn_off(data, part, "label") for part in sorted(parts)]
    return any(changed)


def _taints(data: dict[str, Any], group: Group, cluster: Cluster, pool: Pool) -> bool:
    """Turns off taints of the scheme that the nodes lack, and adds taints that only the nodes have."""
    parts = {
        "usage" if taint.key == cluster.usage_key else "product"
        for taint in set(pool.taints) - set(group.taints)
    }
    changed = [_turn_off(data, part, "taint") for part in sorted(parts)]
    if any(changed):
        return True
    lacking = [str(taint) for taint in group.taints if taint not in pool.taints]
    data.update({"taints": [*data.get("taints", ()), *lacking]} if lacking else {})
    return bool(lacking)


def _by_scheme(key: str, cluster: Cluster, pool: Pool) -> bool:
    card = cluster.card_of(pool)
    return key == cluster.usage_key or (card is not None and key == card.product_key)


def _turn_off(data: dict[str, Any], part: str, what: str) -> bool:
    stated = data.setdefault("scheme", {}).setdefault(part, {})
    changed = stated.get(what) is not False
    stated[what] = False
    return changed


def _devices(data: dict[str, Any], group: Group, pool: Pool) -> bool:
    """Adds devices that do not follow from the card to `allocatable` of the pool or shape."""
    if not group.sizes:
        return False
    if isinstance(data.get("nodes"), list):
        pairs = list(zip(data["nodes"], group.sizes, pool.shapes, strict=True))
    else:
        pairs = [(data, group.sizes[0], pool.shapes[0])]
    changed = [_amounts(data, where, size.offered, shape.allocatable) for where, size, shape in pairs]
    return any(changed)


def _amounts(
    data: dict[str, Any], where: dict[str, Any], offered: Amounts, compiled: Mapping[str, int]
) -> bool:
    missing = {r: n for r, n in offered.items() if "/" in r and compiled.get(r) != n}
    if missing:
        where["allocatable"] = {**where.get("allocatable", data.get("allocatable", {})), **missing}
    devices = {r for r in offered if "/" in r}
    others = {r for r in compiled if "/" in r} - devices
    if others and devices and "sharing" not in data and data.get("cardsPerNode") != 0:
        data["cardsPerNode"] = 0
        return True
    return bool(missing)


_NAME = "imported"
_HEAD = (
    "Written by `policykit import` from existing objects. Review it before use: guesses are marked,\n"
    "and `policykit nodes --check` compares the policy with the nodes."
)


class ImportResult(NamedTuple):
    """The policy made from existing files."""

    text: str
    cluster: Cluster
    remarks: tuple[str, ...]
    """What the policy cannot express, for the user."""


def policy_of(files: Files) -> ImportResult:
    """The policy of the nodes, queues and configurations in some files.

    Raises SourceError if they contain neither nodes nor generated pools, or cannot be read.
    """
    read = ImportedFiles(files)
    inventory = read.inventory
    if not inventory.nodes and not inventory.generated:
        one = len(files) == 1
        raise SourceError(
            "contains no Node objects" if one else "no file contains Node objects",
            "pass the output of `kubectl get nodes -o json`, or a folder that `policykit gen` wrote",
            next(iter(files)) if one else "",
        )
    add_node_remarks(inventory)
    named = named_cards(inventory)
    grouped = groups(inventory, frozenset(named))
    hidden = _hidden_card(inventory, grouped, named)
    if hidden:
        grouped = with_cards(grouped, hidden)
        inventory.add_remark(
            "no component is for pods without cards, so all generated pools are taken to have "
            f"{named[hidden]}"
        )
    key = usage_key(grouped, inventory.components, _card_keys(grouped))
    draft = Draft()
    preset = _head(draft, inventory, grouped, key)
    pools = add_pools(draft, grouped, key, preset, named)
    add_workloads(draft, inventory, key.key)
    add_topology(draft, inventory)
    cards = draft.data.get("cards", {}).items()
    by_resource = {card["resource"]: name for name, card in cards if "resource" in card}
    for reader in read.readers:
        reader.name_cards(by_resource)
    for node in inventory.nodes.values():
        if node.virtual and (target := target_of_sharing(node.virtual.mode)):
            inventory.targets.setdefault(target, {})
    add_targets(draft, inventory)
    draft.data["generate"] = {"out": "generated"}
    _captions(draft)
    cluster = reconcile(draft, pools, inventory.add_remark)
    for reader in read.readers:
        if reader.target_name in cluster.targets:
            reader.add_options(draft.data, cluster)
    cluster = compile_draft(draft, inventory.add_remark)
    return ImportResult(draft.text(), cluster, tuple(inventory.remarks))


def named_cards(inventory: Inventory) -> dict[str, str]:
    """Product, or resource outside the catalogue, to the name that generated components give the card."""
    by_product: dict[str, str] = {}
    unknown: dict[str, None] = {}
    for component in inventory.components:
        products = _products(component)
        if component.card and not products:
            unknown[component.card] = None
        by_product.update(dict.fromkeys(products, component.card) if component.card else {})
    uncatalogued = dict.fromkeys(
        resource
        for source in (*(node.allocatable for node in inventory.nodes.values()), *_fits(inventory))
        for resource in source
        if "/" in resource and resources.resource(resource) is None
    )
    for resource in uncatalogued:
        short = resource.rpartition("/")[2]
        if short in unknown:
            by_product[resource] = short
    return by_product


def _hidden_card(inventory: Inventory, grouped: tuple[Group, ...], named: Mapping[str, str]) -> str:
    """The resource of the only card in generated files, if every pool must have it; else empty."""
    cards = {component.card for component in inventory.components}
    if "" in cards or len(cards) != 1 or any(group.card for group in grouped):
        return ""
    return next((resource for resource, name in named.items() if "/" in resource and name in cards), "")


def _fits(inventory: Inventory) -> Iterable[Iterable[str]]:
    return [target.get("fit", {}) for target in inventory.targets.values()]


def _products(component: Component) -> list[str]:
    """Products that a component selects or tolerates, as policies write them."""
    stated = [(key, value) for key, listed in component.required for value in listed]
    stated += [(each.key, each.value) for each in component.tolerations if each.value]
    return list(dict.fromkeys(product for key, value in stated if (product := product_named(key, value))))


def _card_keys(grouped: Iterable[Group]) -> frozenset[str]:
    keys = {each.key for each in product_keys()}
    return frozenset(keys | {group.card.resource for group in grouped if group.card})


def _head(draft: Draft, inventory: Inventory, grouped: tuple[Group, ...], key: UsageKey) -> str:
    """Writes name, domain, version and scheme; returns the preset."""
    scheme = scheme_of(inventory, grouped, key)
    named = inventory.policy if not dns_subdomain_problem(inventory.policy) else _NAME
    draft.data.update({"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": named}})
    if named == _NAME:
        draft.note(("metadata", "name"), "choose the name of the cluster")
    if scheme.domain and not dns_subdomain_problem(scheme.domain):
        draft.data["domain"] = scheme.domain
    version = _kubernetes(inventory.nodes.values()) or inventory.release
    if version:
        draft.data.update(kubernetes=version)
    if scheme.provider:
        draft.data["provider"] = scheme.provider
    draft.data["scheme"] = scheme.data
    if key.guess:
        draft.note(("scheme", "usage"), key.guess)
    draft.data["coverage"] = "partial"
    return scheme.preset


def _kubernetes(nodes: Iterable[Node]) -> str:
    """1.36: the newest kubelet release; an API server is never older."""
    releases = Counter(parsed[:2] for node in nodes if (parsed := release(node.kubelet)))
    return ".".join(map(str, max(releases))) if releases else ""


def _captions(draft: Draft) -> None:
    draft.caption(("apiVersion",), _HEAD)
    draft.caption(("scheme",), "How nodes are labelled and tainted: a preset, and the differences from it.")
    draft.caption(("coverage",), "Set it to complete once the pools below include every node of the cluster.")
    draft.caption(("cards",), "Cards, by the names used in this file.")
    draft.caption(("pools",), "Groups of similar nodes. `allocatable` is the least that each node offers.")
    draft.caption(
        ("placements",), "How pods are placed on suitable nodes; workload kinds refer to these by name."
    )
    draft.caption(("tenants",), "Teams and their namespaces.")
    draft.caption(("reservations",), "Capacity reserved for pods that do not exist yet.")
    draft.caption(("workloads",), "Workload kinds: where each may run, and where it prefers to run.")
    draft.caption(
        ("targets",), "Systems that `policykit gen` writes configuration for, besides nodes and Kubernetes."
    )
