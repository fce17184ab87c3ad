"""The profiles of koord-scheduler that the policy configures: the target's own, and those of placements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from typing import Any

from policykit.manifests.patch import APPEND, Patch, patched
from policykit.manifests.shape import mapping, mappings
from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.release import Version
from policykit.model.workload import Placement
from policykit.namedtuple import NamedTuple
from policykit.targets.koordinator import versions
from policykit.targets.koordinator.options import Fit, KoordinatorOptions, koordinator_options
from policykit.targets.koordinator.scheduler import chart, configuration, fields, merge, placements
from policykit.targets.koordinator.scheduler.configuration import Profile
from policykit.targets.koordinator.scheduler.merge import (
    Step,
    apply_steps,
    below,
    disable,
    enable,
    prepare,
    set_args,
)
from policykit.targets.koordinator.scheduler.placements import Packing, chosen_fit, packing
from policykit.targets.koordinator.scheduler.plugins import (
    BALANCED,
    DEVICES,
    FIT,
    FIT_PLUS,
    LOAD_AWARE,
    NUMA,
    RESERVATION,
    SCARCE,
    SCORERS,
)
from policykit.targets.koordinator.scheduler.settings import Settings, check_load_aware, plugin_settings
from policykit.targets.koordinator.scheduler.weights import is_device
from policykit.targets.pool_capacity import most_cards


class ProfilePlan(NamedTuple):
    """How a profile scores nodes."""

    name: str
    """Its schedulerName."""
    packing: Packing
    placement: Placement | None = None
    others: tuple[str, ...] = ()
    """Further placements for the same profile, without effect."""
    opposing: tuple[str, ...] = ()
    """Plugins whose options in the policy contradict the placement."""


class Plan(NamedTuple):
    """All profiles, and the changes of the configuration that create them."""

    profiles: tuple[ProfilePlan, ...]
    patches: tuple[Patch, ...]
    settings: Settings

    @property
    def changes_nothing(self) -> bool:
        """Whether the configuration can stay as it is: nothing is packed, avoided or set."""
        scoring = any(each.packing.fit or each.packing.avoid or each.placement for each in self.profiles)
        settings = self.settings
        return not (scoring or settings.args or settings.weights or settings.disabled or self.patches)


def plan(
    cluster: Cluster, target: TargetSettings, data: Mapping[str, Any], name: str, version: Version
) -> Plan:
    """`data`: a configuration that the release reads; `name`: schedulerName of the target's profile.

    Raises PolicykitError if it has no such profile, and for values that would stop the scheduler.
    """
    given = configuration.read(data)
    base = given.required_profile(name)
    planner = _Planner(cluster, target, version, koordinator_options(target), str(data.get("apiVersion")))
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
    """Steps that are the same for every profile: args, required plugins, and disabled ones."""
    for plugin, args in settings.args.items():
        yield merge.set_args(plugin, fields.of_release(plugin, args, version), api_version)
    at = chart.enabled(version)
    for plugin in settings.plugins:
        points = [point for point, names in at.items() if plugin in names]
        yield from merge.run_at(plugin, [each for each in points if (each, plugin) not in settings.disabled])
    for plugin, weight in settings.weights.items():
        yield merge.enable(plugin, "score", weight)
    for point, plugin in settings.disabled:
        yield merge.disable(plugin, point)


class _Planner(NamedTuple):
    """The data that all profiles of a configuration share."""

    cluster: Cluster
    target: TargetSettings
    version: Version
    options: KoordinatorOptions
    api_version: str

    def scoring(self, profile: Profile) -> tuple[list[Patch], ProfilePlan]:
        """The changes that make a profile score by its placement."""
        cluster, target, version, options, api_version = self
        placement, others = placements.profile_placement(cluster, profile.name)
        found: list[Patch] = []
        opposing: tuple[str, ...] = ()
        if placement:
            fit = chosen_fit(cluster, target, profile.name, placement, most_cards(cluster))
            opposing = tuple(opposing_options(fit, options))
            aligned = align_others(fit, options, version, api_version)
            found, profile = apply_steps(profile, [*disable_others(placement, version), *aligned])
        scarce = options.fields(SCARCE).get("resources", ())
        avoid = tuple(dict.fromkeys((*(placement.avoid if placement else ()), *scarce)))
        if version < versions.FIT_PLUS:
            avoid = ()
        weight = options.weights.get(SCARCE)
        numbers = packing(cluster, target, profile, profile.name, version, placement, avoid, weight)
        made, _ = apply_steps(profile, write_numbers(numbers, api_version))
        return [*found, *made], ProfilePlan(profile.name, numbers, placement, others, opposing)


def _copy(base: Profile, name: str) -> Profile:
    """The base profile under another name, without the plugins that score for its placement."""
    data = {**base.data, "schedulerName": name}
    if isinstance(data.get("pluginConfig"), list):
        data["pluginConfig"] = _without_scorers(data["pluginConfig"])
    if isinstance(data.get("plugins"), dict):
        data["plugins"] = {point: _copy_point(given) for point, given in data["plugins"].items()}
    return configuration.read_profile(data)


def _copy_point(given: object) -> object:
    enabled = mapping(given).get("enabled")
    return {**mapping(given), "enabled": _without_scorers(enabled)} if isinstance(enabled, list) else given


def _without_scorers(entries: object) -> list[Mapping[str, Any]]:
    return [entry for entry in mappings(entries) if entry.get("name") not in SCORERS]


def disable_others(placement: Placement, version: Version) -> Iterator[Step]:
    """Plugins that would score the same resources differently stop scoring; they still filter."""
    if version >= fields.FIELDS[FIT_PLUS]["resources"] and not placement.shape:
        yield disable(FIT, "score")
    yield disable(BALANCED, "score")


def align_others(
    wanted: Mapping[str, Fit], options: KoordinatorOptions, version: Version, api_version: str
) -> Iterator[Step]:
    """Makes DeviceShare and NodeNUMAResource score the same way as the placement."""
    memory = fields.FIELDS[DEVICES]["gpuSharedResourceTemplatesConfig"] <= version
    devices = placements.device_strategy(wanted, memory)
    if devices and "scoringStrategy" not in options.fields(DEVICES):
        mixed = _mixed(each for name, each in wanted.items() if is_device(name))
        yield _aligned(
            DEVICES, fields.of_release(DEVICES, {"scoringStrategy": devices}, version), api_version, mixed
        )
    native = placements.numa_strategy(wanted)
    if native and "scoringStrategy" not in options.fields(NUMA):
        also = {} if "numaScoringStrategy" in options.fields(NUMA) else {"numaScoringStrategy": native}
        mixed = _mixed(wanted[name] for name in ("cpu", "memory") if name in wanted)
        aligned = fields.of_release(NUMA, {"scoringStrategy": native, **also}, version)
        yield _aligned(NUMA, aligned, api_version, mixed)


def opposing_options(wanted: Mapping[str, Fit], options: KoordinatorOptions) -> Iterator[str]:
    """Plugins whose scoringStrategy in the policy contradicts the placement."""
    for plugin, strategy in (
        (DEVICES, placements.device_strategy(wanted, False)),
        (NUMA, placements.numa_strategy(wanted)),
    ):
        stated = options.fields(plugin).get("scoringStrategy")
        if strategy and stated and stated.get("type") != strategy["type"]:
            yield plugin


def write_numbers(packing: Packing, api_version: str) -> Iterator[Step]:
    """Steps that write the weights: for packing, for avoidance, and for preferences above both."""
    if packing.fit:
        yield set_args(packing.plugin, _fit_args(packing), api_version)
        if packing.plugin == FIT_PLUS:
            yield enable(FIT_PLUS, "preScore")
        else:
            yield prepare(FIT)
        yield enable(packing.plugin, "score", packing.weight)
    if packing.avoid:
        yield set_args(SCARCE, {"resources": list(packing.avoid)}, api_version)
        yield enable(SCARCE, "preScore")
        yield enable(SCARCE, "score", packing.avoidance)
    if packing.reservation is not None:
        yield enable(RESERVATION, "score", packing.reservation)
    if packing.affinity is not None:
        yield prepare("NodeAffinity")
        yield enable("NodeAffinity", "score", packing.affinity)


def _fit_args(packing: Packing) -> dict[str, Any]:
    if packing.plugin == FIT_PLUS:
        # A map by resource name, where NodeResourcesFit has a list.
        return {"resources": {name: {"type": f.type, "weight": f.weight} for name, f in packing.fit.items()}}
    strategy: dict[str, Any] = {
        "type": placements.TYPES[packing.strategy],
        "resources": [{"name": name, "weight": each.weight} for name, each in packing.fit.items()],
    }
    if packing.shape:
        shape = [{"utilization": point.utilization, "score": point.score} for point in packing.shape]
        strategy["type"] = "RequestedToCapacityRatio"
        strategy["requestedToCapacityRatio"] = {"shape": shape}
    return {"scoringStrategy": strategy}


def _mixed(wanted: Iterable[Fit]) -> bool:
    """Whether some are packed and others spread: the strategy then leaves out those to be spread."""
    return len({each.type for each in wanted}) > 1


def _aligned(plugin: str, wanted: Mapping[str, Any], api_version: str, mixed: bool) -> Step:
    """Sets args, unless the plugin does not score, or already spreads everything by default."""

    def step(profile: Profile) -> Iterable[Patch]:
        given = profile.arguments(plugin)
        spread = all(strategy["type"] == "LeastAllocated" for strategy in wanted.values())
        if not profile.point("score").plugin(plugin) and not given:
            return ()
        if spread and not mixed and not any(name in given for name in wanted):
            return ()
        return set_args(plugin, wanted, api_version)(profile)

    return step
