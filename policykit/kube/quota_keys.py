"""Keys of a ResourceQuota: which ones the API server accepts, and which ones it counts (v1.36)."""

from __future__ import annotations

from policykit.kube.names import is_extended, label_key_problem
from policykit.nearest import nearest

STANDARD = (
    *(f"{side}{name}" for side in ("", "requests.", "limits.") for name in ("cpu", "memory")),
    *(f"{side}ephemeral-storage" for side in ("", "requests.", "limits.")),
    "requests.storage",
    *("pods", "services", "services.nodeports", "services.loadbalancers", "replicationcontrollers"),
    *("resourcequotas", "secrets", "configmaps", "persistentvolumeclaims"),
)
"""Source: `standardQuotaResources` in kubernetes `pkg/apis/core/helper`, and huge pages."""
COUNT = "count/"
BY_CLASS = {
    "storageclass.storage.k8s.io": ("requests.storage", "persistentvolumeclaims"),
    "deviceclass.resource.k8s.io": ("devices",),
}
"""Quantities counted for a class, `<class>.<domain>/<name>`."""
_STANDARD = frozenset(STANDARD)
_HUGEPAGES = ("hugepages-", "requests.hugepages-")
_IMPLICIT = "requests.deviceclass.resource.kubernetes.io/"
"""Prefix of a device class: an extended resource, although in a domain of Kubernetes."""
_CORE = frozenset(
    {"pods", "services", "replicationcontrollers", "resourcequotas", "secrets", "configmaps"}
    | {"persistentvolumeclaims", "serviceaccounts", "endpoints", "events", "limitranges", "podtemplates"}
)
_GROUPS = {
    **dict.fromkeys(("deployments", "statefulsets", "daemonsets", "replicasets"), "apps"),
    **dict.fromkeys(("jobs", "cronjobs"), "batch"),
    **dict.fromkeys(("ingresses", "networkpolicies"), "networking.k8s.io"),
    **dict.fromkeys(("resourceclaims", "resourceclaimtemplates"), "resource.k8s.io"),
    "horizontalpodautoscalers": "autoscaling",
    "poddisruptionbudgets": "policy",
    "leases": "coordination.k8s.io",
}
"""Namespaced resource types to their API group."""


def refusal(key: str) -> str:
    """Why the API server rejects a quota with the key, as a predicate; empty: it accepts it.

    Source: `ValidateResourceQuotaResourceName` in kubernetes `pkg/apis/core/validation`.
    """
    if "/" in key or not key:
        return label_key_problem(key)
    known = key in _STANDARD or key.startswith(_HUGEPAGES)
    return label_key_problem(key) if known else "is not a key of a ResourceQuota"


def is_counted(key: str) -> bool:
    """Whether an evaluator counts a key that the API server accepts.

    Source: `pods.go` and `persistent_volume_claims.go` in kubernetes `pkg/quota/v1/evaluator/core`.
    """
    if "/" not in key:
        return True
    if key.startswith(COUNT):
        return "." in key or key.removeprefix(COUNT) in _CORE
    domain, name = of_class(key)
    if domain:
        return name in BY_CLASS[domain] and not key.startswith(domain)
    counted = key.removeprefix("requests.")
    return key.startswith(_IMPLICIT) or (counted != key and is_extended(counted))


def of_class(key: str) -> tuple[str, str]:
    """The class domain of a key, and the quantity it names; empty: none."""
    prefix, _, name = key.partition("/")
    for domain in BY_CLASS:
        if prefix == domain or prefix.endswith(f".{domain}"):
            return domain, name
    return "", ""


def grouped(resource: str) -> str:
    """The key that counts objects: count/deployments.apps of `deployments`; empty: unknown."""
    if resource in _CORE:
        return COUNT + resource
    name, _, group = resource.partition(".")
    known = _GROUPS.get(name, "")
    return f"{COUNT}{name}.{known}" if known and group in ("", known) else ""


def nearest_standard(key: str, resource: str) -> str:
    """The probable key without a domain: requests.memory for `request.memory`; empty: none."""
    side = key.partition(".")[0].lower()
    for prefix in ("limits.", "requests.") if side in ("limit", "limits") else ("requests.",):
        if resource and not refusal(prefix + resource):
            return prefix + resource
    return nearest(key.lower(), STANDARD, 0.7)
