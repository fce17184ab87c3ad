"""Facts about pods that every pool refuses, and about objects that change pods at admission."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.model.unplaced import PodMutation, UnplacedPods

if TYPE_CHECKING:
    from policykit.kube.podsets.podset import PodSet
    from policykit.model.cluster import Cluster
    from policykit.placement.review import Review

_MUTATING = frozenset(
    {
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"),
        ("config.koordinator.sh", "ClusterColocationProfile"),
        ("kyverno.io", "ClusterPolicy"),
        ("kyverno.io", "Policy"),
    }
)
_OF_NAMESPACES = (
    "scheduler.alpha.kubernetes.io/defaultTolerations",
    "scheduler.alpha.kubernetes.io/node-selector",
)
"""Annotations that admission plugins PodTolerationRestriction and PodNodeSelector read."""


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterable[Fact]:
    """Nothing unless a policy lists every pool."""
    cluster = context.cluster
    if cluster is None or not cluster.complete:
        return ()
    if not pod_sets:
        return _mutations(manifest)
    return _unplaced(manifest, pod_sets, cluster, context.namespace)


def _mutations(manifest: Manifest) -> Iterator[Fact]:
    if (manifest.group, manifest.kind) in _MUTATING:
        yield Fact(PodMutation(), {}, answers=True)
    elif manifest.kind == "Namespace" and any(key in manifest.annotations for key in _OF_NAMESPACES):
        yield Fact(PodMutation(manifest.name), {}, answers=True)


def _unplaced(
    manifest: Manifest, pod_sets: Sequence[PodSet], cluster: Cluster, namespace: str
) -> Iterator[Fact]:
    from policykit.placement.review import review

    for pod_set in pod_sets:
        found = None if pod_set.per_node or pod_set.stored else review(manifest, pod_set, cluster, namespace)
        if found is not None and _is_unplaced(found):
            reasons = tuple(f"{landing.pool.name}: {landing.detail}" for landing in found.landings)
            value = UnplacedPods(manifest.namespace or namespace, len(reasons), reasons)
            yield Fact(value, {"pods": pod_set.path})


def _is_unplaced(found: Review) -> bool:
    """Pods with cards or a workload kind have rules of their own; so has a selection that no pool meets."""
    from policykit.placement.landing import selection
    from policykit.placement.policy_labels import is_for_unlisted_nodes

    cluster = found.cluster
    if cluster is None or found.eligible_pools is not None or found.candidates or not found.landings:
        return False
    if not found.is_final or found.is_system_pod or any(each.verdict != "refused" for each in found.landings):
        return False
    if is_for_unlisted_nodes(found.affinity, found.tolerations):
        return False
    return any(selection(cluster, pool, found.affinity) is True for pool in cluster.pools)
