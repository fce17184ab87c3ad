"""Which topology keys the placement of pods rests on, and whether nodes have such a label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from policykit.catalogue import labels
from policykit.kube.gang_units import exclusive_topologies
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping
from policykit.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policykit.manifests.document import Manifest
    from policykit.model.cluster import Cluster

SPREAD, SOFT_SPREAD, AFFINITY, ANTI_AFFINITY, EXCLUSIVE = (
    "spread",
    "soft spread",
    "affinity",
    "anti-affinity",
    "exclusive",
)
HOLDS = frozenset({SPREAD, AFFINITY, EXCLUSIVE})
"""Pods stay pending where no node has the key."""
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_OF_CLOUDS = frozenset(
    {
        "beta.kubernetes.io/instance-type",
        "failure-domain.beta.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "node.kubernetes.io/instance-type",
        "topology.kubernetes.io/region",
        "topology.kubernetes.io/zone",
    }
)


class TopologyUse(NamedTuple):
    """A topology key, and what depends on it."""

    key: str
    use: str
    path: Path
    """Of the key, in the object."""


def uses(manifest: Manifest, pod_set: PodSet) -> Iterator[TopologyUse]:
    """Of the pods of one template; what an annotation of the object says comes with each."""
    listed = pod_set.spec.get("topologySpreadConstraints")
    for at, one in enumerate(listed if isinstance(listed, list) else ()):
        use = SPREAD if mapping(one).get("whenUnsatisfiable") == "DoNotSchedule" else SOFT_SPREAD
        yield from _use(one, use, pod_set.place("topologySpreadConstraints", at, "topologyKey"))
    affinity = mapping(pod_set.spec.get("affinity"))
    for field, use in (("podAffinity", AFFINITY), ("podAntiAffinity", ANTI_AFFINITY)):
        terms = mapping(affinity.get(field)).get(_REQUIRED)
        for at, one in enumerate(terms if isinstance(terms, list) else ()):
            yield from _use(one, use, pod_set.place("affinity", field, _REQUIRED, at, "topologyKey"))
    for path, key in exclusive_topologies(manifest):
        yield TopologyUse(key, EXCLUSIVE, path)


def _use(written: Any, use: str, path: Path) -> Iterator[TopologyUse]:
    key = mapping(written).get("topologyKey")
    if isinstance(key, str) and key and not is_placeholder(key):
        yield TopologyUse(key, use, path)


def is_absent(cluster: Cluster, key: str) -> bool:
    """Whether no node has the label, as far as the policy tells.

    Zones, regions and instance types are labels of a provider: without one, nobody sets them.
    """
    if any(key in labels_of for labels_of in _labels(cluster)):
        return False
    if cluster.observed:
        return True
    if not cluster.complete or key in cluster.declared_keys or not cluster.pools:
        return False
    if key in _OF_CLOUDS:
        return not cluster.provider
    if provider := labels.provider(key):
        # A policy that declares labels of a provider declares those that matter.
        return not cluster.provider and provider in map(labels.provider, cluster.declared_keys)
    return not (labels.well_known(key) or labels.discovery(key) or labels.switch(key))


def is_of_clouds(key: str) -> bool:
    """Whether a provider sets it."""
    return key in _OF_CLOUDS or bool(labels.provider(key))


def _labels(cluster: Cluster) -> Iterator[Mapping[str, str]]:
    for pool in cluster.pools:
        yield pool.labels
        yield from (shape.labels for shape in pool.shapes)
