"""Everything of Volcano in a text, with where each part stands: objects and scheduler configurations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.manifests.parser import parse
from policykit.manifests.path import Path, lookup
from policykit.targets.reading import Read
from policykit.targets.volcano.objects import everything as objects
from policykit.targets.volcano.scheduler import config
from policykit.targets.volcano.scheduler.config import Configuration

_HELD: Mapping[str, Path] = {
    "ConfigMap": ("data", config.CONFIG_KEY),
    "HelmRelease": ("spec", "values", "custom", config.OVERRIDE),
    "": ("custom", config.OVERRIDE),
}
"""Kind of a document, empty for Helm values, to where it may hold the configuration as a text."""


def read(text: str) -> list[Read[Any]]:
    """Queues, PodGroups, HyperNodes, Jobs and configurations, in the order of their documents.

    Documents that are no YAML hold nothing.
    """
    found: list[Read[Any]] = [*objects.read(text), *configurations(text)]
    return sorted(found, key=lambda each: each.document)


def configurations(text: str) -> Iterator[Read[Configuration]]:
    """Scheduler configurations: bare, in a ConfigMap, or in Helm values, those of a HelmRelease too.

    `config.plugin_path` tells where a plugin stands within one.
    """
    for number, document in enumerate(parse(text)):
        if document.root is not None:
            yield from _within(document.root.data, number, ())


def _within(data: object, number: int, path: Path) -> Iterator[Read[Configuration]]:
    if not isinstance(data, Mapping):
        return
    kind = data.get("kind", "")
    if kind == "" and "tiers" in data:
        yield Read(config.read(data), number, path)
    elif kind == "List" and isinstance(data.get("items"), list):
        for index, item in enumerate(data["items"]):
            yield from _within(item, number, (*path, "items", index))
    elif isinstance(kind, str) and kind in _HELD:
        held = lookup(data, _HELD[kind])
        if isinstance(held, str):
            yield from _embedded(held, number, (*path, *_HELD[kind]))


def _embedded(text: str, number: int, path: Path) -> Iterator[Read[Configuration]]:
    """The scheduler decodes the first document of the text only."""
    document = next(iter(parse(text)), None)
    if document is not None and document.root is not None and isinstance(document.root.data, Mapping):
        yield Read(config.read(document.root.data), number, path, ())
