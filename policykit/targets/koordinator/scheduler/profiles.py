"""Every profile of koord-scheduler that the policy configures: the target's own, and those of placements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from typing import Any, NamedTuple

from policykit.manifests.patch import APPEND, Patch, patched
from policykit.manifests.shape import mapping, mappings
from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.placement import Placement
from policykit.targets.capacity import most_cards
from policykit.targets.koordinator import versions
from policykit.targets.koordinator.options import KoordinatorOptions, of
from policykit.targets.koordinator.scheduler import chart, configuration, merge, placements, scoring
from policykit.targets.koordinator.scheduler.configuration import Profile
from policykit.targets.koordinator.scheduler.merge import Step, apply_steps, below
from policykit.targets.koordinator.scheduler.packing import Packing, chosen_fit, packing
from policykit.targets.koordinator.scheduler.plugins import LOAD_AWARE, SCARCE, SCORERS
from policykit.targets.koordinator.scheduler.settings import (
    Settings,
    check_load_aware,
    plugin_settings,
)
from policykit.targets.release import Version


class ProfilePlan(NamedTuple):
    """How one profile is to score."""

    name: str
    """Its schedulerName."""
    packing: Packing
    placement: Placement | None = None
    others: tuple[str, ...] = ()
    """Further placements for the same profile, without effect."""
    opposing: tuple[str, ...] = ()
    """Plugins that score against the placement, because the policy's options say so."""


class Plan(NamedTuple):
    """All profiles, and the changes of the configuration that produce them."""

    profiles: tuple[ProfilePlan, ...]
    patches: tuple[Patch, ...]
    settings: Settings

    @property
    def changes_nothing(self) -> bool:
        """Nothing is packed, avoided or set: the configuration may stay as it is."""
        scoring = any(each.packing.fit or each.packing.avoid or each.placement for each in self.profiles)
        settings = self.settings
        return not (scoring or settings.args or settings.weights or settings.disabled or self.patches)


def plan(
    cluster: Cluster, target: TargetSettings, data: Mapping[str, Any], name: str, version: Version
) -> Plan:
    """`data`: a configuration that the release reads; `name`: schedulerName of the target's profile.

    Raises PolicykitError where it has no such profile, and for values that would stop the scheduler.
    """
    given = configuration.read(data)
    base = given.required_profile(name)
    planner = _Planner(cluster, target, version, of(target), str(data.get("apiVersion")))
    names = placements.own_profiles(target, name)
    settings = plugin_settings(cluster, (name, *names), planner.options, version)
    check_load_aware(settings.args.get(LOAD_AWARE, {}), base.arguments(LOAD_AWARE))
    common = tuple(_common_steps(settings, planner.api_version, version))
    first, settled = apply_steps(base, common)
    scored, own = planner.scoring(settled)
    patches, profiles = [*below(base.path, [*first, *scored])], [own]
    for each in names:
        there = given.profile(each)
        before, profile = apply_steps(there, common) if there else ([], _copy(settled, each))
        scored, made = planner.scoring(profile)
        profiles.append(made)
        if there:
            patches += below(there.path, [*before, *scored])
        else:
            patches.append(Patch("add", ("profiles", APPEND), reduce(patched, scored, profile.data)))
    return Plan(tuple(profiles), tuple(patches), settings)


def _common_steps(settings: Settings, api_version: str, version: Version) -> Iterator[Step]:
    """What is the same in every profile: args, the plugins that must run, and those that must not."""
    for plugin, fields in settings.args.items():
        yield merge.set_args(plugin, fields, api_version)
    at = chart.enabled(version)
    for plugin in settings.plugins:
        points = [point for point, names in at.items() if plugin in names]
        yield from merge.run_at(plugin, [each for each in points if (each, plugin) not in settings.disabled])
    for plugin, weight in settings.weights.items():
        yield merge.enable(plugin, "score", weight)
    for point, plugin in settings.disabled:
        yield merge.disable(plugin, point)


class _Planner(NamedTuple):
    """What the profiles of one configuration have in common."""

    cluster: Cluster
    target: TargetSettings
    version: Version
    options: KoordinatorOptions
    api_version: str

    def scoring(self, profile: Profile) -> tuple[list[Patch], ProfilePlan]:
        """The changes that make one profile score by its placement."""
        cluster, target, version, options, api_version = self
        placement, others = placements.profile_placement(cluster, profile.name)
        found: list[Patch] = []
        opposing: tuple[str, ...] = ()
        if placement:
            fit = chosen_fit(cluster, target, profile.name, placement, most_cards(cluster))
            opposing = tuple(scoring.opposing_options(fit, options))
            aligned = scoring.align_others(fit, options, version, api_version)
            found, profile = apply_steps(profile, [*scoring.disable_others(placement, version), *aligned])
        scarce = options.fields(SCARCE).get("resources", ())
        avoid = tuple(dict.fromkeys((*(placement.avoid if placement else ()), *scarce)))
        if version < versions.FIT_PLUS:
            avoid = ()
        weight = options.weights.get(SCARCE)
        numbers = packing(cluster, target, profile, profile.name, version, placement, avoid, weight)
        made, _ = apply_steps(profile, scoring.write_numbers(numbers, api_version))
        return [*found, *made], ProfilePlan(profile.name, numbers, placement, others, opposing)


def _copy(base: Profile, name: str) -> Profile:
    """The base profile under another name, without what scores for the base's own placement."""
    data = {**base.data, "schedulerName": name}
    if isinstance(data.get("pluginConfig"), list):
        data["pluginConfig"] = _without_scorers(data["pluginConfig"])
    if isinstance(data.get("plugins"), Mapping):
        data["plugins"] = {point: _copy_point(given) for point, given in data["plugins"].items()}
    return configuration.read_profile(data)


def _copy_point(given: object) -> object:
    enabled = mapping(given).get("enabled")
    return {**mapping(given), "enabled": _without_scorers(enabled)} if isinstance(enabled, list) else given


def _without_scorers(entries: object) -> list[Mapping[str, Any]]:
    return [entry for entry in mappings(entries) if entry.get("name") not in SCORERS]
