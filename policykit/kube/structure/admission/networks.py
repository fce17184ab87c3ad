"""Networks of adapters: the definitions that Multus reads, and the policies of the operator for SR-IOV.

Sources: Multus (4.2), the plugins sriov (2.x) and host-device (1.x), the webhook of sriov-network-operator
(1.2 to 1.7) and that of Intel's operator for device plugins (0.36).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from policykit.kube.placeholders import is_filled_in, is_placeholder
from policykit.kube.structure.admission.adapter_files import ADDRESS, LONGEST, where
from policykit.kube.structure.admission.checks import Data, name_of, refused, words
from policykit.kube.structure.problem import BAD_VALUE, INCONSISTENT
from policykit.manifests.path import Path
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping, mappings, text, whole
from policykit.model.severity import Severity

_RESOURCE = "k8s.v1.cni.cncf.io/resourceName"
_DEVICES = {
    "host-device": ("device", "hwaddr", "kernelpath", "pciBusID", "deviceID"),
    "ib-sriov": ("deviceID",),
    "sriov": ("deviceID",),
}
"""Plugins that move a device into the pod, and the fields of their configuration that name it."""
_REFUSED = "the operator's webhook refuses it"


def definition(data: Data) -> Iterator[Problem]:
    """A NetworkAttachmentDefinition; without a configuration Multus looks for a file of its name."""
    path: Path = ("spec", "config")
    written = mapping(data.get("spec")).get("config")
    if not isinstance(written, str) or not written.strip() or len(written) > LONGEST:
        return
    try:
        found = json.loads(written)
    except (ValueError, RecursionError) as error:
        if not is_placeholder(written):
            what = f"is not JSON: {where(error)}"
            yield refused(path, what, "Multus refuses pods with this network", kind=BAD_VALUE)
        return
    config = mapping(found)
    if is_placeholder(written) or not config:
        return
    plugins = mappings(config.get("plugins"))
    if not {"type", "plugins"} & {key.lower() for key in config}:  # Go does not look at the case
        what = "has neither type nor plugins, so no plugin is called"
        yield refused(path, what, 'name the plugin: {"type": "macvlan", ...}', Severity.WARNING)
    annotations = mapping(mapping(data.get("metadata")).get("annotations"))
    if _RESOURCE in annotations or any(map(is_placeholder, annotations)):
        return
    for each in (*plugins, config):
        kind = text(each.get("type"))
        if kind in _DEVICES and not any(each.get(field) for field in _DEVICES[kind]):
            yield refused(
                path,
                f"calls {kind}, but no device: the network has no annotation {_RESOURCE}",
                f"annotate it with the resource of the device plugin: {_RESOURCE}: DOMAIN/NAME",
                Severity.WARNING,
                kind=INCONSISTENT,
            )


_WAYS = ("vendor", "deviceID", "pfNames", "rootDevices", "netFilter")
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_-]*[A-Za-z0-9])?")
_OLD_NAME = re.compile(r"[A-Za-z0-9_]+")


def adapters(data: Data) -> Iterator[Problem]:
    """A SriovNetworkNodePolicy."""
    spec = mapping(data.get("spec"))
    if name_of(mapping(data.get("metadata"))) == "default" or not spec:
        return
    yield from _resource(name_of(spec, "resourceName"))
    selector = spec.get("nicSelector")
    if isinstance(selector, dict):
        if not any(map(is_placeholder, selector)) and not any(selector.get(way) for way in _WAYS):
            what = f"has none of {', '.join(_WAYS[:-1])} and {_WAYS[-1]}"
            advice = f"select the adapters by one of them: {_REFUSED}"
            yield refused(("spec", "nicSelector"), what, advice, kind=INCONSISTENT)
        yield from _addresses(selector.get("rootDevices"))
        yield from _ranges(selector.get("pfNames"), whole(spec.get("numVfs")))
    if spec.get("deviceType") == "vfio-pci" and spec.get("isRdma") is True:
        what = f"is true, but deviceType is vfio-pci: {_REFUSED}"
        yield refused(("spec", "isRdma"), what, "write deviceType netdevice, or isRdma false")
    if spec.get("eSwitchMode") == "switchdev" and text(spec.get("linkType")).lower() == "ib":
        what = f"is switchdev, but linkType is {spec['linkType']}: {_REFUSED}"
        yield refused(("spec", "eSwitchMode"), what, "switchdev is for linkType eth")


def _resource(name: str) -> Iterator[Problem]:
    path: Path = ("spec", "resourceName")
    if not name:
        return
    if not _NAME.fullmatch(name) and not _OLD_NAME.fullmatch(name):
        what = f'is "{name}", but may have letters, digits and underscores only'
        yield refused(path, what, f"pods request it as openshift.io/NAME: {_REFUSED}", kind=BAD_VALUE)
    elif not _OLD_NAME.fullmatch(name):
        what = f'is "{name}", with a hyphen: the webhook of operators up to 1.6 refuses it'
        advice = f"write {name.replace('-', '_')}"
        yield refused(path, what, advice, Severity.WARNING, kind=BAD_VALUE)


def _addresses(listed: object) -> Iterator[Problem]:
    """Source: `Selected` of the policy's nicSelector, which compares them with the files of sysfs."""
    for position, word in words(listed):
        if ADDRESS.fullmatch(word):
            continue
        meant = word.lower() if word.count(":") > 1 else f"0000:{word.lower()}"
        advice = f"did you mean {meant}?" if ADDRESS.fullmatch(meant) else "write it as 0000:3b:00.0"
        path: Path = ("spec", "nicSelector", "rootDevices", position)
        what = "no address of a PCI device as Linux writes it: it selects no adapter"
        yield refused(path, f"is {word}, {what}", advice, Severity.WARNING, kind=BAD_VALUE)


def _ranges(listed: object, functions: int | None) -> Iterator[Problem]:
    """Names of adapters, each perhaps with a range of its functions: ens1f0#0-3."""
    for position, word in words(listed):
        path: Path = ("spec", "nicSelector", "pfNames", position)
        name, sign, written = word.partition("#")
        found = re.fullmatch(r"([0-9]+)-([0-9]+)", written)
        if not sign:
            continue
        if not name or not found:
            what = f"is {word}, no range of virtual functions: {_REFUSED}"
            yield refused(path, what, f"write it as {name or 'ens1f0'}#0-3", kind=BAD_VALUE)
            continue
        first, last = int(found[1]), int(found[2])
        if last < first:
            yield refused(
                path, f"is {word}, which ends before it starts: {_REFUSED}", f"{name}#{last}-{first}"
            )
        elif functions is not None and last >= functions:
            what = f"is {word}, but numVfs is {functions}, and the last of them is {functions - 1}"
            yield refused(path, what, f"raise numVfs to {last + 1} or lower the range: {_REFUSED}")


_PCI = re.compile(r"0x[0-9a-f]{4}")
_IDS = ("allowIDs", "denyIDs")


def intel_cards(data: Data) -> Iterator[Problem]:
    """A GpuDevicePlugin."""
    spec = mapping(data.get("spec"))
    policy, shared = spec.get("preferredAllocationPolicy"), whole(spec.get("sharedDevNum", 0))
    if policy in ("packed", "balanced") and shared is not None and shared <= 1:
        path: Path = ("spec", "preferredAllocationPolicy")
        what = f"is {policy}, but sharedDevNum is {shared}: {_REFUSED}"
        yield refused(path, what, "set sharedDevNum to 2 or more, or take the policy out", kind=INCONSISTENT)
    if all(spec.get(field) for field in _IDS):
        path = ("spec", _IDS[1])
        yield refused(path, f"conflicts with {_IDS[0]}: {_REFUSED}", "delete one of the two", key=True)
    for field in _IDS:
        written = text(spec.get(field))
        wrong = [each for each in written.split(",") if not _PCI.fullmatch(each)] if written else []
        if wrong and not is_filled_in(written):
            path = ("spec", field)
            what = f'has "{wrong[0]}": {_REFUSED}'
            advice = "separate the numbers of devices by commas alone, each as 0x56c0"
            yield refused(path, what, advice, kind=BAD_VALUE)
