"""Volcano: queues, and the scheduler's configuration with its delivery."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.importer.found import Found
from policykit.importer.objects.shape import mapping
from policykit.model.queue import Queue
from policykit.targets.volcano import queues
from policykit.targets.volcano.config import CONFIG_KEY
from policykit.targets.volcano.generate import NAMESPACE

_OVERRIDE = "scheduler_config_override"
_MOST_WEIGHT = 65535


def queue(data: Mapping[str, Any], found: Found) -> None:
    """A Queue. `root` is Volcano's own, and so is `default` as Volcano makes it."""
    found.target("volcano")
    read = queues.read(data)
    if read.parent == "root":
        read = read._replace(parent="")
    if read.name == "root" or read == Queue("default"):
        return
    if not 1 <= read.weight <= _MOST_WEIGHT:
        found.say(
            f"queue {read.name} has weight {read.weight}, which is not from 1 to {_MOST_WEIGHT}; taken for 1"
        )
        read = read._replace(weight=1)
    if read.priority is not None and read.priority < 0:
        found.say(f"queue {read.name} has priority {read.priority}, below zero; left out")
        read = read._replace(priority=None)
    found.add_queue(read)


def config_map(data: Mapping[str, Any], found: Found) -> str:
    """The scheduler configuration in a ConfigMap, as text; empty: it carries none."""
    text = mapping(data.get("data")).get(CONFIG_KEY)
    if not isinstance(text, str):
        return ""
    namespace = mapping(data.get("metadata")).get("namespace")
    found.target("volcano", delivery="manifest", namespace=_other(namespace))
    return text


def values(data: Mapping[str, Any], found: Found) -> str:
    """The scheduler configuration in Helm values of Volcano's chart, as text; empty: none."""
    custom, basic = mapping(data.get("custom")), mapping(data.get("basic"))
    tag = basic.get("image_tag_version")
    if isinstance(tag, str):
        found.target("volcano", version=tag.removeprefix("v"))
    text = custom.get(_OVERRIDE)
    if not isinstance(text, str):
        return ""
    found.target("volcano", delivery="helm-values")
    return text


def configuration(data: object, found: Found) -> None:
    """The configuration itself: actions and tiers."""
    if isinstance(data, Mapping) and "tiers" in data and found.volcano is None:
        found.volcano = data


def _other(namespace: object) -> str:
    return namespace if isinstance(namespace, str) and namespace != NAMESPACE else ""
