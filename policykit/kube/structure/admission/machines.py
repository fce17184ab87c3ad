"""KubeVirt's virtual machines, and the sets of disaggregated servers of LWS."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.structure.admission.checks import Data, refused
from policykit.manifests.path import Path, dotted, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping, numbered, whole

_GPUS: Path = ("domain", "devices", "gpus")
_DISPLAY: Path = ("virtualGPUOptions", "display")


def virtual_machine(data: Data) -> Iterator[Problem]:
    """Source: `validateMDEVRamFB` of KubeVirt's webhook (1.3 to 1.9)."""
    base: Path = ("spec", "template", "spec") if data.get("kind") == "VirtualMachine" else ("spec",)
    shown = []
    for position, card in numbered(lookup(data, (*base, *_GPUS))):
        display = lookup(card, _DISPLAY)
        off = (lookup(display, ("enabled",)), lookup(display, ("ramFB", "enabled")))
        if isinstance(display, dict) and False not in off:
            shown.append(position)
    if len(shown) > 1:
        where = (*base, *_GPUS, shown[1], *_DISPLAY)
        what = "is the second display with ramFB, and a machine has one"
        yield refused(where, what, "write ramFB: {enabled: false}: KubeVirt's webhook refuses it", key=True)


_CONFIGURATION: Path = ("spec", "configuration")
_CONFIGURED = ("developerConfiguration", "mediatedDevicesConfiguration", "permittedHostDevices")


def kubevirt(data: Data) -> Iterator[Problem]:
    """KubeVirt's own object: a part of its configuration beside it. Source: `KubeVirtSpec` (1.0 to 1.9)."""
    for field in _CONFIGURED:
        if field in mapping(data.get("spec")):
            what = f"is not a field there: it belongs in {dotted((*_CONFIGURATION, field))}"
            yield refused(("spec", field), what, "move it: the API server drops it", key=True)


def disaggregated_set(data: Data) -> Iterator[Problem]:
    """Source: the rules of the CRD DisaggregatedSet (LWS 0.10)."""
    path: Path = ("spec", "roles")
    counts = {
        position: whole(lookup(role, ("spec", "replicas")))
        for position, role in numbered(lookup(data, path))
        if lookup(role, ("scaling", "mode")) != "External"
    }
    none = next((position for position, number in counts.items() if number == 0), None)
    if none is not None and any(number for number in counts.values()):
        where = (*path, none, "spec", "replicas")
        what = "is 0, but other roles have replicas"
        yield refused(where, what, "write 0 for all of them, or for none: the API server refuses it")
