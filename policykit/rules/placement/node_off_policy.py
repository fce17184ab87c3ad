"""Labels and taints of nodes disagree with each other or with the policy.

Pods select labels and tolerate taints. A node with one usage in its taint and another in its label
accepts the pods of neither, and a node without a taint of its pool accepts the pods of others.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.patch import APPEND, Patch
from policykit.manifests.path import lookup
from policykit.manifests.writer import scalar
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool, Taint
from policykit.model.severity import Applicability, Severity
from policykit.targets.nodes.existing_nodes import taint_data
from policykit.targets.nodes.node_settings import NodeSettings, read

BAD = """\
apiVersion: v1
kind: Node
metadata:
  name: gpu-1
  labels:
    maip.mxsf.io/node.usage: training
    nvidia.com/gpu.product: NVIDIA-H20
spec:
  taints:
  - {key: maip.mxsf.io/node.usage, value: training, effect: NoSchedule}
"""

GOOD = BAD + "  - {key: nvidia.com/gpu.product, value: NVIDIA-H20, effect: NoSchedule}\n"

_MACHINES = ("karpenter.k8s.aws/instance-gpu-name", "karpenter.azure.com/sku-gpu-name")
"""Labels by which Karpenter fixes the card of its nodes."""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Compares labels with taints, then both with the pools, for each set of nodes."""
    cluster = context.cluster
    if cluster is None:
        return
    for marks in read(manifest):
        stated = (*marks.labels.items(), *marks.taints)
        if any(is_placeholder(text) for each in stated for text in each):
            continue
        contradictions = list(_contradictions(marks, cluster))
        yield from contradictions
        if not contradictions:
            yield from _off_policy(manifest, marks, cluster)


def _contradictions(marks: NodeSettings, cluster: Cluster) -> Iterator[Violation]:
    for at, taint in enumerate(marks.taints):
        label = marks.labels.get(taint.key)
        if taint.key in _policy_keys(cluster) and label and taint.value and label != taint.value:
            yield Violation(
                (*marks.taints_at, at),
                f"the taint is {taint.key}={taint.value}, but the label is {label}",
                "use the same value in both: pods tolerate the value they select",
                Severity.ERROR,
            )


def _off_policy(manifest: Manifest, marks: NodeSettings, cluster: Cluster) -> Iterator[Violation]:
    named = {key: marks.labels[key] for key in _policy_keys(cluster) if key in marks.labels}
    if not named:
        return
    agreeing = [pool for pool in cluster.pools if _matches(pool, named)]
    pools = [pool for pool in agreeing if named.keys() & pool.labels.keys()] or agreeing
    if not pools:
        yield from _unknown_pool(marks, cluster, named)
        return
    yield from _foreign_taints(marks, cluster, pools)
    lacking = {pool.name: _missing_taints(marks, pool) for pool in pools}
    if marks.taints_final and all(lacking.values()):
        pool = min(pools, key=lambda each: len(lacking[each.name]))
        taints = lacking[pool.name]
        yield Violation(
            marks.taints_at,
            f"nodes of pool {pool.name} have taint {taints[0]}, but these do not",
            "add the taint, so that other pods cannot land there:\n"
            + "\n".join(_item(taint) for taint in taints),
            fix=partial(_fix, manifest, marks, taints) if len(pools) == 1 else None,
        )
    yield from _missing_product_label(marks, cluster, pools)


def _policy_keys(cluster: Cluster) -> list[str]:
    """The usage key and the product keys of the cards, in the policy's order."""
    keys = (cluster.usage_key, *(card.product_key for card in cluster.cards.values()))
    return list(dict.fromkeys(key for key in keys if key))


def _matches(pool: Pool, named: dict[str, str]) -> bool:
    """Nodes of a pool that does not declare a label may have any value of it."""
    return all(pool.labels.get(key, value) == value for key, value in named.items())


def _unknown_pool(marks: NodeSettings, cluster: Cluster, named: dict[str, str]) -> Iterator[Violation]:
    """A value that no pool has, or, if the policy is complete, a combination that no pool has."""
    for key, value in named.items():
        known = sorted({pool.labels[key] for pool in cluster.pools if key in pool.labels})
        if known and value not in known and (cluster.complete or key == cluster.usage_key):
            yield Violation(
                marks.label_at(key),
                f"the label is {key}={value}, but the pools of the policy have {', '.join(known)}",
                "use the value of the pool these nodes belong to, or declare the pool",
            )
            return
    if cluster.complete and len(named) > 1:
        pairs = " with ".join(f"{key}={value}" for key, value in named.items())
        yield Violation(
            marks.labels_at,
            f"no pool of the policy has {pairs}",
            "declare the pool, or correct one of the labels",
        )


def _foreign_taints(marks: NodeSettings, cluster: Cluster, pools: list[Pool]) -> Iterator[Violation]:
    """Taints with keys of the policy that none of the pools has."""
    there = {taint for pool in pools for taint in pool.taints}
    for at, taint in enumerate(marks.taints):
        if taint.key not in _policy_keys(cluster) or taint in there:
            continue
        same = sorted(str(one) for one in there if one.key == taint.key)
        has = ", ".join(same) if same else "no taint with that key"
        yield Violation(
            (*marks.taints_at, at),
            f"taint {taint} does not belong to pool {pools[0].name}, which has {has}",
            "use the taint of the pool, or change the pool in the policy",
        )


def _missing_taints(marks: NodeSettings, pool: Pool) -> list[Taint]:
    """Taints of the pool whose keys are absent; a different value or effect is reported separately."""
    keys = {taint.key for taint in marks.taints}
    return [taint for taint in pool.hard_taints if taint.key not in keys]


def _missing_product_label(marks: NodeSettings, cluster: Cluster, pools: list[Pool]) -> Iterator[Violation]:
    """The product label, which discovery writes later but an autoscaler needs in the template."""
    pinned = any(len(marks.requirements.get(key, ())) == 1 for key in _MACHINES)
    cards = {pool.card: cluster.card_of(pool) for pool in pools}
    card = next(iter(cards.values())) if len(cards) == 1 else None
    if card and pinned and card.product_key and card.product_key not in marks.labels:
        product = scalar(pools[0].labels.get(card.product_key, card.product))
        yield Violation(
            marks.labels_at,
            f"the template lacks label {card.product_key}, so no node is created for a pod that selects it",
            f"add the label {card.product_key}: {product}",
        )


def _item(taint: Taint) -> str:
    return "- {" + ", ".join(f"{name}: {scalar(value)}" for name, value in taint_data(taint).items()) + "}"


def _fix(manifest: Manifest, marks: NodeSettings, taints: list[Taint]) -> Fix:
    if isinstance(lookup(manifest.data, marks.taints_at), list):
        patches = tuple(Patch("add", (*marks.taints_at, APPEND), taint_data(taint)) for taint in taints)
    else:
        patches = (Patch("add", marks.taints_at, [taint_data(taint) for taint in taints]),)
    return Fix("add the taints of the pool", patches, Applicability.UNSAFE)


RULE = Rule(
    code="PK129",
    name="node-off-policy",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"InitConfiguration", "JoinConfiguration", "Node", "NodeFeatureRule", "NodePool"}),
    needs_policy=True,
    fix=Applicability.UNSAFE,
)
