"""Facts about the objects by which operators manage the devices of nodes, and charts with a device plugin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policykit.kube.chart_values import KINDS as HELM_KINDS
from policykit.kube.chart_values import chart_values
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, pairs
from policykit.model.managed_devices import InstalledPlugin, ManagedDevices

_SELECTORS: Mapping[tuple[str, str], str] = {
    ("amd.com", "DeviceConfig"): "selector",
    ("nvidia.com", "ClusterPolicy"): "",
    ("nvidia.com", "NVIDIADriver"): "nodeSelector",
}
"""Group and kind of an object, and the field of its spec that selects nodes."""
_CHARTS = ("gpu-operator", "hami", "nvidia-device-plugin")
_SWITCH: Path = ("devicePlugin", "enabled")
"""A value of each of the charts, and a field of ClusterPolicy; true unless stated.

Source: values.yaml of gpu-operator (v1.0 to 26.7), HAMi (2.0 to 2.10) and k8s-device-plugin (0.15 to 0.20).
"""
_OWN_NODES = ("affinity", "nodeSelector", "nvidiaNodeSelector", "nvidianodeSelector")


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """One for each object whose nodes are known."""
    if manifest.kind in HELM_KINDS:
        yield from _of_charts(manifest)
        return
    field = _SELECTORS.get((manifest.group, manifest.kind))
    if field is None or manifest.partial:
        return
    spec = mapping(manifest.data.get("spec"))
    if manifest.kind == "ClusterPolicy":
        yield from _plugin(manifest.kind, spec, ("spec",), "spec.")
    selector = pairs(spec.get(field))
    if any(map(is_placeholder, (manifest.name, *selector, *selector.values()))):
        return
    place: Path = ("spec", field) if field in spec else ("metadata", "name")
    yield Fact(ManagedDevices(field, selector, spec.get("default") is True), {"selector": place})


def _of_charts(manifest: Manifest) -> Iterator[Fact]:
    """Where all values are known, and neither nodes nor names of resources are chosen."""
    for stated in chart_values(manifest):
        if stated.chart not in _CHARTS or not stated.all_known or stated.parameters:
            continue
        own = {**stated.values, **mapping(lookup(stated.values, _SWITCH[:1]))}
        if stated.chart != _CHARTS[0] and (own.keys() & {*_OWN_NODES, "resourceName"}):
            continue
        yield from _plugin(stated.chart, stated.values, stated.path if not stated.is_text else (), "")


def _plugin(installer: str, values: Mapping[str, Any], base: Path, prefix: str) -> Iterator[Fact]:
    if lookup(values, _SWITCH) in (None, True):
        stated = next(
            (path for path in (_SWITCH, _SWITCH[:1]) if base and lookup(values, path) is not None), None
        )
        place: Path = ("metadata", "name") if stated is None else (*base, *stated)
        yield Fact(InstalledPlugin(installer, prefix + ".".join(map(str, _SWITCH))), {"switch": place})
