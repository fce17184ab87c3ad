"""A pod template of some API kind, how many pods it makes, and its display name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.manifests.path import Path, lookup
from policykit.namedtuple import NamedTuple


class DeviceRequest(NamedTuple):
    """A device requested outside the containers' resources (Spark `gpu`, TrainJob trainer)."""

    path: Path
    """Path of the request in the object."""
    resource: str
    amount: int | None
    """None: not a number (a placeholder)."""


class PodSet(NamedTuple):
    """One pod template of an object. All paths are relative to the object.

    `spec` is plain PodSpec data whatever the kind's own field names are, bases and overlays
    laid in; a partial shape (VLLMRuntime's singular `toleration`) is translated. The data
    is shared with the manifest: never change it.
    """

    name: str
    """Name of the template in the kinds table, with its index or key: `task[0]`, `replica[Worker]`."""
    path: Path
    """Path of the template, also if it is missing."""
    spec: Mapping[str, Any]
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    replicas: int | None
    """Pods the object makes from it; None: unknown (placeholders, autoscaled, per node)."""
    places: Mapping[str, Path | None]
    """PodSpec field (tolerations, affinity, nodeSelector, schedulerName, ...), or `labels`,
    `annotations`, to its path in this kind; None: the kind has no such field. A field
    that is not listed is unknown for this kind."""
    default_place: Path | None
    """Path of the PodSpec, for fields `places` does not list; None for partial shapes."""
    stored: bool = False
    """It makes no pods until another object uses it (PodTemplate, WorkflowTemplate)."""
    scheduler_name: str = ""
    """The effective schedulerName; empty: none."""
    scheduler_path: Path | None = None
    """Path of schedulerName, also if it is missing; None: the kind has no such field."""
    devices: tuple[DeviceRequest, ...] = ()
    purpose: str = "any"
    """training, serving, interactive or any: the most likely purpose of the kind."""
    synchronous: bool = False
    """The pods of one unit wait for each other."""
    per_node: bool = False
    """One pod on each eligible node, as with a DaemonSet."""
    strategic: bool = False
    """Lists merge strategically (built-in kinds)."""
    owner: Path = ()
    """Path of the object that makes the pods; () unless it is inside another (AppWrapper)."""

    def place(self, field: str, *rest: str | int) -> Path:
        """Path of a PodSpec field (and below it), or of the template if it has none."""
        if field in self.places:
            found = self.places[field]
            return (*found, *rest) if found is not None else self.path
        return (*self.default_place, field, *rest) if self.default_place is not None else self.path


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
