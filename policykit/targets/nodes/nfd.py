"""Node Feature Discovery: rules that label and taint a pool's nodes, matched by name or card."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.generator.artifact import Artifact, Role
from policykit.manifests.writer import dump
from policykit.model.cluster import Cluster
from policykit.model.node_labels import in_domain
from policykit.model.pool import Pool, Shape
from policykit.namedtuple import NamedTuple
from policykit.targets.nodes.clouds import PoolFiles
from policykit.targets.nodes.daemons import hardware_vendor
from policykit.targets.nodes.existing_nodes import taint_data
from policykit.targets.nodes.node_groups import pool_taints, shape_labels

_RESERVED = ("kubernetes.io",)
_OPEN = ("feature.node.kubernetes.io", "profile.node.kubernetes.io")
"""Domains below the reserved one that rules may use; taints only the first."""


class Device(NamedTuple):
    """PCI devices of a vendor that are cards."""

    vendor: str
    classes: tuple[str, ...] = ()
    """Empty: all devices of the vendor."""


_DEVICES: Mapping[str, Device] = {
    "amd": Device("1002", ("0380", "1200")),
    "cambricon": Device("cabc"),
    "enflame": Device("1e36"),
    "furiosa": Device("1ed2"),
    "huawei": Device("19e5", ("1200",)),
    "iluvatar": Device("1e3e"),
    "intel-gaudi": Device("1da3"),
    "metax": Device("9999"),
    "mthreads": Device("1ed5"),
    "nvidia": Device("10de", ("0300", "0302")),
    "rebellions": Device("1eff"),
    "vastai": Device("1ec6"),
}
"""Vendor to its cards as PCI devices. Vendor numbers: pci.ids of August 2026."""


def write(cluster: Cluster, pool: Pool) -> PoolFiles:
    """`nfd.yaml`: a NodeFeatureRule (nfd.k8s-sigs.io/v1alpha1)."""
    rules = list(_rules(cluster, pool))
    notices = list(_left_out(cluster, pool, rules))
    if not rules:
        return PoolFiles((), tuple(notices))
    document = {
        "apiVersion": "nfd.k8s-sigs.io/v1alpha1",
        "kind": "NodeFeatureRule",
        "metadata": {"name": f"policykit-{pool.name}"},
        "spec": {"rules": rules},
    }
    says = "---\n# Nodes lose these labels when the rule is deleted or no longer matches.\n"
    if any("taints" in rule for rule in rules):
        says += "# Taints need enableTaints: true in the configuration of nfd-master.\n"
    return PoolFiles(
        (Artifact(f"nodes/{pool.name}/nfd.yaml", says + dump(document), Role.NODE),), tuple(notices)
    )


def may_label(key: str) -> bool:
    """Whether a rule can set a label with this key: NFD prefixes keys without a domain."""
    return "/" in key and (not in_domain(key, _RESERVED) or in_domain(key, _OPEN))


def may_taint(key: str) -> bool:
    """Whether a rule can set a taint with this key."""
    return "/" in key and (not in_domain(key, _RESERVED) or in_domain(key, _OPEN[:1]))


def device(cluster: Cluster, pool: Pool) -> Device | None:
    """Card devices that only this pool has; None: there are none."""
    maker = hardware_vendor(cluster, pool)
    alone = all(each is pool or hardware_vendor(cluster, each) != maker for each in cluster.pools)
    return _DEVICES.get(maker) if maker and alone and cluster.complete else None


def _rules(cluster: Cluster, pool: Pool) -> Iterator[dict[str, Any]]:
    taints = [taint_data(taint) for taint in pool_taints(cluster, pool) if may_taint(taint.key)]
    for number, (shape, match) in enumerate(_matches(cluster, pool), 1):
        labels = {key: v for key, v in shape_labels(cluster, pool, shape).items() if may_label(key)}
        marks = {"labels": labels, "taints": taints}
        stated = {key: value for key, value in marks.items() if value}
        if stated:
            yield {"name": f"{pool.name} {number}", **stated, "matchFeatures": [match]}


def _matches(cluster: Cluster, pool: Pool) -> Iterator[tuple[Shape, dict[str, Any]]]:
    for shape in pool.shapes:
        if shape.node_names:
            yield shape, _feature("system.name", {"nodename": shape.node_names})
    unnamed = [shape for shape in pool.shapes if not shape.node_names]
    card = device(cluster, pool)
    # Cards do not distinguish nodes of several shapes.
    if card and len(unnamed) == len(pool.shapes) == 1:
        classes = {"class": card.classes} if card.classes else {}
        yield unnamed[0], _feature("pci.device", {"vendor": (card.vendor,), **classes})


def _feature(feature: str, attributes: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    expressions = {name: {"op": "In", "value": sorted(values)} for name, values in attributes.items()}
    return {"feature": feature, "matchExpressions": expressions}


def _left_out(cluster: Cluster, pool: Pool, rules: list[dict[str, Any]]) -> Iterator[str]:
    matched = [id(shape) for shape, _ in _matches(cluster, pool)]
    if any(id(shape) not in matched for shape in pool.shapes):
        yield (
            f"pool {pool.name}: an NFD rule matches nodes by name, or by cards that only this pool of a "
            "complete policy has; neither matches all its nodes, so nfd.yaml omits the others. Give names "
            "under nodes"
        )
    keys = {key for shape in pool.shapes for key in shape_labels(cluster, pool, shape)}
    refused = [f"label {key}" for key in sorted(keys) if not may_label(key)]
    refused += [f"taint {taint}" for taint in pool_taints(cluster, pool) if not may_taint(taint.key)]
    if refused and rules:
        yield (
            f"pool {pool.name}: NFD sets no key without a domain or under kubernetes.io, so nfd.yaml omits "
            f"{', '.join(refused)}; labels.sh and taints.sh set them"
        )
