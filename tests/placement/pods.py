"""Pods and pools for the tests of placement."""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from policykit import api
from policykit.kube.affinity import NodeAffinity, Preference, Term
from policykit.kube.selectors import Requirement
from policykit.manifests.writer import dump
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool, Shape, Taint, Toleration
from policykit.placement.review import Review

USAGE = "maip.mxsf.io/node.usage"
PRODUCT = "nvidia.com/gpu.product"
GPU = "nvidia.com/gpu"

H20, L20 = {"product": "NVIDIA-H20"}, {"product": "NVIDIA-L20"}
UNTAINTED = {"usage": {"taint": False}, "product": {"taint": False}}

KEYS, VALUES, EFFECTS = ["a", "b"], ["", "1", "2"], ["NoSchedule", "PreferNoSchedule", "NoExecute"]
TAINTS = st.builds(Taint, st.sampled_from(KEYS), st.sampled_from(VALUES), st.sampled_from(EFFECTS))
TOLERATIONS = st.builds(
    Toleration,
    st.sampled_from(["", *KEYS, "node.kubernetes.io/unschedulable"]),
    st.sampled_from(["", "Equal", "Exists", "In"]),
    st.sampled_from(VALUES),
    st.sampled_from(["", *EFFECTS]),
)
LABEL_KEYS = [*KEYS, "kubernetes.io/hostname"]
REQUIREMENTS = st.builds(
    Requirement,
    st.sampled_from(LABEL_KEYS),
    st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Is"]),
    st.lists(st.sampled_from([*VALUES, "node-1"]), max_size=2).map(tuple),
)
FIELDS = st.builds(
    Requirement,
    st.just("metadata.name"),
    st.sampled_from(["In", "NotIn"]),
    st.sampled_from([("node-1",), ("node-2",)]),
)
TERMS = st.builds(
    Term, st.lists(REQUIREMENTS, max_size=2).map(tuple), st.lists(FIELDS, max_size=1).map(tuple)
)
AFFINITIES = st.builds(
    NodeAffinity,
    st.dictionaries(st.sampled_from(LABEL_KEYS), st.sampled_from([*VALUES, "node-1"]), max_size=1),
    st.none() | st.lists(TERMS, max_size=2).map(tuple),
    st.lists(st.builds(Preference, st.integers(1, 100), TERMS), max_size=2).map(tuple),
)
NODE_LABELS = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES), max_size=2)


def nodes(name: str = "node-1") -> st.SearchStrategy[Pool]:
    """One real node as a pool."""
    return st.builds(
        lambda labels, taints, cordoned: Pool(
            name, (Shape({}, 1, 1, (name,)),), labels, tuple(taints), unschedulable=cordoned
        ),
        NODE_LABELS,
        st.lists(TAINTS, max_size=2),
        st.booleans(),
    )


def required(*terms: Sequence[tuple[str, str, Sequence[str]]]) -> dict[str, Any]:
    """A PodSpec's affinity of (key, operator, values) expressions."""
    selected = [
        {"matchExpressions": [{"key": k, "operator": o, "values": list(v)} for k, o, v in term]}
        for term in terms
    ]
    return {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": selected}}
    }


def tolerate(key: str, *values: str) -> list[dict[str, str]]:
    """One Equal toleration per value, or one Exists toleration."""
    if not values:
        return [{"key": key, "operator": "Exists", "effect": "NoSchedule"}]
    return [{"key": key, "operator": "Equal", "value": v, "effect": "NoSchedule"} for v in values]


def pod(
    cards: int = 1, labels: dict[str, str] | None = None, resource: str = GPU, **spec: Any
) -> dict[str, Any]:
    """A Pod with one container that asks for cards; `spec` adds fields of the PodSpec."""
    limits = {"resources": {"limits": {resource: cards}}} if cards else {}
    container = {"name": "main", "image": "registry.example/app:1", **limits}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "app", "labels": labels or {}},
        "spec": {"containers": [container], **spec},
    }


def look(manifest: dict[str, Any], cluster: Cluster) -> Review:
    """The review of a manifest's only pod set."""
    (only,) = api.where(dump(manifest).encode(), cluster)
    return only


def verdicts(review: Review) -> dict[str, str]:
    """Pool to verdict, with the reason where there is one."""
    return {x.pool.name: f"{x.verdict} {x.reason}".strip() for x in review.landings}
