"""The order in which Argo CD creates objects whose webhook refuses a child before its parent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

ANNOTATION = "argocd.argoproj.io/sync-wave"


def in_waves(objects: Iterable[Mapping[str, Any]], parents: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Objects of one kind, each with its depth as its sync wave; `parents`: name to name of the parent.

    Within a wave Argo CD applies objects by name. Objects at the top need no annotation: their wave is 0.
    """
    for data in objects:
        metadata = data["metadata"]
        depth = _depth(metadata["name"], parents)
        if not depth:
            yield dict(data)
            continue
        annotations = {**metadata.get("annotations", {}), ANNOTATION: str(depth)}
        yield {**data, "metadata": {**metadata, "annotations": annotations}}


def _depth(name: str, parents: Mapping[str, str]) -> int:
    """Number of ancestors of an object that are in `parents` themselves."""
    depth, above = 0, parents.get(name, "")
    while above in parents and depth < len(parents):
        depth, above = depth + 1, parents[above]
    return depth
