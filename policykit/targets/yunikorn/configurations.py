"""How files with YuniKorn's queues are recognized: queues.yaml and Helm values."""

from __future__ import annotations

from policykit.linter.configurations import Configuration
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.nearest import nearest

NAME = "queues.yaml"
_CONFIG_MAPS = "yunikorn-"
"""Prefix of the two ConfigMaps that the scheduler reads."""
_KEYS = frozenset(
    {"limits", "name", "nodesortpolicy", "placementrules", "preemption", "queues", "usergroupresolver"}
)
_VALUES = "yunikornDefaults"
"""Helm value of the chart that contains the data of the ConfigMap."""


def _matches_shape(data: object) -> bool:
    if not isinstance(data, dict):
        return False
    partitions = data.get("partitions")
    return isinstance(partitions, list) and any(map(_is_partition, partitions))


def _is_partition(data: object) -> bool:
    """Whether it has queues, or only keys of a partition: disks have named partitions, too."""
    if not isinstance(data, dict):
        return False
    return "queues" in data or ("name" in data and all(_is_key(str(key).lower()) for key in data))


def _is_key(key: str) -> bool:
    """A key of a partition, or a misspelling of one: `queeus`."""
    return key in _KEYS or bool(nearest(key, tuple(_KEYS), 0.8))


def _is_named(holder: Manifest, path: Path) -> bool:
    if path == (NAME,):
        return not holder.kind  # the data of a ConfigMap on its own
    return path[-1:] == (NAME,) and (holder.name.startswith(_CONFIG_MAPS) or _VALUES in path)


CONFIGURATION = Configuration(NAME, ("partitions", NAME), _matches_shape, _is_named)

VALUES = Configuration(
    "yunikorn-values", (_VALUES,), lambda data: isinstance(data, dict) and isinstance(data.get(_VALUES), dict)
)
"""A file of Helm values for the chart."""
