"""Facts about Pods queued in Kueue that no pool accepts unless a flavor adds tolerations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets import queues
from policykit.kube.podsets.podset import PodSet
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.model.kueue import RefusedPods, RefusingPool
from policykit.targets.kueue.names import TARGET_NAME

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster


def facts(manifest: Manifest, pod_set: PodSet, cluster: Cluster, namespace: str) -> Iterator[Fact]:
    """Facts of pods with cards; others may run in a pool that the policy does not list."""
    queue = queues.read(manifest.data, pod_set, TARGET_NAME)
    if queue is None or is_placeholder(queue.value):
        return
    from policykit.placement.landing import untolerated_taints
    from policykit.placement.owner import may_change_after_admission
    from policykit.placement.review import review

    if may_change_after_admission(manifest, pod_set):
        return
    found = review(manifest, pod_set, cluster, namespace)
    if not found.card_resources or not found.eligible_pools or found.selects_unlisted_pool or found.accepting:
        return
    pools = tuple(
        RefusingPool(pool.name, untolerated_taints(pool, found.tolerations, found.requests))
        for pool in found.eligible_pools
    )
    if all(pool.taints for pool in pools):
        pods = RefusedPods(manifest.namespace or namespace, queue.value, pools)
        yield Fact(pods, {"tolerations": pod_set.place("tolerations")})
