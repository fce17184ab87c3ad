"""Options for Koordinator, compiled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.names import dns_label_problem
from policykit.manifests.path import Path
from policykit.model.cluster import TargetSettings
from policykit.policy.compile.amounts import resource_of
from policykit.policy.compile.draft import Draft, check_all_defined, check_defined, check_unique
from policykit.policy.compile.releases import Release
from policykit.policy.models.base import Model
from policykit.policy.models.targets.koordinator import Colocation, ColocationClass, Koordinator
from policykit.policy.problems import did_you_mean
from policykit.targets.koordinator.names import TARGET_NAME
from policykit.targets.koordinator.objects.colocation import BANDS, QOS, Band, band_of_priority_class
from policykit.targets.koordinator.options import Fit, KoordinatorOptions, PodClass
from policykit.targets.koordinator.scheduler import plugin_args
from policykit.targets.koordinator.scheduler.fields import DURATIONS, SECTIONS, WEIGHT
from policykit.targets.koordinator.scheduler.plugins import DEVICES
from policykit.targets.koordinator.versions import FIT_PLUS

_BY_RESOURCE = frozenset(
    {
        *("usageThresholds", "prodUsageThresholds", "resourceWeights", "estimatedScalingFactors"),
        *("defaultQuotaGroupMax", "systemQuotaGroupMax"),
    }
)
_STRATEGIES = ("scoringStrategy", "numaScoringStrategy")
_RESOURCES = frozenset({"supportedResources", "matchedResources"})


def compile_options(
    draft: Draft, path: Path, stated: Koordinator, installed: Release | None
) -> TargetSettings:
    """KoordinatorOptions, and the schedulerNames of its profiles."""
    sections = {
        plugin: _section(draft, (*path, key), section)
        for option, (key, plugin) in SECTIONS.items()
        if (section := getattr(stated, option)) is not None
    }
    _check_args(draft, path, sections, installed, merged=bool(stated.config))
    sections = {plugin: _with_types(fields) for plugin, fields in sections.items()}
    made = KoordinatorOptions(
        _fit(draft, (*path, "fit"), stated, installed),
        draft.texts.get(stated.config, ""),
        {plugin: args for plugin, fields in sections.items() if (args := _args(fields))},
        {plugin: fields[WEIGHT] for plugin, fields in sections.items() if WEIGHT in fields},
        _pod_classes(draft, (*path, "colocation", "workloads"), stated.colocation)
        if stated.colocation
        else {},
        stated.colocation is not None and stated.colocation.priority_classes,
        stated.gangs == "objects",
    )
    schedulers = tuple(_schedulers(draft, (*path, "profiles"), stated.profiles))
    return TargetSettings(
        TARGET_NAME, options=made, schedulers=schedulers, card_vendors=frozenset({TARGET_NAME})
    )


def _fit(draft: Draft, path: Path, stated: Koordinator, installed: Release | None) -> dict[str, Fit]:
    if stated.fit and installed and installed < FIT_PLUS:
        message = f"Koordinator {stated.version} has no NodeResourcesFitPlus (added in 1.6)"
        draft.problems.error(path, message, "remove fit, or use Koordinator 1.6.1 or newer", key=True)
    named = {resource_of(draft, (*path, name), name): each for name, each in stated.fit.items()}
    return {resource: Fit(each.type, each.weight) for resource, each in named.items() if resource}


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
            draft.problems.error((*path, name), f"{resource} is listed twice", "keep one of them", key=True)
        elif resource:
            found[resource] = each
    return found


def _args(section: Mapping[str, Any]) -> dict[str, Any]:
    """A section without the weight, which is not a field of the args."""
    return {name: value for name, value in section.items() if name != WEIGHT}


def _check_args(
    draft: Draft,
    path: Path,
    sections: Mapping[str, dict[str, Any]],
    installed: Release | None,
    *,
    merged: bool,
) -> None:
    """`merged`: sections add to a given configuration, which may bring scaling factors of its own."""
    releases = (installed,) if installed else ()
    for key, plugin in SECTIONS.values():
        for problem in plugin_args.problems(plugin, _args(sections.get(plugin, {})), releases):
            if problem.severity is None and not (merged and problem.path[0] == "resourceWeights"):
                where = (*path, key, *problem.path)
                draft.problems.error(where, problem.message, problem.help, key=problem.key)
        _check_strategies(draft, (*path, key), sections.get(plugin, {}))
    for number, model in enumerate(sections.get(DEVICES, {}).get("gpuShareUnsupportedModels", ())):
        for part in ("vendor", "model"):
            if not model.get(part):
                draft.problems.error(
                    (*path, "deviceShare", "gpuShareUnsupportedModels", number),
                    f"an entry of gpuShareUnsupportedModels has no {part}",
                    f"add {part}, the value of the node label gpu-{part}",
                )


def _check_strategies(draft: Draft, path: Path, section: Mapping[str, Any]) -> None:
    for field in _STRATEGIES:
        if field in section and not section[field].get("resources"):
            draft.problems.error(
                (*path, field),
                f"{field} has no resources, so every node scores 0",
                "add them with their weights: resources: {cpu: 1, memory: 1}",
                key=True,
            )


def _with_types(section: Mapping[str, Any]) -> dict[str, Any]:
    """A section whose scoring strategies all state their type."""
    strategies = {name: section[name] for name in _STRATEGIES if name in section}
    stated = {name: {**each, "type": each.get("type", "LeastAllocated")} for name, each in strategies.items()}
    return {**section, **stated}


def _pod_classes(draft: Draft, path: Path, stated: Colocation) -> dict[str, PodClass]:
    """Workload kind to the class of its pods."""
    return {name: _pod_class(draft, (*path, name), name, each) for name, each in stated.workloads.items()}


def _pod_class(draft: Draft, path: Path, kind: str, stated: ColocationClass) -> PodClass:
    check_defined(draft, path, "workload kind", kind)
    fitting = QOS[stated.priority]
    if stated.qos and stated.qos not in fitting:
        draft.problems.error(
            (*path, "qos"),
            f"QoS class {stated.qos} cannot be combined with priority {stated.priority}",
            f"write {' or '.join(fitting)}, or another priority",
        )
    _check_priority(draft, path, kind, next(band for band in BANDS if band.name == stated.priority))
    check_all_defined(draft, (*path, "tenants"), "tenant", stated.tenants)
    for number, tenant in enumerate(stated.tenants):
        there = draft.policy.tenants.get(tenant)
        if there is not None and not there.namespaces:
            draft.problems.error((*path, "tenants", number), f"tenant {tenant} has no namespaces")
    for number, namespace in enumerate(stated.namespaces):
        draft.check((*path, "namespaces", number), f"namespace {namespace!r}", dns_label_problem(namespace))
    check_unique(draft, (*path, "namespaces"), stated.namespaces)
    qos = stated.qos or fitting[0]
    return PodClass(stated.priority, qos, stated.order, stated.tenants, stated.namespaces)


def _check_priority(draft: Draft, path: Path, kind: str, band: Band) -> None:
    """The kind's own PriorityClass, if any, decides the class of its pods: its value must be in the band."""
    workload = draft.policy.workloads.get(kind)
    name = workload.priority_class if workload else ""
    if not name or band_of_priority_class(name) == band:
        return
    stated = draft.policy.priorities.get(name)
    value = stated.value if stated else None
    if value is not None and band.lowest <= value <= band.highest:
        return
    shown = f"{name} with value {value}" if value is not None else name
    draft.problems.error(
        path,
        f"workload kind {kind} has priorityClass {shown}, outside the range of {band.name}: "
        f"{band.lowest} to {band.highest}",
        "remove priorityClass from the workload kind, or give it a value in that range",
        key=True,
    )
