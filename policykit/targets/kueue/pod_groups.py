"""Facts about groups of plain pods, which Kueue admits when all of them are there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from policykit.kube import start_order
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.model.gang import Membership, PodCreationOrder
from policykit.targets.kueue.names import (
    POD_GROUP,
    POD_GROUP_FAST,
    POD_GROUP_TOTAL,
    QUEUE_NAME,
    TARGET_NAME,
)

_MOST = 9
"""Digits of a number of pods."""


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterable[Fact]:
    """Of templates that state group and size; an object with a queue of its own gets both from Kueue.

    Source: `constructGroupPodSets` in pkg/controller/jobs/pod (0.9 to 0.19): without the annotation for
    fast admission, there is no Workload before all pods are there.
    """
    if manifest.partial or manifest.kind == "Pod" or manifest.labels.get(QUEUE_NAME):
        return
    namespace = manifest.namespace or context.namespace
    for pod_set in pod_sets:
        group, size = pod_set.labels.get(POD_GROUP, ""), pod_set.annotations.get(POD_GROUP_TOTAL, "")
        total = int(size) if size.isdecimal() and size.isascii() and len(size) <= _MOST else None
        if not group or not total or is_placeholder(group) or pod_set.stored:
            continue
        if pod_set.annotations.get(POD_GROUP_FAST) == "true":
            continue
        joined = Membership(
            TARGET_NAME, namespace, group, pod_set.replicas, pod_set.scheduler_name, total, by_pods=True
        )
        stated = pod_set.place("annotations", POD_GROUP_TOTAL)
        yield Fact(joined, {"group": pod_set.place("labels", POD_GROUP), "min_member": stated})
        if found := start_order.first(manifest, [pod_set]):
            order = PodCreationOrder(TARGET_NAME, namespace, group, found.pods, found.why, total)
            yield Fact(order, {"order": found.path})
