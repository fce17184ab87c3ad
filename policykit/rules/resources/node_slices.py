"""Labels of nodes that ask NVIDIA's MIG manager for slices: part of the rule about plugin configurations."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policykit.catalogue import cards
from policykit.linter.rule import Violation
from policykit.manifests.document import Manifest
from policykit.model.cluster import Cluster
from policykit.model.severity import Severity
from policykit.targets.nodes.node_settings import NodeSettings, read

KINDS = frozenset({"Node", "NodeFeatureRule", "NodePool"})
_SLICES = "nvidia.com/mig.config"
_PRODUCT = "nvidia.com/gpu.product"
_OF_ALL = re.compile(r"all-([1-8]g\.[0-9]+gb)(?:\.(?:me|gfx|me\.all))?\Z")
"""Names in the configuration that comes with the manager: every card in slices of one profile."""


def violations(manifest: Manifest, cluster: Cluster | None) -> Iterator[Violation]:
    """Slices that the card named by a label lacks, or else every card of a policy that lists all pools.

    Source: NVIDIA/mig-parted deployments/gpu-operator, and the tables of profiles of each card.
    """
    for marks in read(manifest):
        stated = marks.labels.get(_SLICES, "")
        found = _OF_ALL.match(stated)
        known = _models(marks, cluster) if found else []
        if found is None or not known or any(found[1] in profiles(each) for each in known):
            continue
        names = ", ".join(dict.fromkeys(each.product for each in known))
        have = "has" if len(known) == 1 else "have"
        some = f"one of its profiles: {', '.join(profiles(known[0]))}"
        yield Violation(
            marks.label_at(_SLICES),
            f"{_SLICES} is {stated}, but {names} {have} no slices {found[1]}: the nodes offer no card",
            f"use {some if len(known) == 1 else 'a profile of the card'}",
            Severity.WARNING,
        )


def _models(marks: NodeSettings, cluster: Cluster | None) -> list[cards.Product]:
    """The cards that these nodes may have; empty: unknown, or not all of them can be partitioned."""
    stated = marks.labels.get(_PRODUCT)
    return _sliced([stated] if stated else _products(cluster))


def cards_of(cluster: Cluster | None) -> list[cards.Product]:
    """Those of a policy that lists all pools; empty: unknown, or not all of them can be partitioned."""
    return _sliced(_products(cluster))


def _products(cluster: Cluster | None) -> list[str]:
    pools = cluster.pools if cluster is not None and cluster.complete else ()
    return [card.product for pool in pools if cluster and (card := cluster.card_of(pool))]


def _sliced(values: list[str]) -> list[cards.Product]:
    found = [variant.product for value in values if (variant := cards.variant(value))]
    sliced = len(found) == len(values) and all(each.mig_profiles for each in found)
    return found if sliced else []


def profiles(product: cards.Product) -> list[str]:
    """Without those that add media engines."""
    every = (*product.mig_profiles, *product.older_mig_profiles)
    return list(dict.fromkeys(name for name in every if "+" not in name))
