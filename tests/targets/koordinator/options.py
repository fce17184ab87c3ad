"""Options of Koordinator, compiled from sections as upstream spells their fields."""

from typing import Any

from policykit.targets.koordinator.options import Fit, KoordinatorOptions, PodClass
from policykit.targets.koordinator.scheduler.fields import SECTIONS, WEIGHT


def koordinator_options(**sections: Any) -> KoordinatorOptions:
    """Of `fit`, `config`, `classes`, `priority_classes`, and a section for each plugin: load_aware, ..."""
    plugins = {plugin: dict(sections[name]) for name, (_, plugin) in SECTIONS.items() if name in sections}
    weights = {plugin: args.pop(WEIGHT) for plugin, args in plugins.items() if WEIGHT in args}
    return KoordinatorOptions(
        {resource: Fit(**each) for resource, each in sections.get("fit", {}).items()},
        sections.get("config", ""),
        {plugin: args for plugin, args in plugins.items() if args},
        weights,
        {
            kind: PodClass(
                each["priority"],
                each["qos"],
                each.get("order"),
                tuple(each.get("tenants", ())),
                tuple(each.get("namespaces", ())),
            )
            for kind, each in sections.get("classes", {}).items()
        },
        sections.get("priority_classes", False),
    )
