"""Tolerations of node daemons, without which the labels of discovery never appear."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policykit.catalogue import cards as catalogue
from policykit.catalogue.daemons import charts
from policykit.generator.artifact import Artifact, Role
from policykit.kube.tolerations import to_dict, tolerates
from policykit.manifests.writer import dump
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool, Taint, Toleration

FOLDER = "nodes/daemons"


def write(cluster: Cluster) -> Iterator[Artifact]:
    """Helm values per chart, and a patch per vendor whose plugin is installed from manifests."""
    tainted = _taints_by_vendor(cluster)
    if not tainted:
        return
    every = tuple(dict.fromkeys(taint for pool in cluster.pools for taint in _taints(cluster, pool)))
    for chart, lists in _charts(tainted).items():
        values: dict[str, Any] = {}
        for path, vendor, shipped in lists:
            needed = complete_tolerations(shipped, tainted[vendor] if vendor else every)
            if len(needed) > len(shipped):
                _put(values, path.split("."), [to_dict(toleration) for toleration in needed])
        if values:
            says = (
                f"---\n# Values for the chart {chart}.\n"
                "# Helm replaces whole lists, so the chart's own entries are repeated.\n"
            )
            yield Artifact(f"{FOLDER}/{chart}.yaml", says + dump(values), Role.VALUES)
    with_chart = {vendor for lists in _charts(tainted).values() for _, vendor, _ in lists}
    for vendor in sorted(set(tainted) - with_chart):
        yield from _patch(vendor, tainted[vendor])


def complete_tolerations(shipped: Iterable[Toleration], taints: Iterable[Taint]) -> tuple[Toleration, ...]:
    """The shipped tolerations, plus one by key for every taint that none of them tolerates."""
    needed = list(shipped)
    for taint in sorted(taints):
        if not any(tolerates(toleration, taint) for toleration in needed):
            needed.append(Toleration(taint.key, "Exists", effect=taint.effect))
    return tuple(needed)


def unknown_vendor_taints(cluster: Cluster) -> dict[str, tuple[Taint, ...]]:
    """Cards of an unknown vendor, and the hard taints of the pools with them."""
    found: dict[str, dict[Taint, None]] = {}
    for pool in cluster.pools:
        if pool.card and pool.hard_taints and not hardware_vendor(cluster, pool):
            found.setdefault(pool.card, {}).update(dict.fromkeys(pool.hard_taints))
    return {card: tuple(taints) for card, taints in found.items()}


def _taints_by_vendor(cluster: Cluster) -> dict[str, tuple[Taint, ...]]:
    """Vendor of the cards to the hard taints of pools with them, without vendors that have none."""
    found: dict[str, dict[Taint, None]] = {}
    for pool in cluster.pools:
        vendor = hardware_vendor(cluster, pool)
        if vendor and pool.hard_taints:
            found.setdefault(vendor, {}).update(dict.fromkeys(_taints(cluster, pool)))
    return {vendor: tuple(taints) for vendor, taints in found.items()}


def _taints(cluster: Cluster, pool: Pool) -> Iterator[Taint]:
    """The hard taints of a pool, also under the former keys that its nodes may still have."""
    for taint in pool.hard_taints:
        yield taint
        yield from (taint._replace(key=old) for old in cluster.formerly.former_keys(taint.key))


def hardware_vendor(cluster: Cluster, pool: Pool) -> str:
    """Id of the vendor whose daemons run on the pool's nodes; empty: unknown."""
    card = cluster.card_of(pool)
    vendor = catalogue.vendor(card.vendor) if card and card.vendor else None
    return (vendor.hardware or vendor.vendor) if vendor else ""


def _charts(vendors: Mapping[str, object]) -> dict[str, list[tuple[str, str, tuple[Toleration, ...]]]]:
    """Chart to (path of the list, vendor, shipped), for these vendors and for every node."""
    found: dict[str, list[tuple[str, str, tuple[Toleration, ...]]]] = {}
    for each in charts():
        if not each.vendor or each.vendor in vendors:
            found.setdefault(each.chart, []).append((each.value, each.vendor, each.tolerations))
    return found


def _patch(vendor: str, taints: Iterable[Taint]) -> Iterator[Artifact]:
    """A strategic merge patch for a DaemonSet with a whole list, since `tolerations` has no merge key."""
    known = catalogue.vendor(vendor)
    shipped = known.daemon_tolerations if known else ()
    needed = complete_tolerations(shipped, taints)
    if len(needed) == len(shipped):
        return
    patch = {"spec": {"template": {"spec": {"tolerations": [to_dict(toleration) for toleration in needed]}}}}
    file = f"{vendor}-daemonset.yaml"
    says = (
        f"---\n# {known.name if known else vendor}: for each DaemonSet, such as device plugin and labeller.\n"
        f"#   kubectl patch daemonset NAME -n NAMESPACE --patch-file {file}\n"
        "# The list replaces the existing one: add any other tolerations of yours.\n"
    )
    yield Artifact(f"{FOLDER}/{file}", says + dump(patch), Role.VALUES)


def _put(values: dict[str, Any], path: list[str], leaf: object) -> None:
    for step in path[:-1]:
        values = values.setdefault(step, {})
    values[path[-1]] = leaf
