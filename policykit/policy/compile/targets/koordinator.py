"""Koordinator's own part of the policy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policykit.catalogue.koordinator.fields import DURATIONS, SECTIONS, WEIGHT, Release
from policykit.manifests.path import Path
from policykit.policy.compile.amounts import resource_of
from policykit.policy.compile.draft import Draft
from policykit.policy.compile.targets.koordinator_colocation import colocation
from policykit.policy.compile.targets.stated import Stated, SystemOptions
from policykit.policy.models.base import Model
from policykit.policy.models.targets.koordinator import Koordinator
from policykit.policy.suggest import did_you_mean
from policykit.targets.koordinator.scheduler import plugin_args

_FIRST_FIT_PLUS = (1, 6, 0)
_BY_RESOURCE = frozenset(
    {
        *("usageThresholds", "prodUsageThresholds", "resourceWeights", "estimatedScalingFactors"),
        *("defaultQuotaGroupMax", "systemQuotaGroupMax"),
    }
)
_RESOURCES = frozenset({"supportedResources", "matchedResources"})


def options(draft: Draft, path: Path, stated: Koordinator, given: Stated) -> SystemOptions:
    """Options of Koordinator: for each section, fields of the args as upstream spells them."""
    have, texts = given.release, given.texts
    if stated.fit and have and have < _FIRST_FIT_PLUS:
        message = f"Koordinator {stated.version} has no NodeResourcesFitPlus (added in 1.6)"
        draft.problems.error(
            (*path, "fit"), message, "remove fit, or use Koordinator 1.6.1 or newer", key=True
        )
    options: dict[str, Any] = {}
    fit = {}
    for name, each in stated.fit.items():
        resource = resource_of(draft, (*path, "fit", name), name)
        if resource:
            fit[resource] = {"type": each.type, "weight": each.weight}
    if fit:
        options["fit"] = fit
    if stated.config in texts:
        options["config"] = texts[stated.config]
    schedulers = tuple(_schedulers(draft, (*path, "profiles"), stated.profiles))
    for option, (key, plugin) in SECTIONS.items():
        section: Model | None = getattr(stated, option)
        if section is None:
            continue
        place = (*path, key)
        found = _section(draft, place, section)
        if found:
            options[option] = found
            _check_args(draft, place, plugin, found, (have,) if have else (), bool(stated.config))
    if stated.colocation:
        options["colocation"] = colocation(draft, (*path, "colocation"), stated.colocation)
    _strategies(draft, path, options)
    namespace = options.get("elastic_quota", {}).get("quotaGroupNamespace")
    found = {**options, "quota_namespace": namespace} if namespace else options
    return SystemOptions(found, schedulers, frozenset({"koordinator"}))


def _schedulers(draft: Draft, path: Path, names: tuple[str, ...]) -> Iterator[str]:
    for number, name in enumerate(names):
        placement = draft.policy.placements.get(name)
        if placement is None:
            hint = did_you_mean(name, draft.names("placements"))
            draft.problems.error((*path, number), f"there is no placement {name!r}", hint)
        elif not placement.scheduler:
            message = f"placement {name} has no scheduler, so its profile would have no schedulerName"
            draft.problems.error((*path, number), message, f"add scheduler to placements.{name}")
        else:
            yield placement.scheduler


def _section(draft: Draft, path: Path, section: Model) -> dict[str, Any]:
    """A section as fields of the plugin's args."""
    stated = section.model_dump(by_alias=True, exclude_unset=True, exclude_none=True)
    return {key: _value(draft, (*path, key), key, value) for key, value in stated.items()}


def _value(draft: Draft, path: Path, key: str, value: Any) -> Any:
    if key in DURATIONS:
        return f"{value}s"
    if key in _BY_RESOURCE:
        return _by_resource(draft, path, value)
    if key in _RESOURCES or (key == "resources" and not isinstance(value, dict)):
        named = [resource_of(draft, (*path, number), name) for number, name in enumerate(value)]
        return [resource for resource in named if resource]
    if key == "resources":
        found = _by_resource(draft, path, value)
        return [{"name": name, "weight": weight} for name, weight in found.items()]
    if isinstance(value, dict):
        return {name: _value(draft, (*path, name), name, each) for name, each in value.items()}
    return list(value) if isinstance(value, tuple) else value


def _by_resource(draft: Draft, path: Path, value: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, each in value.items():
        resource = resource_of(draft, (*path, name), name)
        if resource in found:
            draft.problems.error(
                (*path, name), f"{resource} is named twice", "keep only one of them", key=True
            )
        elif resource:
            found[resource] = each
    return found


def _check_args(
    draft: Draft,
    path: Path,
    plugin: str,
    section: dict[str, Any],
    releases: tuple[Release, ...],
    merged: bool,
) -> None:
    """`merged`: the section adds to a given configuration, which may bring scaling factors of its own."""
    args = {name: value for name, value in section.items() if name != WEIGHT}
    for problem in plugin_args.problems(plugin, args, releases):
        if problem.severity is None and not (merged and problem.path[0] == "resourceWeights"):
            draft.problems.error((*path, *problem.path), problem.message, problem.help, key=problem.key)


def _strategies(draft: Draft, path: Path, options: dict[str, Any]) -> None:
    for option, field in (
        ("device_share", "scoringStrategy"),
        ("numa", "scoringStrategy"),
        ("numa", "numaScoringStrategy"),
    ):
        strategy = options.get(option, {}).get(field)
        if strategy is None:
            continue
        strategy.setdefault("type", "LeastAllocated")
        if not strategy.get("resources"):
            draft.problems.error(
                (*path, SECTIONS[option][0], field),
                f"{field} has no resources, so every node scores 0",
                "add them with their weights: resources: {cpu: 1, memory: 1}",
                key=True,
            )
    for number, model in enumerate(options.get("device_share", {}).get("gpuShareUnsupportedModels", ())):
        for part in ("vendor", "model"):
            if not model.get(part):
                draft.problems.error(
                    (*path, "deviceShare", "gpuShareUnsupportedModels", number),
                    f"an entry of gpuShareUnsupportedModels has no {part}",
                    f"add {part}, the value of the node label gpu-{part}",
                )
