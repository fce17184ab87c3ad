"""Apache YuniKorn: the queues of its queues.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.importer.found import Found
from policykit.importer.objects.shape import mappings
from policykit.kube.requests import amounts
from policykit.model.queue import Queue

KEY = "queues.yaml"
"""Key of the ConfigMap yunikorn-configs."""
_CORES = "vcore"


def config_map(data: Mapping[str, Any], found: Found) -> str:
    """The queue configuration in a ConfigMap, as text; empty: it carries none."""
    texts = data.get("data")
    text = texts.get(KEY) if isinstance(texts, Mapping) else None
    return text if isinstance(text, str) else ""


def configuration(data: Mapping[str, Any], found: Found) -> None:
    """queues.yaml: every static queue below root, by its path without `root`."""
    partitions = mappings(data.get("partitions"))
    found.target("yunikorn")
    for number, partition in enumerate(partitions):
        if number:
            found.say(
                f"partition {partition.get('name')} of YuniKorn: a policy has one set of queues; left out"
            )
            continue
        for top in mappings(partition.get("queues")):
            if top.get("name") == "root":
                _below(top, "", found)
            else:
                _queue(top, "", found)


def _below(queue: Mapping[str, Any], path: str, found: Found) -> None:
    for child in mappings(queue.get("queues")):
        _queue(child, path, found)


def _queue(data: Mapping[str, Any], parent: str, found: Found) -> None:
    name = data.get("name")
    if not isinstance(name, str):
        return
    path = f"{parent}.{name}" if parent else name
    resources = data.get("resources")
    resources = resources if isinstance(resources, Mapping) else {}
    unsaid = sorted(set(data) - {"name", "queues", "resources", "parent"})
    if unsaid:
        found.say(f"queue {path} of YuniKorn: a policy has no word for {', '.join(unsaid)}; left out")
    found.add_queue(
        Queue(
            path,
            parent,
            guarantee=_amounts(resources.get("guaranteed")),
            limit=_amounts(resources.get("max")),
        )
    )
    _below(data, path, found)


def _amounts(raw: object) -> dict[str, int]:
    """YuniKorn counts cores as vcore, everything else by its Kubernetes name."""
    if not isinstance(raw, Mapping):
        return {}
    return amounts({"cpu" if name == _CORES else name: value for name, value in raw.items() if name != "cpu"})
