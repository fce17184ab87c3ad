"""The text that configures YuniKorn's queues: how it is told from others."""

from __future__ import annotations

from policykit.linter.configurations import Configuration
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path

NAME = "queues.yaml"
_CONFIG_MAPS = "yunikorn-"
"""What the names of the two ConfigMaps begin with that the scheduler reads."""
_VALUES = "yunikornDefaults"
"""Helm value of the chart that holds the entries of the ConfigMap."""


def _is_it(data: object) -> bool:
    if not isinstance(data, dict):
        return False
    partitions = data.get("partitions")
    return isinstance(partitions, list) and any(
        isinstance(each, dict) and ("queues" in each or "name" in each) for each in partitions
    )


def _is_named(holder: Manifest, path: Path) -> bool:
    return path[-1:] == (NAME,) and (holder.name.startswith(_CONFIG_MAPS) or _VALUES in path)


CONFIGURATION = Configuration(NAME, ("partitions", NAME), _is_it, _is_named)
