"""Facts about the objects by which operators manage the devices of nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, pairs
from policykit.model.managed_devices import ManagedDevices

_SELECTORS: Mapping[tuple[str, str], str] = {
    ("amd.com", "DeviceConfig"): "selector",
    ("nvidia.com", "ClusterPolicy"): "",
    ("nvidia.com", "NVIDIADriver"): "nodeSelector",
}
"""Group and kind of an object, and the field of its spec that selects nodes."""


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """One for each object whose nodes are known."""
    field = _SELECTORS.get((manifest.group, manifest.kind))
    if field is None or manifest.partial:
        return
    spec = mapping(manifest.data.get("spec"))
    selector = pairs(spec.get(field))
    if any(map(is_placeholder, (manifest.name, *selector, *selector.values()))):
        return
    place: Path = ("spec", field) if field in spec else ("metadata", "name")
    yield Fact(ManagedDevices(field, selector, spec.get("default") is True), {"selector": place})
