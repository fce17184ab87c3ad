"""What the container of NVIDIA's device plugin is told by its variables and flags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.catalogue import daemons
from policykit.kube import requests
from policykit.kube.command_line import arguments, last_flag
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets import PodSet
from policykit.manifests.path import Path
from policykit.manifests.shape import numbered, text

_PLUGIN = "device-plugin"
_FLAG, _VARIABLE = "--mig-strategy", "MIG_STRATEGY"


def containers(pod_set: PodSet) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    """Those whose image is the plugin's."""
    for each in requests.containers(pod_set.spec):
        image = text(each[2].get("image"))
        if _PLUGIN in image and daemons.role(image) == "device-plugin" and daemons.serves(image) == "nvidia":
            yield each


def mig_strategies(pod_set: PodSet) -> Iterator[tuple[str, Path]]:
    """The strategy of each container that states one, with its path in the object; a flag comes first.

    Source: `cmd/nvidia-device-plugin` (0.9 to 0.18).
    """
    for field, position, container in containers(pod_set):
        for value, path in _stated(container):
            if value and not is_placeholder(value):
                yield value, pod_set.place(field, position, *path)
                break


def _stated(container: Mapping[str, Any]) -> Iterator[tuple[str, Path]]:
    if (flag := last_flag(arguments(container), _FLAG)) is not None:
        yield flag
    for number, each in numbered(container.get("env")):
        if each.get("name") == _VARIABLE:
            yield text(each.get("value")), ("env", number, "value")
