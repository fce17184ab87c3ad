"""Scheduler options of the policy: only what `gen` would not compute by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.catalogue.volcano.configuration import Configuration, read
from policykit.errors import PolicykitError
from policykit.importer import koordinator_options
from policykit.importer.draft import Draft
from policykit.importer.inventory import Inventory
from policykit.importer.volcano_options import Say, options
from policykit.model.cluster import Cluster
from policykit.targets.capacity import most_cards
from policykit.targets.koordinator.options import Fit
from policykit.targets.koordinator.scheduler.packing import default_fit
from policykit.targets.koordinator.scheduler.placements import MAX_WEIGHT, TYPES, fit
from policykit.targets.volcano import options as volcano
from policykit.targets.volcano import versions
from policykit.targets.volcano.objects import queue_admission
from policykit.targets.volcano.scheduler.scoring import scoring
from policykit.targets.yunikorn import node_sorting
from policykit.targets.yunikorn import options as yunikorn


def add_weights(draft: Draft, inventory: Inventory, cluster: Cluster) -> None:
    """Adds and removes scheduler options so that `gen` reproduces the existing configurations."""
    if "koordinator" in draft.data.get("targets", {}):
        _koordinator(draft, inventory, cluster)
    if "yunikorn" in draft.data.get("targets", {}):
        _yunikorn(draft, cluster)
    if inventory.volcano is not None and "volcano" in cluster.targets:
        _volcano(draft, inventory, cluster, read(inventory.volcano))


def _koordinator(draft: Draft, inventory: Inventory, cluster: Cluster) -> None:
    usual = {
        name: {"type": fit.type, "weight": fit.weight}
        for name, fit in default_fit(most_cards(cluster)).items()
    }
    if inventory.targets["koordinator"].get("fit") == usual:
        del draft.data["targets"]["koordinator"]["fit"]
    cluster = _without_default_weights(draft, cluster)
    if inventory.koordinator is not None:
        cluster = _with_release(draft, cluster, koordinator_options.release(inventory.koordinator))
        try:
            stated = koordinator_options.options(cluster, inventory.koordinator, inventory.say)
            draft.data["targets"]["koordinator"].update(stated)
        except PolicykitError as error:
            inventory.say(f"koordinator: {error.message}; its configuration was not compared")


def _with_release(draft: Draft, cluster: Cluster, release: str) -> Cluster:
    """The cluster with the release that Koordinator's configuration implies, if no file states one."""
    target = cluster.targets["koordinator"]
    if target.version or not release:
        return cluster
    section = draft.data["targets"]["koordinator"]
    draft.data["targets"]["koordinator"] = {"version": release, **section}
    stated = target._replace(version=release)
    return cluster._replace(targets={**cluster.targets, "koordinator": stated})


def _without_default_weights(draft: Draft, cluster: Cluster) -> Cluster:
    """The cluster without placement weights that equal Koordinator's defaults."""
    sizes = most_cards(cluster)
    left = dict(cluster.placements)
    for name, placement in cluster.placements.items():
        bare = placement._replace(resources={})
        stated = {resource: Fit(TYPES[p.strategy], p.weight) for resource, p in placement.resources.items()}
        usual = {resource: Fit(f.type, min(f.weight, MAX_WEIGHT)) for resource, f in fit(bare, sizes).items()}
        if stated and not placement.shape and usual == stated:
            del draft.data["placements"][name]["resources"]
            left[name] = bare
    return cluster._replace(placements=left)


def _yunikorn(draft: Draft, cluster: Cluster) -> None:
    target = cluster.targets["yunikorn"]
    usual = node_sorting.sorting(cluster, target, None).sort
    if yunikorn.of(target).node_sort == usual:
        del draft.data["targets"]["yunikorn"]["nodeSort"]


def _volcano(draft: Draft, inventory: Inventory, cluster: Cluster, there: Configuration) -> None:
    try:
        draft.data["targets"]["volcano"].update(_volcano_options(cluster, there, inventory.say))
    except PolicykitError as error:
        inventory.say(f"volcano: {error.message}; its configuration was not compared")


def _volcano_options(cluster: Cluster, there: Configuration, say: Say) -> dict[str, Any]:
    """Options that reproduce the existing configuration of Volcano.

    Raises PolicykitError if no configuration can be generated even without them."""
    target = cluster.targets["volcano"]
    version = versions.parse(target.version)
    ours = scoring(cluster, target)
    written, _ = queue_admission.admitted_queues(cluster.queues, version, cluster.pools)
    plugin = there.plugin("binpack")
    computed = {"weight": ours.binpack, "resources": dict(ours.resources)}
    weights = _binpack(plugin.arguments) if plugin else {"weight": 0}
    stated = {key: value for key, value in weights.items() if computed[key] != value}
    if not stated:
        return options(cluster, written, version, there, say)
    return {"binpack": stated, **options(_with_options(cluster, stated), written, version, there, say)}


def _with_options(cluster: Cluster, binpack: Mapping[str, Any]) -> Cluster:
    target = cluster.targets["volcano"]
    stated = target._replace(options=volcano.of(target)._replace(**binpack))
    return cluster._replace(targets={**cluster.targets, "volcano": stated})


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
