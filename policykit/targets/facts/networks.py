"""Facts about the networks that pods name for Multus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.kube.multus import NETWORKS, networks
from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.model.references import ObjectReference
from policykit.targets.facts.references import ALL_NETWORKS


def named(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """The networks of each pod; without a namespace they are in that of the pod."""
    for pod_set in pod_sets if not manifest.partial else ():
        place = {"name": pod_set.place("annotations", NETWORKS)}
        for each in networks(pod_set.annotations.get(NETWORKS, "").strip()):
            owner = each.namespace or manifest.namespace or ""
            yield Fact(ObjectReference(ALL_NETWORKS, each.name, owner), place)
