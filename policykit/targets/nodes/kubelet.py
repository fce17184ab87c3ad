"""Labels and taints a node brings along when it joins: flags of its kubelet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from shlex import quote
from textwrap import wrap

from policykit.generator.artifact import Artifact, Role
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool
from policykit.targets.nodes.cloud import in_domain
from policykit.targets.nodes.node_groups import NodeGroup, joining_groups, pool_taints

_WIDE = 100
_RESERVED = ("kubernetes.io", "k8s.io")
_ALLOWED_PREFIXES = ("kubelet.kubernetes.io", "node.kubernetes.io")
_ALLOWED_KEYS = frozenset(
    {
        "beta.kubernetes.io/arch",
        "beta.kubernetes.io/instance-type",
        "beta.kubernetes.io/os",
        "failure-domain.beta.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "kubernetes.io/arch",
        "kubernetes.io/hostname",
        "kubernetes.io/os",
        "node.kubernetes.io/instance-type",
        "topology.kubernetes.io/region",
        "topology.kubernetes.io/zone",
    }
)


def may_set(key: str) -> bool:
    """Whether a kubelet may label its own node with this key.

    Source: the admission plugin NodeRestriction and the kubelet's own check of
    `--node-labels`, kubernetes v1.36.
    """
    return not in_domain(key, _RESERVED) or key in _ALLOWED_KEYS or in_domain(key, _ALLOWED_PREFIXES)


def restricted_labels(labels: Mapping[str, str]) -> tuple[str, ...]:
    """Keys of the labels a kubelet may not set."""
    return tuple(key for key in labels if not may_set(key))


def node_labels(labels: Mapping[str, str]) -> str:
    """Value of `--node-labels`, without what a kubelet may not set."""
    return ",".join(f"{key}={value}" for key, value in labels.items() if may_set(key))


def flags(cluster: Cluster, pool: Pool, labels: Mapping[str, str]) -> tuple[str, ...]:
    """`--node-labels` and `--register-with-taints`, each only where it says something."""
    values = {
        "--node-labels": node_labels(labels),
        "--register-with-taints": ",".join(map(str, pool_taints(cluster, pool))),
    }
    return tuple(f"{flag}={value}" for flag, value in values.items() if value)


def write(cluster: Cluster, pool: Pool) -> Iterator[Artifact]:
    """`kubelet.env`: the environment file of the kubelet's service."""
    for group in joining_groups(cluster, pool):
        words = flags(cluster, pool, group.labels)
        if words:
            text = (
                f"# Flags of the kubelet on nodes of pool {pool.name}, read when a node registers:\n"
                "# nodes that have already joined do not change. Install as /etc/default/kubelet\n"
                "# (Debian) or /etc/sysconfig/kubelet (Red Hat) before the node joins.\n"
                f"{comment(group)}"
                f"KUBELET_EXTRA_ARGS={quote(' '.join(words))}\n"
            )
            yield Artifact(f"nodes/{pool.name}/kubelet{group.suffix}.env", text, Role.NODE)


def comment(group: NodeGroup) -> str:
    """Comment lines that name the nodes a file is for; empty: all of the pool."""
    lines = wrap(f"For {', '.join(group.names)}.", _WIDE, break_on_hyphens=False) if group.names else []
    return "".join(f"# {line}\n" for line in lines)
