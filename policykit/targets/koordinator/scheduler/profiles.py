"""Every profile of koord-scheduler that the policy speaks of: the target's own, and those of placements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from typing import Any, NamedTuple

from policykit.manifests.patch import APPEND, Patch, patched
from policykit.model.cluster import Cluster, Target
from policykit.model.placement import Placement
from policykit.targets.fleet import most_cards
from policykit.targets.koordinator import versions
from policykit.targets.koordinator.scheduler import chart, config, configuration, options, placing, scoring
from policykit.targets.koordinator.scheduler.config import FIT_PLUS, SCARCE
from policykit.targets.koordinator.scheduler.merge import (
    Step,
    below,
    disabling,
    enabling,
    running,
    setting,
    steps,
)
from policykit.targets.koordinator.scheduler.options import Options
from policykit.targets.koordinator.scheduler.packing import Packing, chosen_fit, packing
from policykit.targets.koordinator.scheduler.wanted import Wanted, check_load_aware, wanted
from policykit.targets.release import Version

_SCORERS = frozenset({FIT_PLUS, SCARCE})


class Drawn(NamedTuple):
    """What one profile became."""

    name: str
    """Its schedulerName."""
    packing: Packing
    placement: Placement | None = None
    others: tuple[str, ...] = ()
    """Placements meant for the same profile, without effect."""
    opposed: tuple[str, ...] = ()
    """Plugins that score against the placement, because the policy's options say so."""


class Drawing(NamedTuple):
    """All profiles, and the changes of the configuration that make them."""

    drawn: tuple[Drawn, ...]
    patches: tuple[Patch, ...]
    wanted: Wanted

    @property
    def idle(self) -> bool:
        """Nothing is packed, avoided or set: the configuration may stay as it is."""
        busy = any(each.packing.fit or each.packing.avoid or each.placement for each in self.drawn)
        return not (busy or self.wanted.args or self.wanted.weights or self.wanted.off or self.patches)


def drawing(
    cluster: Cluster, target: Target, data: Mapping[str, Any], name: str, version: Version
) -> Drawing:
    """`data`: a configuration that the release reads; `name`: schedulerName of the target's profile.

    Raises PolicykitError where it has no such profile, and for values that would stop the scheduler.
    """
    position, base = config.profile(data, name)
    stated = options.read(target)
    extra = placing.own_profiles(target, name)
    common = wanted(cluster, target, (name, *extra), stated, version)
    check_load_aware(
        common.args.get("LoadAwareScheduling", {}), config.arguments(base, "LoadAwareScheduling")
    )
    api_version = str(data.get("apiVersion"))
    shared = tuple(_shared(common, api_version, version))
    first, settled = steps(base, shared)
    scored, drawn = _scored(cluster, target, settled, name, version, stated, api_version)
    patches = [*below(("profiles", position), [*first, *scored])]
    found = [drawn]
    for each in extra:
        there = configuration.profile_place(data, each)
        if there:
            before, profile = steps(data["profiles"][there[1]], shared)
        else:
            before, profile = [], _copied(settled, each)
        scored, drawn = _scored(cluster, target, profile, each, version, stated, api_version)
        found.append(drawn)
        if there:
            patches += below(there, [*before, *scored])
        else:
            patches.append(Patch("add", ("profiles", APPEND), reduce(patched, scored, profile)))
    return Drawing(tuple(found), tuple(patches), common)


def _shared(common: Wanted, api_version: str, version: Version) -> Iterator[Step]:
    """What is the same in every profile: args, the plugins that must run, and those that must not."""
    for plugin, stated in common.args.items():
        yield setting(plugin, stated, api_version)
    at = chart.enabled(version)
    for plugin in common.plugins:
        where = (point for point, names in at.items() if plugin in names)
        yield from running(plugin, (point for point in where if (point, plugin) not in common.off))
    for plugin, weight in common.weights.items():
        yield enabling(plugin, "score", weight)
    for point, plugin in common.off:
        yield disabling(plugin, point)


def _scored(
    cluster: Cluster,
    target: Target,
    profile: Mapping[str, Any],
    name: str,
    version: Version,
    stated: Options,
    api_version: str,
) -> tuple[list[Patch], Drawn]:
    placement, others = placing.governed(cluster, name)
    found: list[Patch] = []
    opposed: tuple[str, ...] = ()
    if placement:
        fit = chosen_fit(cluster, target, name, placement, most_cards(cluster))
        opposed = tuple(scoring.opposed(fit, stated))
        turned = scoring.beside(placement, fit, stated, version, api_version)
        found, profile = steps(profile, [*scoring.clearing(placement, version), *turned])
    scarce = tuple(stated.fields(SCARCE).get("resources", ()))
    avoid = tuple(dict.fromkeys((*(placement.avoid if placement else ()), *scarce)))
    if version < versions.FIT_PLUS:
        avoid = ()
    numbers = packing(cluster, target, profile, name, version, placement, avoid, stated.weights.get(SCARCE))
    made, _ = steps(profile, scoring.steps(numbers, api_version))
    return [*found, *made], Drawn(name, numbers, placement, others, opposed)


def _copied(base: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The base profile under another name, without what scores for the base's own placement."""
    copy = {**base, "schedulerName": name}
    given, plugins = base.get("pluginConfig"), base.get("plugins")
    if isinstance(given, list):
        copy["pluginConfig"] = [each for each in given if not _scorer(each)]
    if isinstance(plugins, Mapping):
        copy["plugins"] = {point: _without(each) for point, each in plugins.items()}
    return copy


def _without(point: object) -> object:
    enabled = point.get("enabled") if isinstance(point, Mapping) else None
    if not isinstance(point, Mapping) or not isinstance(enabled, list):
        return point
    return {**point, "enabled": [each for each in enabled if not _scorer(each)]}


def _scorer(entry: object) -> bool:
    name = entry.get("name") if isinstance(entry, Mapping) else None
    return isinstance(name, str) and name in _SCORERS
