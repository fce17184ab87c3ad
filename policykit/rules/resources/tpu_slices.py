"""Pods that do not form whole slices of TPUs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.catalogue import amounts
from policykit.kube import affinity, requests
from policykit.kube.gang_units import exclusive_topologies
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.reading import pod_sets
from policykit.linter.rule import Violation
from policykit.manifests.memoize import memoize_last
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import whole
from policykit.namedtuple import NamedTuple
from policykit.placement.card_requests import has_unknown_amounts
from policykit.placement.review import Review


def violations(review: Review) -> Iterator[Violation]:
    """The pods of an object, and those of each job that has a node pool of its own."""
    topology, problem = _topology_problem(review)
    if problem:
        yield Violation(
            review.pod_set.place("nodeSelector", amounts.TOPOLOGY),
            f"topology {topology} {problem}",
            "the number of pods times the chips of a pod must equal the product of the topology dimensions",
        )


def _topology_problem(review: Review) -> tuple[str, str]:
    """The topology a pod set selects and its problem as a predicate; empty if there is none."""
    accelerator, topology = _slice(review.affinity)
    problem = amounts.dimensions_problem(accelerator, topology)
    chips = review.requests.get(amounts.RESOURCE, 0)
    if problem or not chips or review.manifest.partial:
        return topology, problem
    problem = amounts.chips_problem(topology, chips, _pods(review, chips))
    return topology, problem or _problem_of_a_job(review, topology, chips)


_NODE_POOL = "cloud.google.com/gke-nodepool"


def _problem_of_a_job(review: Review, topology: str, chips: int) -> str:
    """Of a JobSet that keeps each job on one node pool, which is one slice if it has several nodes."""
    path, manifest = review.pod_set.path, review.manifest
    if manifest.kind != "JobSet" or path[:2] != _JOBS:
        return ""
    pods = whole(lookup(manifest.data, (*path[:3], "template", "spec", "parallelism")))
    for at, domain in exclusive_topologies(manifest):
        if domain == _NODE_POOL and pods and (at[:2] != _JOBS or at[:3] == path[:3]):
            problem = amounts.chips_of_one_slice(topology, chips, pods)
            return problem and f"{problem} in each job, which has one {_NODE_POOL} of its own"
    return ""


_JOBS: Path = ("spec", "replicatedJobs")


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


@memoize_last
def _slice_pods(data: Mapping[str, Any]) -> tuple[_SlicePods, ...]:
    """Every pod set of an object."""
    found: list[_SlicePods] = []
    for one in pod_sets(data):
        selected = _slice(affinity.read(one.spec))
        chips = requests.effective(one.spec, one.devices).get(amounts.RESOURCE, 0)
        is_clear = not any(map(is_placeholder, selected)) and not has_unknown_amounts(one, None)
        found.append(_SlicePods(one.path, selected, chips, one.replicas, is_clear))
    return tuple(found)


def _slice(selected: affinity.NodeAffinity) -> tuple[str, str]:
    return selected.selector.get(amounts.ACCELERATOR, ""), selected.selector.get(amounts.TOPOLOGY, "")
