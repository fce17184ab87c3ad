"""Files for nodes: labels and taints in every form that applies, and notices about what none expresses."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.catalogue.labels import provider
from policykit.generator.artifact import Artifact, Notice, TargetOutput
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool
from policykit.targets.nodes import clouds, daemons, existing_nodes, karpenter, kubelet, nfd, readme
from policykit.targets.nodes.clouds import PoolFiles, Write
from policykit.targets.nodes.existing_nodes import is_reachable
from policykit.targets.nodes.kubelet import restricted_labels
from policykit.targets.nodes.nfd import may_taint
from policykit.targets.nodes.node_groups import (
    MAX_FILES,
    groups,
    has_settings,
    joining_groups,
    pool_taints,
    shape_labels,
)


def notices(cluster: Cluster, forms: frozenset[str]) -> list[str]:
    """One for each field or pool that a form does not cover."""
    found: list[str] = []
    if forms & {"labels", "taints"}:
        found.extend(_unknown_nodes(cluster))
    if forms & {"kubelet", "kubeadm"}:
        found.extend(_restricted_labels(cluster))
        found.extend(_too_many_locations(cluster))
    if "nfd" in forms:
        found.extend(_nfd_taints(cluster))
    found.extend(_scale_from_zero(cluster))
    return found


def _nfd_taints(cluster: Cluster) -> Iterator[str]:
    """Notices about prerequisites for taints by NFD."""
    if any(may_taint(taint.key) for pool in cluster.pools for taint in pool_taints(cluster, pool)):
        yield (
            "NFD taints nodes only with enableTaints: true in the configuration of nfd-master, which is "
            "false by default, and its workers must tolerate the taints "
            "(daemons/node-feature-discovery.yaml)"
        )


def _unknown_nodes(cluster: Cluster) -> Iterator[str]:
    """Notices about pools whose nodes no command can select."""
    pools = [
        pool.name
        for pool in cluster.pools
        if has_settings(cluster, pool) and not all(is_reachable(shape) for shape in pool.shapes)
    ]
    if pools:
        yield (
            f"{_pools(pools)}: the policy does not identify these nodes, so labels.yaml, labels.sh and "
            "taints.sh are not written; give names or a selector under nodes, or use the join-time files"
        )


def _restricted_labels(cluster: Cluster) -> Iterator[str]:
    """Notices about labels that a kubelet may not set on its own node."""
    for pool in cluster.pools:
        keys = sorted(
            {key for group in joining_groups(cluster, pool) for key in restricted_labels(group.labels)}
        )
        if keys:
            yield (
                f"{_pools([pool.name])}: a kubelet may not set {', '.join(keys)} on its own node "
                "(NodeRestriction), so the join-time files omit it; set it after the node has joined"
            )


def _too_many_locations(cluster: Cluster) -> Iterator[str]:
    """Notices about pools whose join-time files omit labels that differ between nodes."""
    for pool in cluster.pools:
        sets = {tuple(shape_labels(cluster, pool, each).items()) for each in pool.shapes if each.node_names}
        if len(sets) > MAX_FILES:
            yield (
                f"{_pools([pool.name])}: its nodes have {len(sets)} different sets of labels, so the "
                "join-time files contain only the labels they share; labels.yaml, labels.sh and nfd.yaml "
                "contain those of each node"
            )


def _scale_from_zero(cluster: Cluster) -> Iterator[str]:
    """Notices about pools whose labels an autoscaler does not know while they have no nodes."""
    pools = [pool.name for pool in cluster.pools if pool.autoscaled and _unknown_to_autoscaler(cluster, pool)]
    if pools:
        yield (
            f"{_pools(pools)}: discovery sets the product label, so an autoscaler without a running node "
            "does not know it and adds no node for pods that select it; keep min at 1 or more, or "
            "configure the label in the autoscaler (karpenter.yaml does)"
        )


def _unknown_to_autoscaler(cluster: Cluster, pool: Pool) -> bool:
    card = cluster.card_of(pool)
    if card is None or card.product_key not in pool.discovered or provider(card.product_key):
        return False
    # Where the product is a taint, the patches tolerate it and select nothing.
    selected = all(taint.key != card.product_key for taint in pool.hard_taints)
    return selected and any(group.minimum == 0 for group in groups(cluster, pool))


def _pools(names: list[str]) -> str:
    return f"pool {names[0]}" if len(names) == 1 else f"pools {', '.join(names)}"


TARGET = "nodes"

_CLOUDS: dict[str, Write] = {
    "gke": clouds.write_gke,
    "eks": clouds.write_eks,
    "aks": clouds.write_aks,
    "ack": clouds.write_ack,
}
_TAINTING = frozenset({"taints", "kubelet", "kubeadm", "provider", "karpenter", "nfd"})


def generate(cluster: Cluster) -> TargetOutput:
    """`nodes/<pool>/...`, `nodes/daemons/...`, `nodes/control-plane/taint.sh` and `nodes/README.md`.

    No files if the policy enables no form, or no node needs a label or taint.
    """
    forms = forms_of(cluster)
    if not forms:
        return TargetOutput()
    artifacts: list[Artifact] = []
    messages: list[str] = []
    for pool in cluster.pools:
        if not has_settings(cluster, pool):
            continue
        artifacts.extend(_pool(cluster, pool, forms))
        for form in _provider_forms(cluster, pool, forms):
            artifacts.extend(form.artifacts)
            messages.extend(form.left_out)
    if "taints" in forms:
        artifacts.extend(existing_nodes.control_plane(cluster))
    if taints_nodes(cluster):
        artifacts.extend(daemons.write(cluster))
    messages += notices(cluster, forms)
    if artifacts:
        artifacts.append(readme.write(cluster, artifacts, messages))
    return TargetOutput(tuple(artifacts), tuple(Notice(TARGET, message) for message in messages))


def forms_of(cluster: Cluster) -> frozenset[str]:
    """The forms in `generate.nodes`; by default all that apply. In a cloud, the provider joins nodes."""
    if cluster.node_forms is not None:
        return frozenset(cluster.node_forms)
    if not cluster.provider:
        return frozenset({"labels", "taints", "kubelet", "kubeadm"})
    return frozenset({"labels", "taints", "provider", *(["karpenter"] if cluster.provider == "eks" else [])})


def taints_nodes(cluster: Cluster) -> bool:
    """Whether one of the generated forms sets the pools' taints."""
    return bool(forms_of(cluster) & _TAINTING)


def _pool(cluster: Cluster, pool: Pool, forms: frozenset[str]) -> Iterator[Artifact]:
    writers = {
        "labels": existing_nodes.write_labels,
        "taints": existing_nodes.write_taints,
        "kubelet": kubelet.write_kubelet,
        "kubeadm": kubelet.write_kubeadm,
    }
    for form, write in writers.items():
        if form in forms:
            yield from write(cluster, pool)


def _provider_forms(cluster: Cluster, pool: Pool, forms: frozenset[str]) -> Iterator[PoolFiles]:
    if "provider" in forms and cluster.provider in _CLOUDS:
        yield _CLOUDS[cluster.provider](cluster, pool)
    if "karpenter" in forms and pool.autoscaled:
        yield karpenter.write(cluster, pool)
    if "nfd" in forms:
        yield nfd.write(cluster, pool)
