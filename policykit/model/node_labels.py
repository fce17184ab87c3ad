"""Labels of nodes that Kubernetes defines, and those that a kubelet may give its own node."""

from __future__ import annotations

from collections.abc import Iterable

from policykit.nearest import Names

STANDARD = Names(
    (
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
    )
)
"""Labels of nodes that Kubernetes defines. Source: `k8s.io/api/core/v1/well_known_labels.go` (1.36)."""
_RESERVED = ("kubernetes.io", "k8s.io")
_OF_KUBELETS = ("kubelet.kubernetes.io", "node.kubernetes.io")


def in_domain(key: str, domains: Iterable[str]) -> bool:
    """Whether a key's prefix is one of the domains or a subdomain."""
    prefix, slash, _ = key.partition("/")
    return bool(slash) and any(prefix == domain or prefix.endswith(f".{domain}") for domain in domains)


def may_set(key: str) -> bool:
    """Whether a kubelet may label its own node with this key.

    Source: the admission plugin NodeRestriction and the kubelet's own check of
    `--node-labels`, kubernetes v1.36.
    """
    return not in_domain(key, _RESERVED) or key in STANDARD or in_domain(key, _OF_KUBELETS)
