"""Finds Kubernetes' own objects that a policy can describe in a text, with their locations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from policykit.manifests.document import manifests
from policykit.manifests.embedded import strings
from policykit.manifests.node import Node
from policykit.manifests.parser import parse
from policykit.manifests.path import Path
from policykit.model.queue import Priority
from policykit.targets.kubernetes.objects import autoscalers, groups, priorities, quotas, ranges
from policykit.targets.kubernetes.objects.autoscalers import Autoscaler
from policykit.targets.kubernetes.objects.groups import Gang
from policykit.targets.kubernetes.objects.quotas import ResourceQuota
from policykit.targets.kubernetes.objects.ranges import LimitRange
from policykit.targets.kubernetes.scheduler import configuration, fields
from policykit.targets.kubernetes.scheduler.configuration import Configuration
from policykit.targets.reading import Read

Value = Priority | ResourceQuota | LimitRange | Autoscaler | Configuration | Gang

_READERS: Mapping[tuple[str, str], Callable[[Mapping[str, Any]], Value | None]] = {
    ("scheduling.k8s.io", "PriorityClass"): priorities.read,
    ("", "ResourceQuota"): quotas.read,
    ("", "LimitRange"): ranges.read,
    ("autoscaling", "HorizontalPodAutoscaler"): autoscalers.read,
    (fields.GROUP, configuration.KIND): configuration.read,
    (groups.GROUP, "PodGroup"): groups.read,
    (groups.GROUP, "Workload"): groups.read,
}


def read(text: str) -> list[Read[Value]]:
    """All of a text's objects, in its order: of documents, of Lists, of strings that hold a scheduler's
    configuration (ConfigMaps, Helm values). Text that is not YAML is skipped."""
    found: list[Read[Value]] = []
    for number, document in enumerate(parse(text)):
        if document.root is not None:
            found += _objects(document.root, number)
            found += _inside(document.root, number)
    return found


def _objects(root: Node, number: int) -> Iterator[Read[Value]]:
    for manifest in manifests(root, number):
        reader = _READERS.get((manifest.group, manifest.kind))
        value = reader(manifest.data) if reader else None
        if value is not None:
            yield Read(value, number, manifest.base)


def _inside(root: Node, number: int) -> Iterator[Read[Value]]:
    """Scheduler configurations in strings."""
    for path, node in strings(root):
        if configuration.KIND in node.data:
            yield from (_embedded(value, number, path) for value in _configurations(node.data))


def _embedded(value: Configuration, number: int, path: Path) -> Read[Value]:
    return Read(value, number, path, ())


def _configurations(text: str) -> Iterator[Configuration]:
    for document in parse(text):
        data = document.root.data if document.root else None
        if isinstance(data, Mapping) and data.get("kind") == configuration.KIND:
            yield configuration.read(data)
