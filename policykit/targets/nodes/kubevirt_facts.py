"""What KubeVirt permits of the devices of nodes, and what its virtual machines ask for."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from policykit.catalogue.resources import resource
from policykit.kube.placeholders import is_example_of_field, is_placeholder
from policykit.kube.podsets import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, numbered, text
from policykit.model.shared_cards import MachineDevice, PermittedDevices

_PERMITTED: Path = ("spec", "configuration", "permittedHostDevices")
_SOURCES = ("pciHostDevices", "mediatedDevices", "usb")
_ASKED = ("gpus", "hostDevices")
_CARDS = ("card", "passthrough")


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterable[Fact]:
    """Of KubeVirt's object, or of a virtual machine. A device with a claim needs no permission."""
    if manifest.group != "kubevirt.io":
        return
    if manifest.kind == "KubeVirt":
        permitted = lookup(manifest.data, _PERMITTED)
        if isinstance(permitted, dict):
            listed = (each for source in _SOURCES for _, each in numbered(permitted.get(source)))
            names = tuple(sorted({text(each.get("resourceName")) or "" for each in listed} - {""}))
            yield Fact(PermittedDevices(names), {"names": _PERMITTED}, answers=True)
        return
    base: Path = ("spec", "template", "spec") if manifest.kind == "VirtualMachine" else ("spec",)
    devices: dict[str, Path] = {}
    open_ended = lookup(manifest.data, ("spec", "instancetype")) is not None
    for field in _ASKED:
        path: Path = (*base, "domain", "devices", field)
        for position, device in numbered(lookup(manifest.data, path)):
            name = text(device.get("deviceName"))
            filled_in = name and not is_placeholder(name) and not is_example_of_field(name, "deviceName")
            if name and filled_in and not device.get("claimName"):
                yield Fact(MachineDevice(name), {"resource": (*path, position, "deviceName")})
                devices[name] = path
            else:
                open_ended = True
    if not open_ended:
        yield from _of_the_pod(manifest, (*base, "domain", "resources"), devices)


def _of_the_pod(manifest: Manifest, base: Path, devices: Container[str]) -> Iterable[Fact]:
    """Cards under the resources of the machine, which are those of its pod.

    Source: `CreateHostDevices` of pkg/virt-launcher, which reads gpus and hostDevices (1.0 to 1.9).
    """
    seen: set[str] = set()
    for side in ("limits", "requests"):
        for name in mapping(lookup(manifest.data, (*base, side))):
            known = resource(name) if isinstance(name, str) and name not in devices else None
            if known is not None and known.role in _CARDS and name not in seen:
                seen.add(name)
                yield Fact(MachineDevice(name, passed_on=False), {"resource": (*base, side, name)})
