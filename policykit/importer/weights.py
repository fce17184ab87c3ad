"""Weights that a scheduler's configuration states: kept in the policy only where they are not computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.errors import PolicykitError
from policykit.importer.draft import Draft
from policykit.importer.found import Found
from policykit.model.cluster import Cluster
from policykit.targets.koordinator.packing import cards_per_node, default_fit
from policykit.targets.volcano import admission, config, versions
from policykit.targets.volcano.config import Configuration
from policykit.targets.volcano.generate import configuration
from policykit.targets.volcano.scoring import scoring


def add_weights(draft: Draft, found: Found, cluster: Cluster) -> None:
    """Adds `binpack` of Volcano and takes `fit` of Koordinator away, so that `gen` writes what is there."""
    if "koordinator" in draft.data.get("targets", {}):
        _koordinator(draft, found, cluster)
    if found.volcano is not None and "volcano" in cluster.targets:
        _volcano(draft, found, cluster, config.read(found.volcano))


def _koordinator(draft: Draft, found: Found, cluster: Cluster) -> None:
    usual = {
        name: {"type": fit.type, "weight": fit.weight}
        for name, fit in default_fit(cards_per_node(cluster)).items()
    }
    if found.targets["koordinator"].get("fit") == usual:
        del draft.data["targets"]["koordinator"]["fit"]


def _volcano(draft: Draft, found: Found, cluster: Cluster, there: Configuration) -> None:
    target = cluster.targets["volcano"]
    try:
        version = versions.parse(target.version)
        ours = scoring(cluster, target)
        written, _ = admission.admitted(cluster.queues, version)
    except PolicykitError as error:
        found.say(f"volcano: {error.message}; its configuration was not compared")
        return
    plugin = there.plugin("binpack")
    computed = {"weight": ours.binpack, "resources": dict(ours.resources)}
    weights = _binpack(plugin.arguments) if plugin else {"weight": 0}
    stated = {key: value for key, value in weights.items() if computed[key] != value}
    if stated:
        draft.data["targets"]["volcano"]["binpack"] = stated
    _compare(found, there, configuration(ours, written, version))


def _binpack(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """`binpack` of the policy, from the plugin's arguments."""
    names = arguments.get("binpack.resources")
    listed = [name.strip() for name in names.split(",")] if isinstance(names, str) and names.strip() else []
    weights = {name: arguments.get(f"binpack.{name}", 1) for name in ("cpu", "memory")}
    weights |= {name: arguments.get(f"binpack.resources.{name}", 1) for name in listed}
    whole = {name: _weight(weight) for name, weight in weights.items()}
    return {"weight": _weight(arguments.get("binpack.weight", 1)), "resources": whole}


def _weight(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 1


def _compare(found: Found, there: Configuration, ours: Configuration) -> None:
    for what, have, wanted in (
        ("action", there.actions, ours.actions),
        ("plugin", _plugins(there), _plugins(ours)),
    ):
        extra = [name for name in have if name and name not in wanted]
        if extra:
            found.say(
                f"volcano: {what} {', '.join(extra)} is in the configuration, "
                "`policykit gen` would leave it out"
            )


def _plugins(configuration: Configuration) -> list[str]:
    return [plugin.name for tier in configuration.tiers for plugin in tier]
