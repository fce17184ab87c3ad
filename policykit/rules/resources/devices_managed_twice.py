"""Two objects of an operator, or two plugins, are for the devices of the same nodes.

The operators of NVIDIA and AMD manage the devices of a node by one object. An NVIDIADriver without
nodeSelector is for every node with cards, unless it is the default, so beside another one the operator
accepts neither. A DeviceConfig whose nodes another one has stays without effect, and of several
ClusterPolicies the operator follows one: since 26.7 the oldest. NVIDIA's operator installs a device plugin
unless devicePlugin.enabled is false; beside the chart nvidia-device-plugin, or HAMi, which has a plugin of
its own, two plugins offer the same cards of a node, and the one that registers last decides. Objects of
different files may be for different clusters, so only those of one file are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.managed_devices import InstalledPlugin, ManagedDevices
from policykit.model.severity import Severity

BAD = """\
apiVersion: nvidia.com/v1alpha1
kind: NVIDIADriver
metadata:
  name: current
spec:
  driverType: gpu
  image: driver
  repository: nvcr.io/nvidia
  version: 580.95.05
---
apiVersion: nvidia.com/v1alpha1
kind: NVIDIADriver
metadata:
  name: older
spec:
  driverType: gpu
  image: driver
  repository: nvcr.io/nvidia
  version: 535.261.03
  nodeSelector: {driver: older}
"""

GOOD = BAD.replace("580.95.05\n", "580.95.05\n  nodeSelector: {driver: current}\n")

_EFFECTS: Mapping[str, tuple[str, str]] = {
    "ClusterPolicy": ("the operator follows only one of the two", "keep one"),
    "DeviceConfig": (
        "the operator accepts only one of the two",
        "select nodes by labels of which no node has both",
    ),
    "NVIDIADriver": (
        "the operator accepts neither",
        "select nodes by labels of which no node has both; since 26.7 the one without nodeSelector may be "
        "the default",
    ),
}
"""Kind, what its operator does with two, and what to do."""
_OPERATORS = frozenset({"gpu-operator", "ClusterPolicy"})


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Sources: the validator of NVIDIADriver and the reconciler of ClusterPolicy (gpu-operator 23.9 to 26.7),
    `validateNodeAssignments` of ROCm's gpu-operator (1.4 and 1.5)."""
    earlier: dict[tuple[str, str], list[LocatedFact[ManagedDevices]]] = {}
    for each in scope.of(ManagedDevices):
        kind = each.resource.kind
        others = earlier.setdefault((each.path, kind), [])
        shared = next((what for other in others if (what := _shared(each, other))), "")
        others.append(each)
        if shared:
            effect, advice = _EFFECTS[kind]
            yield Violation(each.at("selector"), f"{shared}: {effect}", advice)
    yield from _plugins(scope)


def _plugins(scope: Scope) -> Iterator[Violation]:
    """An operator that installs its plugin beside another one, of the same file."""
    found = scope.of(InstalledPlugin)
    others: dict[str, LocatedFact[InstalledPlugin]] = {}
    for each in found:
        if each.value.installer not in _OPERATORS:
            others.setdefault(each.path, each)
    for each in found if others else ():
        other = others.get(each.path) if each.value.installer in _OPERATORS else None
        if other is not None:
            yield Violation(
                each.at("switch"),
                f"{each.value.installer} installs a device plugin, and so does {other.value.installer} "
                f"of {other.resource.name}: two plugins offer the same cards of a node",
                f"set {each.value.switch}: false",
            )


def _shared(one: LocatedFact[ManagedDevices], other: LocatedFact[ManagedDevices]) -> str:
    """What both are certainly for, in words; empty: nothing."""
    first, second = one.value, other.value
    name = f"{other.resource.kind} {other.resource.name}"
    if other.resource.name == one.resource.name or first.rest != second.rest:
        return ""
    if first.rest:
        return f"{name} is the default too"
    if not first.field:
        return f"{name} is for the same cluster"
    if second.selector.items() <= first.selector.items():
        labels = ", ".join(f"{key}={value}" for key, value in second.selector.items())
        which = f"all nodes with {labels}" if labels else "all nodes with such devices"
        return f"{name} is for {which}, and so for these"
    if first.selector.items() <= second.selector.items():
        return f"the nodes of {name} are among these"
    return ""


RULE = Rule(
    code="PK230",
    name="devices-managed-twice",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(InstalledPlugin, ManagedDevices),
)
