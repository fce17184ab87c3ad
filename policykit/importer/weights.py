"""Weights that a scheduler's configuration states: kept in the policy only where they are not computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.catalogue.volcano.configuration import Configuration, read
from policykit.errors import PolicykitError
from policykit.importer import koordinator
from policykit.importer.draft import Draft
from policykit.importer.found import Found
from policykit.importer.volcano import Say, options
from policykit.model.cluster import Cluster
from policykit.targets.fleet import most_cards
from policykit.targets.koordinator.scheduler.packing import default_fit
from policykit.targets.koordinator.scheduler.placements import MAX_WEIGHT, TYPES, fit
from policykit.targets.koordinator.scheduler.weights import Fit
from policykit.targets.volcano import versions
from policykit.targets.volcano.objects import admission
from policykit.targets.volcano.scheduler.scoring import scoring
from policykit.targets.yunikorn import options as yunikorn
from policykit.targets.yunikorn.derived import node_sorting


def add_weights(draft: Draft, found: Found, cluster: Cluster) -> None:
    """Adds options of Volcano and takes `fit` of Koordinator away, so that `gen` writes what is there."""
    if "koordinator" in draft.data.get("targets", {}):
        _koordinator(draft, found, cluster)
    if "yunikorn" in draft.data.get("targets", {}):
        _yunikorn(draft, cluster)
    if found.volcano is not None and "volcano" in cluster.targets:
        _volcano(draft, found, cluster, read(found.volcano))


def _koordinator(draft: Draft, found: Found, cluster: Cluster) -> None:
    usual = {
        name: {"type": fit.type, "weight": fit.weight}
        for name, fit in default_fit(most_cards(cluster)).items()
    }
    if found.targets["koordinator"].get("fit") == usual:
        del draft.data["targets"]["koordinator"]["fit"]
    cluster = _by_default(draft, cluster)
    if found.koordinator is not None:
        cluster = _versioned(draft, cluster, koordinator.release(found.koordinator))
        try:
            stated = koordinator.options(cluster, found.koordinator, found.say)
            draft.data["targets"]["koordinator"].update(stated)
        except PolicykitError as error:
            found.say(f"koordinator: {error.message}; its configuration was not compared")


def _versioned(draft: Draft, cluster: Cluster, release: str) -> Cluster:
    """With the release that Koordinator's configuration shows, where nothing else does."""
    target = cluster.targets["koordinator"]
    if target.version or not release:
        return cluster
    section = draft.data["targets"]["koordinator"]
    draft.data["targets"]["koordinator"] = {"version": release, **section}
    stated = target._replace(version=release)
    return cluster._replace(targets={**cluster.targets, "koordinator": stated})


def _by_default(draft: Draft, cluster: Cluster) -> Cluster:
    """Placements without the weights that Koordinator chooses by itself."""
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
    if yunikorn.read(target).node_sort == usual:
        del draft.data["targets"]["yunikorn"]["nodeSort"]


def _volcano(draft: Draft, found: Found, cluster: Cluster, there: Configuration) -> None:
    try:
        draft.data["targets"]["volcano"].update(_of_volcano(cluster, there, found.say))
    except PolicykitError as error:
        found.say(f"volcano: {error.message}; its configuration was not compared")


def _of_volcano(cluster: Cluster, there: Configuration, say: Say) -> dict[str, Any]:
    """Options with which Volcano's configuration is the one that is there. Raises PolicykitError where
    there is none even without them."""
    target = cluster.targets["volcano"]
    version = versions.parse(target.version)
    ours = scoring(cluster, target)
    written, _ = admission.admitted(cluster.queues, version, cluster.pools)
    plugin = there.plugin("binpack")
    computed = {"weight": ours.binpack, "resources": dict(ours.resources)}
    weights = _binpack(plugin.arguments) if plugin else {"weight": 0}
    stated = {key: value for key, value in weights.items() if computed[key] != value}
    if not stated:
        return options(cluster, written, version, there, say)
    return {"binpack": stated, **options(_stating(cluster, stated), written, version, there, say)}


def _stating(cluster: Cluster, binpack: Mapping[str, Any]) -> Cluster:
    target = cluster.targets["volcano"]
    stated = target._replace(options={**target.options, "binpack": binpack})
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
