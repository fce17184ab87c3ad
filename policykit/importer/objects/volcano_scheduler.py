"""Volcano's scheduler configuration, and how it is delivered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.catalogue.volcano.configuration import read
from policykit.catalogue.volcano.validator import PREEMPTING, RECLAIMING
from policykit.importer.inventory import Inventory
from policykit.manifests.shape import mapping
from policykit.targets.volcano.generate import NAMESPACE
from policykit.targets.volcano.names import CONFIG_FILE, CONFIG_OVERRIDE


def config_map(data: Mapping[str, Any], inventory: Inventory) -> str:
    """The scheduler configuration in a ConfigMap, as text; empty: none."""
    text = mapping(data.get("data")).get(CONFIG_FILE)
    if not isinstance(text, str):
        return ""
    namespace = mapping(data.get("metadata")).get("namespace")
    inventory.target("volcano", delivery="manifest", namespace=_other(namespace))
    return text


def values(data: Mapping[str, Any], inventory: Inventory) -> str:
    """The scheduler configuration in Helm values of Volcano's chart, as text; empty: none."""
    custom, basic = mapping(data.get("custom")), mapping(data.get("basic"))
    tag = basic.get("image_tag_version")
    if isinstance(tag, str):
        inventory.target("volcano", version=tag.removeprefix("v"))
    text = custom.get(CONFIG_OVERRIDE)
    if not isinstance(text, str):
        return ""
    inventory.target("volcano", delivery="helm-values")
    return text


def configuration(data: object, inventory: Inventory) -> None:
    """The configuration: actions and tiers."""
    if isinstance(data, Mapping) and "tiers" in data and inventory.volcano is None:
        inventory.volcano = data
        inventory.target("volcano")
        actions = read(data).actions
        if any(name in actions for name in PREEMPTING):
            inventory.preemption = inventory.preemption._replace(within_queue=True)
        if any(name in actions for name in RECLAIMING):
            inventory.preemption = inventory.preemption._replace(reclaim=True)


def _other(namespace: object) -> str:
    return namespace if isinstance(namespace, str) and namespace != NAMESPACE else ""
