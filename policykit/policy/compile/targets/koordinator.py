"""Koordinator's own part of the policy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policykit.catalogue.koordinator import fields
from policykit.manifests.path import Path
from policykit.policy.compile.amounts import resource_of
from policykit.policy.compile.draft import Draft
from policykit.policy.compile.targets.koordinator_colocation import colocation
from policykit.policy.compile.targets.stated import Stated
from policykit.policy.models.base import Model
from policykit.policy.models.targets.koordinator import Koordinator
from policykit.policy.suggest import did_you_mean

_FIRST_FIT_PLUS = (1, 6, 0)
_SECTIONS = {
    "load_aware": ("loadAware", "LoadAwareScheduling"),
    "coscheduling": ("coscheduling", "Coscheduling"),
    "elastic_quota": ("elasticQuota", "ElasticQuota"),
    "device_share": ("deviceShare", "DeviceShare"),
    "numa": ("numa", "NodeNUMAResource"),
    "scarce": ("scarce", "ScarceResourceAvoidance"),
}
"""Option to its key in the policy and the plugin it is about."""
_DURATIONS = frozenset(
    {
        *("defaultTimeout", "delayEvictTime", "revokePodInterval", "quotaSnapshotUpdateInterval"),
        *("usageAggregatedDuration", "scoreAggregatedDuration"),
    }
)
_BY_RESOURCE = frozenset(
    {
        *("usageThresholds", "prodUsageThresholds", "resourceWeights", "estimatedScalingFactors"),
        *("defaultQuotaGroupMax", "systemQuotaGroupMax"),
    }
)
_RESOURCES = frozenset({"supportedResources", "matchedResources"})
_FACTORS = frozenset({"cpu", "memory"})
"""Resources that LoadAwareScheduling has a scaling factor for by itself."""


def options(draft: Draft, path: Path, stated: Koordinator, given: Stated) -> dict[str, Any]:
    """`Target.options` of Koordinator: of each section, fields of the plugin's args as upstream has them."""
    have, texts = given.release, given.texts
    if stated.fit and have and have < _FIRST_FIT_PLUS:
        message = f"Koordinator {stated.version} has no NodeResourcesFitPlus, 1.6 is the first that has"
        draft.problems.error((*path, "fit"), message, "remove fit, or install 1.6.1 or newer", key=True)
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
    schedulers = list(_schedulers(draft, (*path, "profiles"), stated.profiles))
    if schedulers:
        options["schedulers"] = schedulers
    for option, (key, plugin) in _SECTIONS.items():
        section: Model | None = getattr(stated, option)
        if section is None:
            continue
        place = (*path, key)
        found = _section(draft, place, section)
        _known(draft, place, plugin, found, stated.version, have)
        if found:
            options[option] = found
    if stated.colocation:
        options["colocation"] = colocation(draft, (*path, "colocation"), stated.colocation)
    _load_aware(draft, (*path, "loadAware"), options)
    _strategies(draft, path, options)
    namespace = options.get("elastic_quota", {}).get("quotaGroupNamespace")
    return {**options, "quota_namespace": namespace} if namespace else options


def _schedulers(draft: Draft, path: Path, names: tuple[str, ...]) -> Iterator[str]:
    for number, name in enumerate(names):
        placement = draft.policy.placements.get(name)
        if placement is None:
            hint = did_you_mean(name, draft.names("placements"))
            draft.problems.error((*path, number), f"there is no placement {name!r}", hint)
        elif not placement.scheduler:
            message = f"placement {name} has no scheduler, so its profile would have no name"
            draft.problems.error((*path, number), message, f"add scheduler to placements.{name}")
        else:
            yield placement.scheduler


def _section(draft: Draft, path: Path, section: Model) -> dict[str, Any]:
    """What is stated of a section, in the words of the plugin's args."""
    stated = section.model_dump(by_alias=True, exclude_unset=True, exclude_none=True)
    return {key: _value(draft, (*path, key), key, value) for key, value in stated.items()}


def _value(draft: Draft, path: Path, key: str, value: Any) -> Any:
    if key in _DURATIONS:
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
            draft.problems.error((*path, name), f"{resource} is named twice", "keep one of them", key=True)
        elif resource:
            found[resource] = each
    return found


def _known(
    draft: Draft,
    path: Path,
    plugin: str,
    found: dict[str, Any],
    version: str,
    have: tuple[int, ...] | None,
) -> None:
    for field in found if have else ():
        since = fields.since(plugin, field)
        if since and have and have < since:
            message = f"Koordinator {version} has no {field} of {plugin}, {fields.named(since)} is the first"
            draft.problems.error((*path, field), message, f"remove {field}", key=True)


def _load_aware(draft: Draft, path: Path, options: dict[str, Any]) -> None:
    found = options.get("load_aware", {})
    factors = _FACTORS | set(found.get("estimatedScalingFactors", ()))
    for resource in found.get("resourceWeights", ()):
        # A configuration that is merged into may bring factors of its own.
        if resource not in factors and "config" not in options:
            draft.problems.error(
                (*path, "resourceWeights"),
                f"loadAware weighs {resource}, but estimatedScalingFactors has no {resource}: "
                "koord-scheduler would stop at start",
                f"add {resource} to loadAware.estimatedScalingFactors, 1 to 100",
                key=True,
            )
    aggregated = found.get("aggregated", {})
    if aggregated.get("usageThresholds") and "usageAggregationType" not in aggregated:
        draft.problems.error(
            (*path, "aggregated", "usageThresholds"),
            "thresholds without usageAggregationType are ignored",
            "add usageAggregationType: p95",
            key=True,
        )


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
                (*path, _SECTIONS[option][0], field),
                f"{field} names no resources, so every node scores 0",
                "name them with their weights: resources: {cpu: 1, memory: 1}",
                key=True,
            )
    for number, model in enumerate(options.get("device_share", {}).get("gpuShareUnsupportedModels", ())):
        for part in ("vendor", "model"):
            if not model.get(part):
                draft.problems.error(
                    (*path, "deviceShare", "gpuShareUnsupportedModels", number),
                    f"a card that cannot be shared has no {part}",
                    f"add {part}, as the node label gpu-{part} has it",
                )
