"""TPU slices: consistency of the selected topology, the chips and the number of pods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.catalogue import tpu
from policykit.kube import affinity, requests
from policykit.kube.podsets.reading import pod_sets
from policykit.kube.structure.scalars import is_placeholder
from policykit.manifests.memoize import once
from policykit.manifests.path import Path
from policykit.placement.card_requests import has_unknown_amounts
from policykit.placement.review import Review


def topology_problem(review: Review) -> tuple[str, str]:
    """The topology a pod set selects and its problem as a predicate; empty if there is none."""
    accelerator, topology = _slice(review.affinity)
    problem = tpu.dimensions_problem(accelerator, topology)
    chips = review.requests.get(tpu.RESOURCE, 0)
    if problem or not chips or review.manifest.partial:
        return topology, problem
    return topology, tpu.chips_problem(topology, chips, _pods(review, chips))


def _pods(review: Review, chips: int) -> int | None:
    """Number of pods that form slices together; None if it is unknown.

    A bare Pod may be one of many. Leaders and workers of a group share a slice, so they are counted
    together.
    """
    replicas = review.pod_set.replicas
    if review.manifest.kind == "Pod" or replicas is None:
        return None
    mine = _slice(review.affinity)
    if any(map(is_placeholder, mine)):
        return None
    for other in _slice_pods(review.manifest.data):
        if other.path == review.pod_set.path:
            continue
        if not other.is_clear:
            return None
        if other.chips and other.selected == mine:
            if other.replicas is None or other.chips != chips:
                return None
            replicas += other.replicas
    return replicas


class _SlicePods(NamedTuple):
    """Slice selection and chips of a pod set."""

    path: Path
    selected: tuple[str, str]
    chips: int
    replicas: int | None
    is_clear: bool
    """Whether the selection and the request have no placeholders."""


@once
def _slice_pods(data: Mapping[str, Any]) -> tuple[_SlicePods, ...]:
    """Every pod set of an object."""
    found: list[_SlicePods] = []
    for one in pod_sets(data):
        selected = _slice(affinity.read(one.spec))
        chips = requests.effective(one.spec, one.devices).get(tpu.RESOURCE, 0)
        is_clear = not any(map(is_placeholder, selected)) and not has_unknown_amounts(one, None)
        found.append(_SlicePods(one.path, selected, chips, one.replicas, is_clear))
    return tuple(found)


def _slice(selected: affinity.NodeAffinity) -> tuple[str, str]:
    return selected.selector.get(tpu.ACCELERATOR, ""), selected.selector.get(tpu.TOPOLOGY, "")
