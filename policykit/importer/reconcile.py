"""Reconciles a drafted policy with the nodes: it compiles, and each pool has what its nodes have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from policykit.errors import PolicyError, SourceError
from policykit.importer.draft import Draft
from policykit.importer.groups import Group
from policykit.importer.pools import PoolGroups
from policykit.manifests.node import Node
from policykit.manifests.parser import parse
from policykit.manifests.path import Path, dotted
from policykit.model.cluster import Cluster
from policykit.model.pool import Amounts, Pool
from policykit.policy.load import load_text

_FILE = "policykit.yaml"
_ROUNDS = 4
Say = Callable[[str], None]


def reconcile(draft: Draft, named: PoolGroups, say: Say) -> Cluster:
    """The compiled draft, changed until each pool matches its nodes.

    Invalid fields are removed from the draft and reported.
    """
    cluster = compile_draft(draft, say)
    for _ in range(_ROUNDS):
        changed = [_correct_pool(draft, named[pool.name], cluster, pool) for pool in cluster.pools]
        if not any(changed):
            break
        cluster = compile_draft(draft, say)
    return cluster


def compile_draft(draft: Draft, say: Say) -> Cluster:
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
            say(f"{dotted(path)} is left out: {error.problems[0].message}")
            draft.remove(path)


def _no_files(path: str) -> bytes:
    raise SourceError("an imported policy reads no files", "", path)


def _at(root: Node, line: int, column: int, path: Path = ()) -> Path:
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
