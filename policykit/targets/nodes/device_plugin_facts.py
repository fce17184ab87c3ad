"""Facts about NVIDIA's device plugin: its configurations, values of charts, and what pods request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from policykit.kube import requests
from policykit.kube.chart_values import KINDS as HELM_KINDS
from policykit.kube.chart_values import ChartValues, chart_values
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, mappings, text
from policykit.model.shared_cards import (
    HAMI,
    HAMI_IGNORES,
    HAMI_WEBHOOK,
    NAMES,
    CardName,
    MigConfigurationLabel,
    MigConfigurations,
    MigConfigurationUse,
    PluginConfiguration,
    PluginConfigurationLabel,
    PluginConfigurationUse,
    PluginFiles,
    WebhookSkipped,
)
from policykit.targets.nodes import HAMI_CONFIGURATION, MIG_CONFIGURATION

_VENDOR = "nvidia.com/"
_CHOICE, _MIG_CHOICE = "nvidia.com/device-plugin.config", "nvidia.com/mig.config"
_PROGRAM = "nvidia-device-plugin"
_PLUGIN = "device-plugin"
_OPERATOR_CONFIG: Path = ("devicePlugin", "config")
HAMI_NAMES = ("resourceCountName", "resourceMemoryName", "resourceMemoryPercentageName", "resourceCoreName")
"""Fields of HAMi's configuration, in the order of `shared_cards.Names`."""
_CHIP_NAMES = ("resourceName", "resourceMemoryName", "resourceCoreName")
_ASCEND = "huawei.com/Ascend"
_STRATEGY: Path = ("mig", "strategy")
_MIG_MANAGER: Path = ("migManager", "config", "name")
_MIG_DEFAULT: Path = ("migManager", "config", "default")
_OWN_FILE = "default-mig-parted-config"
"""The ConfigMap that comes with the operator."""
_OPERATOR = "gpu-operator"
_CHARTS: Mapping[str, tuple[Path, Path, str]] = {
    _OPERATOR: (_OPERATOR_CONFIG, _STRATEGY, "data"),
    "nvidia-device-plugin": (("config",), ("migStrategy",), "map"),
}
"""Values of a chart: what refers to a ConfigMap, the MIG strategy, and the configurations that the chart puts
into a ConfigMap of its own. Source: values.yaml of gpu-operator (v25.10) and of k8s-device-plugin (v0.18)."""


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterable[Fact]:
    """Of a configuration, of the operator's ClusterPolicy, of the values of a chart, or of pods."""
    if manifest.read_as == MIG_CONFIGURATION:
        layouts = mapping(manifest.data.get("mig-configs"))
        mixed = tuple(str(name) for name, entries in layouts.items() if _sizes(entries) > 1)
        value = MigConfigurations(_map_of(manifest), tuple(map(str, layouts)), mixed)
        yield Fact(value, {"configurations": ()}, answers=True)
    elif manifest.read_as:
        if "nodeconfig" not in manifest.data:  # that of nodes names no resources
            yield _configuration(manifest)
    elif manifest.kind == "ClusterPolicy" and manifest.group == "nvidia.com":
        spec = mapping(manifest.data.get("spec"))
        yield from _stated(spec, ("spec",), _OPERATOR_CONFIG, _STRATEGY, "")
        yield from _of_mig_manager(spec, ("spec",))
    elif manifest.kind in HELM_KINDS:
        for stated in chart_values(manifest):
            yield from _of_chart(stated)
    elif manifest.kind in ("Node", "NodeFeatureRule", "NodePool"):
        from policykit.targets.nodes import node_settings

        for marks in node_settings.read(manifest):
            if (key := marks.labels.get(_CHOICE)) and not is_placeholder(key):
                yield Fact(PluginConfigurationLabel(key), {"key": marks.label_at(_CHOICE)})
            if (name := marks.labels.get(_MIG_CHOICE)) and not is_placeholder(name):
                yield Fact(MigConfigurationLabel(name), {"name": marks.label_at(_MIG_CHOICE)})
    elif manifest.kind == "Namespace" and manifest.labels.get(HAMI_WEBHOOK) == HAMI_IGNORES:
        yield Fact(WebhookSkipped(manifest.name), {}, answers=True)
    for pod_set in () if manifest.partial else pod_sets:
        yield from card_names(pod_set, _VENDOR, manifest.namespace or context.namespace)
        yield from card_names(pod_set, _ASCEND, manifest.namespace or context.namespace)
        images = [text(each.get("image")) for _, _, each in requests.containers(pod_set.spec)]
        if any(_PLUGIN in image for image in images):
            yield from _of_plugin(pod_set, manifest.namespace or context.namespace)


def _of_plugin(pod_set: PodSet, namespace: str) -> Iterator[Fact]:
    from policykit.targets.nodes import plugin_settings

    yield from _files(pod_set, [*plugin_settings.containers(pod_set)], namespace)
    for strategy, path in plugin_settings.mig_strategies(pod_set):
        yield Fact(PluginConfiguration(mig_strategy=strategy), {"configuration": path}, answers=True)


def _files(
    pod_set: PodSet, found: Sequence[tuple[str, int, Mapping[str, Any]]], namespace: str
) -> Iterator[Fact]:
    """The ConfigMaps of a container that starts the plugin itself.

    Its sidecar config-manager tells it which file to read. Source: `cmd/nvidia-device-plugin` (0.12 to 0.18).
    """
    if len(found) != 1 or not _starts_plugin(found[0][2]):
        return
    field, position, container = found[0]
    volumes = {
        text(each.get("name")): text(mapping(each.get("configMap")).get("name"))
        for each in mappings(pod_set.spec.get("volumes"))
    }
    sources = [
        text(mapping(one.get("configMapRef")).get("name")) for one in mappings(container.get("envFrom"))
    ]
    mounts = [volumes.get(text(each.get("name")), "") for each in mappings(container.get("volumeMounts"))]
    variables, files = tuple(filter(None, sources)), tuple(filter(None, mounts))
    if variables or files:
        base = (field, position)
        places = {
            "variables": pod_set.place(*base, "envFrom"),
            "mounts": pod_set.place(*base, "volumeMounts"),
        }
        yield Fact(PluginFiles(namespace, variables, files), places)


def _starts_plugin(container: Mapping[str, Any]) -> bool:
    """Whether no script does, and no variable or flag names a file."""
    from policykit.kube.command_line import arguments

    words = [word for word, _ in arguments(container)]
    named = any(text(each.get("name")) == "CONFIG_FILE" for each in mappings(container.get("env")))
    command = words[0].rpartition("/")[2] if container.get("command") and words else _PROGRAM
    return not named and command == _PROGRAM and not any("config-file" in word for word in words)


def card_names(pod_set: PodSet, prefix: str, namespace: str) -> Iterator[Fact]:
    """What its containers request under this prefix."""
    parts = NAMES[HAMI][1:]
    for field, position, container in requests.containers(pod_set.spec):
        resources = mapping(container.get("resources"))
        requested = requests.requested(container)
        in_parts = any(name in requested for name in parts)
        for name, amount in requested.items():
            if name.startswith(prefix) and amount > 0:
                side = "limits" if name in mapping(resources.get("limits")) else "requests"
                place = pod_set.place(field, position, "resources", side, name)
                value = CardName(name, pod_set.scheduler_name, in_parts, namespace, amount)
                yield Fact(value, {"resource": place})


def _map_of(manifest: Manifest) -> str:
    """The ConfigMap that has a configuration; empty: another object."""
    held = manifest.holder
    return held.name if held is not None and held.kind == "ConfigMap" else ""


def _sizes(entries: object) -> int:
    """Of the slices of all cards."""
    found: set[object] = set()
    for each in mappings(entries):
        if each.get("mig-enabled") is True:
            found.update(size for size, number in mapping(each.get("mig-devices")).items() if number)
    return len(found)


def _of_mig_manager(spec: Mapping[str, Any], base: Path) -> Iterator[Fact]:
    """Source: `controllers/object_controls.go` of gpu-operator (22.9 to 25.10)."""
    created = bool(lookup(spec, (*_MIG_MANAGER[:-1], "create")))
    name, default = text(lookup(spec, _MIG_MANAGER)), text(lookup(spec, _MIG_DEFAULT))
    if default and not is_placeholder(default):
        chosen = MigConfigurationLabel(default, by_default=True, holder="" if created else name)
        yield Fact(chosen, {"name": (*base, *_MIG_DEFAULT)})
    if name and name != _OWN_FILE and not is_placeholder(name) and not created:
        yield Fact(MigConfigurationUse(name), {"name": (*base, *_MIG_MANAGER)})


def _configuration(manifest: Manifest) -> Fact:
    """Source: `api/config/v1` of k8s-device-plugin (0.12 to 0.18)."""
    sharing = mapping(manifest.data.get("sharing"))
    of_hami = manifest.read_as == HAMI_CONFIGURATION
    held = manifest.holder
    of_map = held is not None and held.kind == "ConfigMap"
    value = PluginConfiguration(
        _map_of(manifest),
        str(manifest.held_at[-1]) if manifest.held_at else "",
        tuple(map(str, mapping(held.data.get("data")))) if held is not None and of_map else (),
        tuple(
            _renamed_by_hami(mapping(manifest.data.get("nvidia")))
            if of_hami
            else (each for kind in ("timeSlicing", "mps") for each in _renamed(mapping(sharing.get(kind))))
        ),
        text(mapping(manifest.data.get("flags")).get("migStrategy")),
        of_hami,
        held.namespace or "" if held is not None and of_map else "",
        () if of_hami else tuple(_single(sharing)),
        tuple(_chips(manifest.data.get("vnpus"))) if of_hami else (),
    )
    return Fact(value, {"configuration": ()}, answers=True)


def _renamed(sharing: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """By renameByDefault alone: the plugin ignores `rename`. Source: `DisableResourceNamingInConfig`."""
    for each in mappings(sharing.get("resources")) if sharing.get("renameByDefault") is True else ():
        if name := text(each.get("name")):
            yield name, f"{name}.shared"


def _single(sharing: Mapping[str, Any]) -> Iterator[str]:
    """Names as offered. With MPS it is one at most whatever is stated.

    Source: `ValidateRequest` in `internal/rm` of the plugin (0.15 to 0.18).
    """
    for kind in ("timeSlicing", "mps"):
        shared = mapping(sharing.get(kind))
        if kind == "timeSlicing" and shared.get("failRequestsGreaterThanOne") is not True:
            continue
        new = dict(_renamed(shared))
        for each in mappings(shared.get("resources")):
            if name := text(each.get("name")):
                yield new.get(name, name)


def _renamed_by_hami(nvidia: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Source: `NvidiaConfig` in `pkg/device/nvidia` of HAMi (2.10)."""
    for usual, field in zip(NAMES[HAMI], HAMI_NAMES, strict=True):
        name = text(nvidia.get(field))
        if name and name != usual and not is_placeholder(name):
            yield usual, name


def _chips(stated: object) -> Iterator[str]:
    """A list, or a mapping that has it since 2.9. Source: `VNPUs` in `pkg/device/ascend` of HAMi (2.10)."""
    listed = stated.get("configs") if isinstance(stated, dict) else stated
    for each in mappings(listed):
        yield from filter(None, (text(each.get(field)) for field in _CHIP_NAMES))


def _of_chart(stated: ChartValues) -> Iterator[Fact]:
    known = _CHARTS.get(stated.chart)
    if known is None:
        return
    config, strategy, own = known
    for fact in _stated(stated.values, stated.path, config, strategy, own, stated.namespace):
        refers = isinstance(fact.value, PluginConfigurationUse)
        if stated.is_text and not refers:
            fact = fact._replace(places={"configuration": stated.path})
        if not refers or (stated.all_known and not stated.is_text and not stated.parameters):
            yield fact
    known_whole = stated.all_known and not stated.is_text and not stated.parameters
    if stated.chart == _OPERATOR and known_whole:
        yield from _of_mig_manager(stated.values, stated.path)


def _stated(
    values: Mapping[str, Any], base: Path, config: Path, strategy: Path, own: str, namespace: str = ""
) -> Iterator[Fact]:
    """`own`: the field with configurations that are put into a ConfigMap; empty: there is none."""
    if mig := text(lookup(values, strategy)):
        place = {"configuration": (*base, *strategy)}
        yield Fact(PluginConfiguration(mig_strategy=mig), place, answers=mig != "single")
    stated = mapping(lookup(values, config))
    name, default = text(stated.get("name")), text(stated.get("default"))
    keys = tuple(map(str, mapping(stated.get(own)))) if own else ()
    if is_placeholder(name) or is_placeholder(default) or not (name or default):
        return
    places = {field: (*base, *config, field) for field in ("name", "default") if field in stated}
    yield Fact(PluginConfigurationUse(name, default, keys, namespace), places)
