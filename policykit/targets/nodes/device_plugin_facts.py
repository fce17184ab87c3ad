"""Facts about NVIDIA's device plugin: its configurations, the GPU operator's, and what pods request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from policykit.kube import requests
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import lookup
from policykit.manifests.shape import mapping, mappings, text
from policykit.model.device_plugins import CardName, PluginConfiguration, PluginConfigurationUse

_VENDOR = "nvidia.com/"
_CONFIG = ("spec", "devicePlugin", "config")


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterable[Fact]:
    """Of a configuration, of the operator's ClusterPolicy, or of pods."""
    if manifest.read_as:
        yield _configuration(manifest)
    elif manifest.kind == "ClusterPolicy" and manifest.group == "nvidia.com":
        yield from _operator(manifest)
    for pod_set in () if manifest.partial else pod_sets:
        yield from card_names(pod_set, _VENDOR)


def card_names(pod_set: PodSet, prefix: str) -> Iterator[Fact]:
    """What its containers request under this prefix."""
    for field, position, container in requests.containers(pod_set.spec):
        resources = mapping(container.get("resources"))
        for name, amount in requests.requested(container).items():
            if name.startswith(prefix) and amount > 0:
                side = "limits" if name in mapping(resources.get("limits")) else "requests"
                place = pod_set.place(field, position, "resources", side, name)
                yield Fact(CardName(name, pod_set.scheduler_name), {"resource": place})


def _configuration(manifest: Manifest) -> Fact:
    """Source: `api/config/v1` of k8s-device-plugin (0.12 to 0.18)."""
    sharing = mapping(manifest.data.get("sharing"))
    held = manifest.holder
    of_map = held is not None and held.kind == "ConfigMap"
    value = PluginConfiguration(
        held.name if held is not None and of_map else "",
        str(manifest.held_at[-1]) if manifest.held_at else "",
        tuple(map(str, mapping(held.data.get("data")))) if held is not None and of_map else (),
        tuple(each for kind in ("timeSlicing", "mps") for each in _renamed(mapping(sharing.get(kind)))),
        text(mapping(manifest.data.get("flags")).get("migStrategy")),
    )
    return Fact(value, {"configuration": ()}, answers=True)


def _renamed(sharing: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """By renameByDefault alone: the plugin ignores `rename`. Source: `DisableResourceNamingInConfig`."""
    for each in mappings(sharing.get("resources")) if sharing.get("renameByDefault") is True else ():
        if name := text(each.get("name")):
            yield name, f"{name}.shared"


def _operator(manifest: Manifest) -> Iterator[Fact]:
    strategy = text(lookup(manifest.data, ("spec", "mig", "strategy")))
    if strategy:
        yield Fact(PluginConfiguration(mig_strategy=strategy), {"configuration": ()}, answers=True)
    config = mapping(lookup(manifest.data, _CONFIG))
    name, default = text(config.get("name")), text(config.get("default"))
    if name and not is_placeholder(name) and not is_placeholder(default):
        places = {field: (*_CONFIG, field) for field in ("name", "default") if field in config}
        yield Fact(PluginConfigurationUse(name, default), places)
