"""Every queue configuration of YuniKorn in a text: plain, in a ConfigMap, in Helm values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.manifests.parser import parse
from policykit.manifests.path import Path, Step
from policykit.manifests.shape import mapping
from policykit.targets.reading import Read
from policykit.targets.yunikorn.configuration import configmap, partition
from policykit.targets.yunikorn.configuration.partition import Configuration
from policykit.targets.yunikorn.configuration.queue_tree import QueueNode, queue_tree


def read(text: str) -> list[Read[Configuration]]:
    """Configurations in the order of the text; what has another shape is skipped."""
    found: list[Read[Configuration]] = []
    for number, document in enumerate(parse(text)):
        data = document.root.data if document.root is not None else None
        found += _in_document(data, number)
    return found


def source(data: object) -> tuple[Path, str]:
    """Path and text of the configuration that a ConfigMap or Helm values hold; empty: none."""
    where, entries = _entries(mapping(data))
    key = f"{configmap.policy_group(entries)}.yaml"
    text = entries.get(key)
    return ((*where, key), text) if isinstance(text, str) else ((), "")


def place(configuration: Configuration, queue: str) -> Path | None:
    """Path of a queue in queues.yaml, by its full name: root.research. None: it does not exist."""
    for number, each in enumerate(configuration.partitions):
        tree = queue_tree(each, ("partitions", number))
        for name, found in _named(tree, tree.queue.name.lower()):
            if name == queue:
                return found.path
    return None


def _named(tree: QueueNode, path: str) -> Iterator[tuple[str, QueueNode]]:
    yield path, tree
    for child in tree.children:
        yield from _named(child, f"{path}.{child.queue.name.lower()}")


def _in_document(data: object, number: int) -> Iterator[Read[Configuration]]:
    if is_configuration(data):
        yield Read(partition.read(data), number, (), None)
        return
    for path, object_ in _objects(data):
        where, text = source(object_)
        inner = next(iter(parse(text)), None) if text else None
        if inner is not None and inner.root is not None and is_configuration(inner.root.data):
            yield Read(partition.read(inner.root.data), number, (*path, *where), ())


def is_configuration(data: object) -> bool:
    """Whether data is the text of a queues.yaml: nothing else has partitions at the top."""
    return isinstance(data, Mapping) and isinstance(data.get("partitions"), list)


def _objects(data: object) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """The document itself, or the items of a list."""
    found = mapping(data)
    listed = found.get("items")
    if found.get("kind") in ("List", "ConfigMapList") and isinstance(listed, list):
        for number, item in enumerate(listed):
            yield ("items", number), mapping(item)
    else:
        yield (), found


def _entries(data: Mapping[str, Any]) -> tuple[tuple[Step, ...], Mapping[str, Any]]:
    """Keys of a ConfigMap of YuniKorn, or those its chart makes one of."""
    metadata = mapping(data.get("metadata"))
    if data.get("kind") == "ConfigMap":
        ours = metadata.get("name") in (configmap.CONFIGS, configmap.DEFAULTS)
        return (("data",), mapping(data.get("data"))) if ours else ((), {})
    if "kind" in data:
        return (), {}
    return (configmap.VALUES,), mapping(data.get(configmap.VALUES))
