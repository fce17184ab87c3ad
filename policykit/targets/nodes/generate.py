"""Files for nodes: labels and taints in every form that applies, and a README."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.generator.artifact import Artifact, Generated, Notice
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool
from policykit.targets.nodes import (
    ack,
    aks,
    daemons,
    eks,
    existing_nodes,
    gke,
    joining,
    karpenter,
    nfd,
    notices,
    readme,
)
from policykit.targets.nodes.cloud import Form, Write
from policykit.targets.nodes.node_groups import has_settings

TARGET = "nodes"

_CLOUDS: dict[str, Write] = {"gke": gke.write, "eks": eks.write, "aks": aks.write, "ack": ack.write}
_TAINTING = frozenset({"taints", "kubelet", "kubeadm", "provider", "karpenter", "nfd"})


def generate(cluster: Cluster) -> Generated:
    """`nodes/<pool>/...`, `nodes/daemons/...`, `nodes/control-plane/taint.sh` and `nodes/README.md`.

    No files if the policy enables no form, or no node needs a label or taint.
    """
    forms = forms_of(cluster)
    if not forms:
        return Generated()
    artifacts: list[Artifact] = []
    said: list[str] = []
    for pool in cluster.pools:
        if not has_settings(cluster, pool):
            continue
        artifacts.extend(_pool(cluster, pool, forms))
        for form in _provider_forms(cluster, pool, forms):
            artifacts.extend(form.artifacts)
            said.extend(form.left_out)
    if "taints" in forms:
        artifacts.extend(existing_nodes.control_plane(cluster))
    if taints_nodes(cluster):
        artifacts.extend(daemons.write(cluster))
    said += notices.notices(cluster, forms)
    if artifacts:
        artifacts.append(readme.write(cluster, artifacts, said))
    return Generated(tuple(artifacts), tuple(Notice(TARGET, message) for message in said))


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
        "kubelet": joining.write_kubelet,
        "kubeadm": joining.write_kubeadm,
    }
    for form, write in writers.items():
        if form in forms:
            yield from write(cluster, pool)


def _provider_forms(cluster: Cluster, pool: Pool, forms: frozenset[str]) -> Iterator[Form]:
    if "provider" in forms and cluster.provider in _CLOUDS:
        yield _CLOUDS[cluster.provider](cluster, pool)
    if "karpenter" in forms and pool.autoscaled:
        yield karpenter.write(cluster, pool)
    if "nfd" in forms:
        yield nfd.write(cluster, pool)
