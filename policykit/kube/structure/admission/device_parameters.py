"""Parameters of NVIDIA's driver in a claim or class of devices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.kube.placeholders import is_filled_in
from policykit.kube.structure.admission.checks import Data, name_of, refused
from policykit.kube.structure.problem import INCONSISTENT, UNKNOWN_FIELD
from policykit.manifests.path import Path
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping, whole
from policykit.model.quantity import parse
from policykit.nearest import nearest, one_edit_apart

_VERSION = "resource.nvidia.com/v1beta1"
_WHO = "NVIDIA's driver refuses it"
_DOMAIN = "nvidia.com"
_NAMES = ("apiVersion", "kind")
_KINDS: Mapping[str, tuple[str, ...]] = {
    "GpuConfig": ("sharing",),
    "MigDeviceConfig": ("sharing",),
    "VfioDeviceConfig": ("iommu",),
    "ComputeDomainChannelConfig": ("domainID", "allocationMode"),
    "ComputeDomainDaemonConfig": ("domainID",),
}
"""Kind to its fields. Source: `api/nvidia.com/resource/v1beta1` of the driver (25.3 to 25.12)."""
_DRIVERS = ("gpu.nvidia.com", "compute-domain.nvidia.com")
_STRATEGIES = ("TimeSlicing", "MPS")
_INTERVALS = ("Default", "Short", "Medium", "Long")
_MPS = (
    "defaultActiveThreadPercentage",
    "defaultPinnedDeviceMemoryLimit",
    "defaultPerDevicePinnedMemoryLimit",
    "multiUser",
)
_MIB = 1024 * 1024
_ALL = 100


def parameters(opaque: Data, path: Path) -> Iterator[Problem]:
    """Source: `admitResourceClaimParameters` of its webhook; nodes do the same when they prepare a claim."""
    written = opaque.get("parameters")
    if opaque.get("driver") not in _DRIVERS or not isinstance(written, dict):
        return
    group = name_of(written, "apiVersion").partition("/")[0]
    if group and not group.endswith(_DOMAIN) and not one_edit_apart(group, _VERSION.partition("/")[0]):
        return  # those of a driver that stands in for it
    path = (*path, "parameters")
    for field, known in (("apiVersion", (_VERSION,)), ("kind", tuple(_KINDS))):
        value = written.get(field)
        if value is None or value == "":
            what = f"has no {field}" if value is None else f"has an empty {field}"
            yield refused(path, what, f"write {' or '.join(known)}: {_WHO}", kind=INCONSISTENT)
        elif isinstance(value, str) and value not in known and not is_filled_in(value):
            near = nearest(value, known, 0.6)
            advice = f"write {near or ' or '.join(known)}: {_WHO}"
            yield refused((*path, field), f"is {value}, which it does not know", advice)
    kind = name_of(written, "kind")
    if kind in _KINDS:
        yield from _unknown(written, path, (*_NAMES, *_KINDS[kind]))
    if kind.startswith("ComputeDomain") and kind in _KINDS and not written.get("domainID"):
        what = f"has no domainID, which a {kind} needs"
        yield refused(path, what, f"name the template that a ComputeDomain makes: {_WHO}", kind=INCONSISTENT)
    if kind in ("GpuConfig", "MigDeviceConfig") and isinstance(written.get("sharing"), dict):
        yield from _sharing(written["sharing"], (*path, "sharing"), whole_cards=kind == "GpuConfig")


def _unknown(written: Data, path: Path, known: tuple[str, ...]) -> Iterator[Problem]:
    for field in written:
        if isinstance(field, str) and field not in known and not is_filled_in(field):
            near = nearest(field, known, 0.6)
            advice = f"did you mean {near}?" if near else "delete it"
            yield refused(
                (*path, field), "is not a field of it", f"{advice}: {_WHO}", key=True, kind=UNKNOWN_FIELD
            )


def _sharing(sharing: Data, path: Path, *, whole_cards: bool) -> Iterator[Problem]:
    configurations = ("timeSlicingConfig", "mpsConfig") if whole_cards else ("mpsConfig",)
    yield from _unknown(sharing, path, ("strategy", *configurations))
    strategy = sharing.get("strategy")
    if strategy is None or strategy == "":
        yield refused(path, "has no strategy", f"write {' or '.join(_STRATEGIES)}: {_WHO}", kind=INCONSISTENT)
    elif strategy not in _STRATEGIES:
        if isinstance(strategy, str) and not is_filled_in(strategy):
            near = nearest(strategy.lower(), tuple(word.lower() for word in _STRATEGIES), 0.5)
            right = next((word for word in _STRATEGIES if word.lower() == near), "")
            advice = f"write {right or ' or '.join(_STRATEGIES)}: {_WHO}"
            yield refused((*path, "strategy"), f"is {strategy}, which it does not know", advice)
        return
    for field, of in (("timeSlicingConfig", "TimeSlicing"), ("mpsConfig", "MPS")):
        if field in configurations and sharing.get(field) is not None and strategy and strategy != of:
            what = f"conflicts with strategy {strategy}"
            yield refused((*path, field), what, f"delete it, or write strategy: {of}: {_WHO}", key=True)
    slices = mapping(sharing.get("timeSlicingConfig"))
    if whole_cards and slices:
        where: Path = (*path, "timeSlicingConfig")
        yield from _unknown(slices, where, ("interval",))
        interval = slices.get("interval")
        wrong = interval is not None and interval not in _INTERVALS
        if wrong and not (isinstance(interval, str) and is_filled_in(interval)):
            yield refused((*where, "interval"), f"is {interval}", f"write {', '.join(_INTERVALS)}: {_WHO}")
    yield from _mps(mapping(sharing.get("mpsConfig")), (*path, "mpsConfig"))


def _mps(limits: Data, path: Path) -> Iterator[Problem]:
    yield from _unknown(limits, path, _MPS)
    share = limits.get("defaultActiveThreadPercentage")
    number = whole(share)
    if number is not None and not 0 <= number <= _ALL:
        at = (*path, "defaultActiveThreadPercentage")
        yield refused(at, f"is {share}", f"write a number from 0 to {_ALL}: {_WHO}")
    elif isinstance(share, str) and not is_filled_in(share):
        at = (*path, "defaultActiveThreadPercentage")
        yield refused(at, f'is the string "{share}"', f"write the number without quotes: {_WHO}")
    yield from _memory(limits.get("defaultPinnedDeviceMemoryLimit"), (*path, _MPS[1]))
    for device, amount in mapping(limits.get(_MPS[2])).items():
        at = (*path, _MPS[2], device)
        is_index = str(device).isdecimal() or str(device).startswith(("GPU-", "MIG-"))
        if not is_index and not is_filled_in(str(device)):
            what = "is neither the number nor the UUID of a device"
            yield refused(at, what, f"write 0 for the first device of the claim: {_WHO}", key=True)
        yield from _memory(amount, at)


def _memory(amount: object, path: Path) -> Iterator[Problem]:
    """An amount of at least one mebibyte."""
    if amount is None or isinstance(amount, bool) or (isinstance(amount, str) and is_filled_in(amount)):
        return
    number = parse(amount)
    if number is None:
        yield refused(path, f"is {amount}, no amount", f"write one such as 10Gi: {_WHO}")
    elif number.units < _MIB:
        yield refused(path, f"is {amount}, less than 1Mi", f"write 1Mi or more: {_WHO}")
