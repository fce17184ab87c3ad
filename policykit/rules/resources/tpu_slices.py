"""TPU slices: whether the topology that pods select, their chips and their number agree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.catalogue import tpu
from policykit.kube import affinity, requests
from policykit.kube.podsets.reading import pod_sets
from policykit.kube.structure.scalars import is_placeholder
from policykit.manifests.once import once
from policykit.manifests.path import Path
from policykit.placement.card_requests import has_unknown_amounts
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
    for other in _asking(review.manifest.data):
        if other.path == review.pod_set.path:
            continue
        if not other.is_clear:
            return None
        if other.chips and other.selected == mine:
            if other.replicas is None or other.chips != chips:
                return None
            replicas += other.replicas
    return replicas


class _Asking(NamedTuple):
    """Of a pod set all that counts here."""

    path: Path
    selected: tuple[str, str]
    chips: int
    replicas: int | None
    is_clear: bool
    """Nothing of what it selects or asks for is filled in later."""


@once
def _asking(data: Mapping[str, Any]) -> tuple[_Asking, ...]:
    """Every pod set of an object; each of them looks at the others."""
    found: list[_Asking] = []
    for one in pod_sets(data):
        selected = _slice(affinity.read(one.spec))
        chips = requests.effective(one.spec, one.devices).get(tpu.RESOURCE, 0)
        is_clear = not any(map(is_placeholder, selected)) and not has_unknown_amounts(one, None)
        found.append(_Asking(one.path, selected, chips, one.replicas, is_clear))
    return tuple(found)


def _slice(selected: affinity.NodeAffinity) -> tuple[str, str]:
    return selected.selector.get(tpu.ACCELERATOR, ""), selected.selector.get(tpu.TOPOLOGY, "")
