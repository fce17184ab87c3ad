"""The configuration of NVIDIA's device plugin, or of HAMi, does not load, or a part of it has no effect.

The plugin does not start with fewer than two replicas of a card, without a number of them, or with a MIG
strategy that it does not know: the nodes then offer no card. Keys that it does not know, those of a way of
sharing outside of it, and `rename` are ignored. So are values that the charts of the operator and the
plugin do not read, such as timeSlicing beside `config`. HAMi offers no card with a split count of 0, and does
not start if a number is written as a string. A node whose label asks for slices that its card does not have
offers none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.chart_values import KINDS as HELM_KINDS
from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, text, whole
from policykit.model.severity import Severity
from policykit.nearest import nearest
from policykit.rules.resources import node_slices, operator_values
from policykit.targets.nodes import HAMI_CONFIGURATION, MIG_CONFIGURATION, PLUGIN_CONFIGURATION
from policykit.targets.nodes.device_plugin_facts import HAMI_NAMES

BAD = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: device-plugin
  namespace: gpu-operator
data:
  any: |
    version: v1
    sharing:
      timeSlicing:
        resources:
        - name: nvidia.com/gpu
          replicas: 1
"""

GOOD = BAD.replace("replicas: 1", "replicas: 4")

_SHARING = ("renameByDefault", "failRequestsGreaterThanOne", "resources")
_RESOURCE = ("name", "rename", "devices", "replicas")
_STRATEGIES = ("none", "single", "mixed")
_LEAST = 2


_HAMI = ("nvidia",)
_HAMI_NUMBERS: Mapping[str, bool] = {
    "deviceSplitCount": True,
    "deviceMemoryScaling": True,
    "deviceCoreScaling": True,
    "defaultMemory": False,
    "defaultCores": False,
    "defaultGPUNum": False,
    "memoryFactor": False,
    "gpuMemoryFactor": True,  # of Volcano's vGPU plugin, whose configuration is otherwise the same
    "preConfiguredDeviceMemory": False,
}
"""Number to whether it has to be above 0."""
_HAMI_FIELDS = (
    *_HAMI_NUMBERS,
    *HAMI_NAMES,
    "resourcePriorityName",
    "overwriteEnv",
    "disableCoreLimit",
    "migProfileAllowlist",
    "migstrategy",
    "gpuCorePolicy",
    "libCudaLogLevel",
    "enableNumaTopology",
    "runtimeClassName",
    "migProfiles",
    "knownMigGeometries",
)


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Sources: `api/config/v1` of k8s-device-plugin (0.12 to 0.18), `pkg/device/nvidia` of HAMi (2.10)."""
    if manifest.kind in node_slices.KINDS:
        yield from node_slices.violations(manifest, context.cluster)
    elif not manifest.read_as:
        yield from operator_values.violations(manifest)
    elif manifest.read_as == MIG_CONFIGURATION:
        yield from _of_mig_manager(mapping(manifest.data.get("mig-configs")))
    elif manifest.read_as == HAMI_CONFIGURATION:
        yield from _of_hami(mapping(manifest.data.get("nvidia")))
    else:
        yield from _of_nvidia(manifest)


def _of_mig_manager(configurations: Mapping[str, Any]) -> Iterator[Violation]:
    """Source: `api/spec/v1` of mig-parted (0.12)."""
    for name, entries in configurations.items():
        for position, entry in enumerate(entries if isinstance(entries, list) else ()):
            path: Path = ("mig-configs", name, position)
            devices = mapping(mapping(entry).get("mig-devices"))
            if devices and mapping(entry).get("mig-enabled") is False:
                yield Violation(
                    (*path, "mig-devices"),
                    f"{name} has mig-devices, but mig-enabled is false: nvidia-mig-manager refuses the file",
                    "write mig-enabled: true, or delete mig-devices",
                    key=True,
                )
            slices = sum(_slices(profile) * (whole(number) or 0) for profile, number in devices.items())
            if slices > _SLICES:
                yield Violation(
                    (*path, "mig-devices"),
                    f"{name} makes {slices} slices of a card, but no card has more than {_SLICES}: "
                    "nvidia-mig-manager fails, and the node keeps its former devices",
                    "make fewer or smaller devices: nvidia-smi mig -lgipp lists what fits",
                    key=True,
                )
            for profile in devices:
                if isinstance(profile, str) and not _PROFILE.match(profile):
                    yield Violation(
                        (*path, "mig-devices", profile),
                        f"{profile} is not a MIG profile: nvidia-mig-manager refuses the file",
                        "write one such as 1g.10gb: nvidia-smi mig -lgip lists those of a card",
                        key=True,
                    )


_SLICES = 7
"""Compute slices of a card with MIG, from A100 to B200; others have fewer."""


def _slices(profile: object) -> int:
    """Compute slices of one device; 0: no profile, or one of several that share the slices of another."""
    found = re.match(r"([1-9])g\.", profile) if isinstance(profile, str) else None
    return int(found.group(1)) if found else 0


_PROFILE = re.compile(r"(?:[1-9]c\.)?[1-9]g\.[1-9][0-9]*gb(?:[+-][a-z.]+)*\Z")


def _of_hami(written: Mapping[str, Any]) -> Iterator[Violation]:
    yield from _unknown(written, _HAMI, _HAMI_FIELDS, "HAMi")
    for field, positive in _HAMI_NUMBERS.items():
        there = written.get(field)
        if isinstance(there, str) and there and not is_placeholder(there):
            yield Violation(
                (*_HAMI, field),
                f"{field} is the string {there!r}, but HAMi needs a number: it does not start",
                "write the number without quotes",
            )
        elif isinstance(there, int | float) and not isinstance(there, bool) and there <= 0 and positive:
            yield Violation(
                (*_HAMI, field),
                f"{field} is {there}: no card has anything to offer",
                "write 1 or more" if field == "deviceSplitCount" else "write a factor above 0, such as 1",
            )
    for field in HAMI_NAMES:
        name = text(written.get(field))
        if name and "/" not in name and not is_placeholder(name):
            yield Violation(
                (*_HAMI, field),
                f"{field} is {name!r}, which pods cannot request: such a resource has a domain",
                "write a name such as nvidia.com/gpu",
            )


def _of_nvidia(manifest: Manifest) -> Iterator[Violation]:
    flags, sharing = mapping(manifest.data.get("flags")), mapping(manifest.data.get("sharing"))
    strategy = text(flags.get("migStrategy"))
    if strategy and strategy not in _STRATEGIES and not is_placeholder(strategy):
        near = nearest(strategy, _STRATEGIES)
        yield Violation(
            ("flags", "migStrategy"),
            f"migStrategy is {strategy!r}, which the device plugin does not know: it does not start",
            f"did you mean {near}?" if near else "write none, single or mixed",
        )
    for path, written in ((("flags",), flags), (("sharing",), sharing), ((), manifest.data)):
        yield from _elsewhere(written, path)
    for kind in ("timeSlicing", "mps"):
        shared = mapping(sharing.get(kind))
        yield from _unknown(shared, ("sharing", kind), _SHARING)
        listed = shared.get("resources")
        for number, each in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(each, dict) and not _is_completed(manifest, each):
                yield from _resource(each, ("sharing", kind, "resources", number), _chosen(manifest))


def _is_completed(manifest: Manifest, written: Mapping[str, Any]) -> bool:
    """Whether a kustomization still replaces the number, which is then often 0."""
    holder = manifest.holder
    return holder is not None and holder.partial and not written.get("replicas")


def _chosen(manifest: Manifest) -> str:
    """Where a configuration is read that is one of several in a ConfigMap; empty: by every node."""
    data = mapping(manifest.holder.data.get("data")) if manifest.holder is not None else {}
    return " on nodes that choose it" if len(data) > 1 else ""


def _resource(written: Mapping[str, Any], path: Path, where: str) -> Iterator[Violation]:
    yield from _unknown(written, path, _RESOURCE)
    replicas = written.get("replicas")
    if "replicas" not in written:
        yield Violation(
            path,
            "the resource has no replicas: the device plugin does not start",
            f"add the number of pods that share a card, at least {_LEAST}",
        )
    elif isinstance(replicas, int) and not isinstance(replicas, bool) and replicas < _LEAST:
        yield Violation(
            (*path, "replicas"),
            f"replicas is {replicas}, but must be at least {_LEAST}: the device plugin does not start{where}",
            "raise it, or delete the resource if its cards are not shared",
            Severity.WARNING if where else None,
        )
    if text(written.get("rename")):
        yield Violation(
            (*path, "rename"),
            "the device plugin ignores rename: only renameByDefault changes the name, "
            "to one ending in .shared",
            "delete it, or set renameByDefault: true",
            Severity.WARNING,
            key=True,
        )


def _elsewhere(written: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    """Settings of a way of sharing that are not within it."""
    for key in _SHARING:
        if key in written:
            yield Violation(
                (*path, key),
                f"the device plugin does not read {key} here",
                "move it under sharing.timeSlicing, or under sharing.mps",
                Severity.WARNING,
                key=True,
            )


def _unknown(
    written: Mapping[str, Any], path: Path, known: tuple[str, ...], who: str = "the device plugin"
) -> Iterator[Violation]:
    for key in written:
        likely = nearest(key, known) if isinstance(key, str) and key not in known else ""
        if likely and likely not in written:
            yield Violation(
                (*path, key),
                f"{who} does not read {key}",
                f"did you mean {likely}?",
                Severity.WARNING,
                key=True,
            )


RULE = Rule(
    code="PK220",
    name="invalid-plugin-configuration",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset(
        {HAMI_CONFIGURATION, MIG_CONFIGURATION, PLUGIN_CONFIGURATION, *HELM_KINDS, *node_slices.KINDS}
    ),
)
