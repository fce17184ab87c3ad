"""Facts about devices that pods name: resources of network adapters, and sharing of cards behind a gate."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policykit.catalogue.resources import is_card
from policykit.kube.chart_values import KINDS as CHARTS
from policykit.kube.chart_values import chart_values
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.kube.requests import containers
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, mappings, numbered, text
from policykit.model.references import NamedObject, NamedParts, ObjectReference, PartReference

_RESOURCE = "device resource"
_POLICY = "SriovNetworkNodePolicy"
_OPERATOR = "sriovnetwork.openshift.io"
_NETWORKS = ("OVSNetwork", "SriovIBNetwork", "SriovNetwork")
_DOMAINS = ("intel.com", "mellanox.com", "openshift.io", "rdma")
"""Before the slash, unless a file says otherwise."""
_LISTS: Mapping[str, str] = {"resourceList": "intel.com", "configList": "rdma"}
"""Lists of a device plugin's configuration, and the domain of their resources.

Source: `pkg/resources` of sriov-network-device-plugin (3.3 to 3.9) and of k8s-rdma-shared-dev-plugin (1.3 to
1.5).
"""
_OF_NIC_OPERATOR = ("rdmaSharedDevicePlugin", "sriovDevicePlugin")
_LONGEST = 100_000
_SELECTED: Path = ("spec", "resourceName")


def resources(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Of configurations of device plugins for adapters, and what pods request under such a domain."""
    if manifest.partial:
        return
    if manifest.kind == "ConfigMap" and not manifest.group:
        for written in mapping(manifest.data.get("data")).values():
            yield from _configured(text(written))
    elif manifest.kind == "NicClusterPolicy":
        for field in _OF_NIC_OPERATOR:
            yield from _configured(text(lookup(manifest.data, ("spec", field, "config"))))
    elif manifest.group == _OPERATOR:
        name = text(lookup(manifest.data, _SELECTED))
        if not name or is_placeholder(name):
            return
        if manifest.kind == _POLICY:
            yield Fact(NamedObject(_POLICY, name), {}, answers=True)
            yield Fact(NamedObject(_RESOURCE, f"openshift.io/{name}"), {}, answers=True)
        elif manifest.kind in _NETWORKS:
            yield Fact(ObjectReference((_POLICY,), name), {"name": _SELECTED})
    for pod_set in pod_sets:
        for field, position, container in containers(pod_set.spec):
            amounts = mapping(container.get("resources"))
            side = "limits" if amounts.get("limits") else "requests"
            for name in mapping(amounts.get(side)):
                if isinstance(name, str) and name.startswith(_PREFIXES) and not is_card(name):
                    place = pod_set.place(field, position, "resources", side, name)
                    yield Fact(ObjectReference((_RESOURCE,), name), {"name": place})


_PREFIXES = tuple(f"{domain}/" for domain in _DOMAINS)


def _configured(written: str) -> Iterator[Fact]:
    if '"resourceName"' not in written or len(written) > _LONGEST:
        return
    try:
        data = mapping(json.loads(written))
    except (ValueError, RecursionError):
        return
    for field, domain in _LISTS.items():
        for each in mappings(data.get(field)):
            name = text(each.get("resourceName"))
            if name and not is_placeholder(name):
                prefix = text(each.get("resourcePrefix")) or domain
                yield Fact(NamedObject(_RESOURCE, f"{prefix}/{name}"), {}, answers=True)


_DRIVERS = ("dra-driver-nvidia-gpu", "nvidia-dra-driver-gpu")
_DRIVER = "NVIDIA's DRA driver"
_GATE = "feature gate that is on:"
_GATES: Mapping[str, str] = {"MPS": "MPSSupport", "TimeSlicing": "TimeSlicingSettings"}
"""Off by default. Source: `pkg/featuregates` of dra-driver-nvidia-gpu (25.8 to 0.4)."""
_CONFIGS: Mapping[str, Path] = {
    "DeviceClass": ("spec", "config"),
    "ResourceClaim": ("spec", "devices", "config"),
    "ResourceClaimTemplate": ("spec", "spec", "devices", "config"),
}
_SHARED = ("GpuConfig", "MigDeviceConfig")
_STRATEGY: Path = ("opaque", "parameters", "sharing", "strategy")


def gates(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Of the values of NVIDIA's driver, and of claims that share a card."""
    if manifest.partial:
        return
    if manifest.kind in CHARTS:
        for stated in chart_values(manifest):
            if stated.chart in _DRIVERS and stated.all_known and not stated.parameters:
                switched: Any = mapping(stated.values.get("featureGates"))
                names = frozenset(str(gate) for gate, on in switched.items() if on is not False)
                yield Fact(NamedParts(_DRIVER, "", _GATE, names), {}, answers=True)
    elif manifest.group == "resource.k8s.io":
        path = _CONFIGS.get(manifest.kind, ())
        for number, each in numbered(lookup(manifest.data, path)):
            gate = _GATES.get(text(lookup(each, _STRATEGY)))
            if gate and lookup(each, ("opaque", "parameters", "kind")) in _SHARED:
                advice = f"set featureGates: {{{gate}: true}} in the values of the driver's chart"
                value = PartReference(_DRIVER, "", _GATE, gate, advice)
                yield Fact(value, {"name": (*path, number, *_STRATEGY)})
