"""The parts of pods in the values of a chart, and what the API server refuses of them."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.podsets import chart_values
from policykit.kube.podsets.podset import PodSet
from policykit.kube.structure.validator import check_part
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem


def parts(manifest: Manifest) -> Iterator[tuple[PodSet, tuple[Problem, ...]]]:
    """Each with the problems of its structure, without repairs: a chart may change it."""
    for pod_set in chart_values.pod_sets(manifest):
        found = [
            each._replace(path=(*pod_set.place(str(each.path[0])), *each.path[1:]))
            for each in _problems("PodSpec", pod_set.spec, ())
        ]
        path = pod_set.place("resources")
        if path != pod_set.path:
            found += _problems("ResourceRequirements", lookup(manifest.data, path), path)
        yield pod_set, tuple(found)


def _problems(part: str, data: object, path: Path) -> Iterator[Problem]:
    for problem in check_part(part, dict(data) if isinstance(data, dict) else {}, partial=True):
        yield problem.below(path)._replace(intended=(), repair=None)
