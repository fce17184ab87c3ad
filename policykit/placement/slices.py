"""TPU slices: whether the topology that pods select, their chips and their number agree."""

from __future__ import annotations

from policykit.catalogue import tpu
from policykit.kube import affinity, requests
from policykit.kube.podsets.reading import pod_sets
from policykit.kube.structure.scalars import is_placeholder
from policykit.placement.asking import unreadable
from policykit.placement.review import Review


def topology_problem(review: Review) -> tuple[str, str]:
    """The topology a pod set selects and what is wrong with it, as a predicate; empty: nothing is."""
    accelerator, topology = _slice(review.affinity)
    problem = tpu.dimensions_problem(accelerator, topology)
    chips = review.requests.get(tpu.RESOURCE, 0)
    if problem or not chips or review.manifest.partial:
        return topology, problem
    return topology, tpu.chips_problem(topology, chips, _pods(review, chips))


def _pods(review: Review, chips: int) -> int | None:
    """Pods that make up slices together; None where no single number says so.

    A bare Pod may be one of many. Leaders and workers of a group stand in the same slice, so they
    are counted with one another.
    """
    replicas = review.pod_set.replicas
    if review.manifest.kind == "Pod" or replicas is None:
        return None
    mine = _slice(review.affinity)
    if any(map(is_placeholder, mine)):
        return None
    beside = [each for each in pod_sets(review.manifest.data) if each.path != review.pod_set.path]
    for other in beside:
        asked = requests.effective(other.spec, other.devices).get(tpu.RESOURCE, 0)
        theirs = _slice(affinity.read(other.spec))
        if any(map(is_placeholder, theirs)) or unreadable(other, review.cluster):
            return None
        if asked and theirs == mine:
            if other.replicas is None or asked != chips:
                return None
            replicas += other.replicas
    return replicas


def _slice(selected: affinity.NodeAffinity) -> tuple[str, str]:
    return selected.selector.get(tpu.ACCELERATOR, ""), selected.selector.get(tpu.TOPOLOGY, "")
