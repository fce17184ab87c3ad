"""Objects for tests, from short YAML."""

from __future__ import annotations

from typing import Any

import yaml

from policykit.kube import podsets
from policykit.kube.podsets import PodSet
from policykit.manifests.path import dotted


def read(text: str) -> dict[str, Any]:
    data = yaml.safe_load(text)
    assert isinstance(data, dict)
    assert podsets.known(data.get("apiVersion"), data.get("kind"))
    return data


def written(pod_set: PodSet) -> str:
    """`task[0] spec.tasks[0].template 2`: name, path, replicas."""
    return f"{pod_set.name} {dotted(pod_set.path)} {pod_set.replicas}"


def only(text: str) -> PodSet:
    (pod_set,) = podsets.pod_sets(read(text))
    return pod_set
