"""Display names of pod sets: the name of the task, role or group in the object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.kube.podsets.podset import PodSet
from policykit.manifests.path import lookup

_NAMES = ("name", "groupName")


def title(data: Mapping[str, Any], pod_set: PodSet) -> str:
    """The name next to the template, else its key, else the name in the kinds table."""
    for end in range(len(pod_set.path), 1, -1):
        if isinstance(pod_set.path[end - 1], int):
            for key in _NAMES:
                named = lookup(data, (*pod_set.path[:end], key))
                if isinstance(named, str) and named:
                    return named
    name = pod_set.name
    return name[8:-1] if name.startswith("replica[") else name
