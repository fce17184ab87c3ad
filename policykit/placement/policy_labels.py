"""Labels of nodes as a policy knows them: which keys and values its pools have."""

from __future__ import annotations

import re

from policykit.catalogue import labels
from policykit.kube.affinity import NodeAffinity
from policykit.manifests.memoize import memoize_beside
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool, Taint, Toleration

_ADDONS = "CriticalAddonsOnly"


@memoize_beside
def known_values(cluster: Cluster, key: str) -> frozenset[str]:
    """Values of a key in labels and taints of the pools."""
    from_labels = {
        there[key]
        for pool in cluster.pools
        for there in (pool.labels, *(shape.labels for shape in pool.shapes))
        if key in there
    }
    from_taints = {t.value for pool in cluster.pools for t in pool.taints if t.key == key and t.value}
    return frozenset(from_labels | from_taints)


def selects_unknown_pool(cluster: Cluster, selected: NodeAffinity, *, machines: bool = False) -> bool:
    """Whether a selector or a required term wants a value of a key of node pools that no pool declares.

    `machines`: keys of types of machines count, too.
    """
    terms = (requirement for term in selected.required or () for requirement in term.expressions)
    wanted: list[tuple[str, tuple[str, ...]]] = [(key, (value,)) for key, value in selected.selector.items()]
    wanted += [(each.key, each.values) for each in terms if each.operator in ("In", "Exists")]
    return any(
        (labels.names_pool(key) or (machines and _names_machine_type(key)))
        and not known_values(cluster, key).intersection(values)
        for key, values in wanted
    )


def is_for_unlisted_nodes(selected: NodeAffinity, tolerations: tuple[Toleration, ...]) -> bool:
    """Whether pods are made for nodes that no pool is: the control plane's, virtual ones, Fargate's."""
    expressions = [each for term in selected.required or () for each in term.expressions]
    keys = [*selected.selector, *(each.key for each in expressions), *(each.key for each in tolerations)]
    values = [*selected.selector.values(), *(value for each in expressions for value in each.values)]
    listed = "\n".join(keys)
    return bool(re.search(_VIRTUAL, "\n".join((listed, *values))) or re.search(_CONTROL_PLANE, listed))


_CONTROL_PLANE = r"(?m)^node-role\.kubernetes\.io/(?:control-plane|master)"
"""The beginnings of keys."""
_VIRTUAL = r"virtual-kubelet|virtual-node|fargate|azure\.com/aci"
"""Parts of keys and values of nodes without machines, which grow without a pool."""


def _names_machine_type(key: str) -> bool:
    """A key with a list of known values names cards instead."""
    return labels.names_machine(key) and not labels.provider_values(key)


@memoize_beside
def is_known_for_every_pool(cluster: Cluster, key: str) -> bool:
    """Whether the policy determines for every pool if it has the label, and with which value."""
    from policykit.placement.landing import decidable

    return key in cluster.declared_keys and all(
        decidable(cluster, pool, {**pool.labels, **shape.labels}, key)
        for pool in cluster.pools
        for shape in pool.shapes
    )


def same_card_value(value: str, known: frozenset[str]) -> str:
    """The pools' value for the same card with another sharing suffix; empty if there is none."""
    if value in known:
        return ""
    return next(
        (
            there
            for there in sorted(known)
            if _without_sharing_suffix(there) == _without_sharing_suffix(value)
        ),
        "",
    )


def _without_sharing_suffix(value: str) -> str:
    return value.removesuffix("-SHARED").partition("-MIG-")[0]


def dedicated_keys(cluster: Cluster, pool: Pool) -> frozenset[str]:
    """Keys of the pool's hard taints, without those of Kubernetes and of clouds.

    Taints of clouds mark nodes that any pod may use, such as spot nodes.
    """
    return _dedicated(cluster, pool.taints)


@memoize_beside
def _dedicated(cluster: Cluster, taints: tuple[Taint, ...]) -> frozenset[str]:
    return frozenset(taint.key for taint in taints if taint.hard and not _is_general(cluster, taint.key))


def is_policy_label(cluster: Cluster, key: str) -> bool:
    """Whether the policy defines the meaning of a label key: usage, card or a key of its pools."""
    return key in cluster.declared_keys and not _is_general(cluster, key)


@memoize_beside
def _is_general(cluster: Cluster, key: str) -> bool:
    if key == cluster.usage_key or any(key in card.label_keys for card in cluster.cards.values()):
        return False
    return key == _ADDONS or labels.well_known(key) or bool(labels.provider(key))
