"""What Karpenter refuses of the fields of a kubelet."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.placeholders import is_filled_in
from policykit.kube.structure.admission.checks import not_below, ordered, refused
from policykit.kube.structure.problem import INCONSISTENT
from policykit.manifests.path import Path
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping
from policykit.model.severity import Severity
from policykit.nearest import nearest

_KARPENTER = "Karpenter refuses it"
_SIGNALS = (
    "memory.available",
    "nodefs.available",
    "nodefs.inodesFree",
    "imagefs.available",
    "imagefs.inodesFree",
    "pid.available",
)
_EVICTIONS = ("evictionHard", "evictionSoft", "evictionSoftGracePeriod")
_FIELDS = (
    "clusterDNS",
    "cpuCFSQuota",
    "evictionHard",
    "evictionMaxPodGracePeriod",
    "evictionSoft",
    "evictionSoftGracePeriod",
    "imageGCHighThresholdPercent",
    "imageGCLowThresholdPercent",
    "kubeReserved",
    "maxPods",
    "podsPerCore",
    "systemReserved",
)
_RESERVED = ("cpu", "memory", "ephemeral-storage", "pid")


def kubelet(written: object, path: Path) -> Iterator[Problem]:
    """Fields of a kubelet, as a class or a pool of Karpenter states them."""
    if not isinstance(written, dict):
        return
    for field in written:
        near = nearest(field, _FIELDS) if isinstance(field, str) and field not in _FIELDS else ""
        if near and near not in written:
            what = "is not a field of the kubelet"
            yield refused((*path, field), what, f"did you mean {near}?", Severity.WARNING, key=True)
    for field in ("maxPods", "podsPerCore", "evictionMaxPodGracePeriod"):
        yield from not_below(written, path, field, 0, f"write 0 or more: {_KARPENTER}")
    for field in _EVICTIONS:
        for signal in mapping(written.get(field)):
            if isinstance(signal, str) and signal not in _SIGNALS and not is_filled_in(signal):
                near = nearest(signal, _SIGNALS)
                advice = f"did you mean {near}?" if near else f"known: {', '.join(_SIGNALS)}"
                what = "is not a signal of the kubelet"
                yield refused((*path, field, signal), what, f"{advice}: {_KARPENTER}", key=True)
    soft, grace = mapping(written.get("evictionSoft")), mapping(written.get("evictionSoftGracePeriod"))
    for one, other, field, lacking in (
        (soft, grace, "evictionSoft", "evictionSoftGracePeriod"),
        (grace, soft, "evictionSoftGracePeriod", "evictionSoft"),
    ):
        for signal in one:
            if signal not in other:
                where = (*path, field, signal)
                advice = f"add {signal} there: {_KARPENTER}"
                yield refused(where, f"is not in {lacking}", advice, key=True, kind=INCONSISTENT)
    for field in ("kubeReserved", "systemReserved"):
        for name, amount in mapping(written.get(field)).items():
            if isinstance(name, str) and name not in _RESERVED and not is_filled_in(name):
                what = f"is not one of {', '.join(_RESERVED)}"
                yield refused((*path, field, name), what, f"delete it: {_KARPENTER}", key=True)
            elif str(amount).startswith("-"):
                yield refused((*path, field, name), f"is {amount}", f"write 0 or more: {_KARPENTER}")
    yield from ordered(written, path, "imageGCLowThresholdPercent", "imageGCHighThresholdPercent", _KARPENTER)
