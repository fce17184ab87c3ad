"""What keeps a kubelet from starting: its configuration, and the labels that it is told to give its node.

Sources: `ValidateKubeletConfiguration`, the managers of processors, of memory and of evictions, and the check
of `--node-labels` (Kubernetes v1.36). Flags win over the file, so what a flag may add is a warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.kube.placeholders import is_filled_in
from policykit.kube.structure.admission.checks import Data, ordered, refused, words
from policykit.kube.structure.problem import BAD_VALUE, INCONSISTENT
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping, mappings, text, whole
from policykit.model.node_labels import may_set
from policykit.model.quantity import amount, amount_text
from policykit.model.severity import Severity
from policykit.nearest import nearest

_ENDS = "the kubelet does not start"
_KNOWN: Mapping[str, tuple[str, ...]] = {
    "cpuManagerPolicy": ("none", "static"),
    "memoryManagerPolicy": ("None", "Static", "BestEffort"),
    "topologyManagerPolicy": ("none", "best-effort", "restricted", "single-numa-node"),
    "topologyManagerScope": ("container", "pod"),
}
_ENFORCED = "enforceNodeAllocatable"
_OF_CGROUPS: Mapping[str, tuple[str, str]] = {
    "kube-reserved": ("kubeReservedCgroup", "kubeReserved"),
    "kube-reserved-compressible": ("kubeReservedCgroup", "kubeReserved"),
    "system-reserved": ("systemReservedCgroup", "systemReserved"),
    "system-reserved-compressible": ("systemReservedCgroup", "systemReserved"),
}
"""What is enforced, with its cgroup and how much is reserved."""
_SIGNALS = (
    "allocatableMemory.available",
    "containerfs.available",
    "containerfs.inodesFree",
    "imagefs.available",
    "imagefs.inodesFree",
    "memory.available",
    "nodefs.available",
    "nodefs.inodesFree",
    "pid.available",
)
_MEMORY = "memory.available"
_THRESHOLD = {_MEMORY: "100Mi"}
"""Of Linux, where no evictionHard is stated."""


def configuration(data: Data) -> Iterator[Problem]:
    """A KubeletConfiguration."""
    yield from _anywhere(data, ())
    yield from _processors(data, ())
    yield from _memory(data, ())


def of_machines(data: Data) -> Iterator[Problem]:
    """OpenShift's KubeletConfig: how many processors are reserved else is in no file."""
    path: Path = ("spec", "kubeletConfig")
    inner = mapping(lookup(data, path))
    yield from _anywhere(inner, path)
    if "memory" in mapping(inner.get("systemReserved")):
        yield from _memory(inner, path)


def of_nodes(data: Data) -> Iterator[Problem]:
    """A NodeConfig of EKS, whose nodeadm adds to the configuration."""
    path: Path = ("spec", "kubelet", "config")
    yield from _anywhere(mapping(lookup(data, path)), path)
    flags: Path = ("spec", "kubelet", "flags")
    for position, word in words(lookup(data, flags)):
        name, _, value = word.partition("=")
        if name == "--node-labels":
            yield from node_labels(value, (*flags, position))


def node_labels(written: object, path: Path) -> Iterator[Problem]:
    """Labels that a kubelet is told to give its node, as its flag has them: `a=b,c=d`."""
    keys = text(written).split(",") if not is_filled_in(text(written)) else ()
    for key in (each.partition("=")[0].strip() for each in keys):
        if key and not may_set(key):
            yield refused(
                path,
                f"has {key}, which a kubelet may not give its own node: {_ENDS}",
                f"kubectl label node NAME {key}=... once the node has joined, or a label of another domain",
                Severity.WARNING,
                kind=BAD_VALUE,
            )


def _anywhere(data: Data, base: Path) -> Iterator[Problem]:
    for field, known in _KNOWN.items():
        value = data.get(field)
        if isinstance(value, str) and value and value not in known and not is_filled_in(value):
            yield refused((*base, field), f"is {value}: {_ENDS}", _advice(value, known), kind=BAD_VALUE)
    yield from _enforced(data, base)
    yield from _evictions(data, base)
    least, most = "imageGCLowThresholdPercent", "imageGCHighThresholdPercent"
    low, high = whole(data.get(least)), whole(data.get(most))
    if low is not None and low == high:
        yield refused((*base, least), f"is {low}, as is {most}: {_ENDS}", f"lower {least}, or raise {most}")
    yield from ordered(data, base, least, most, _ENDS)
    pulls = whole(data.get("maxParallelImagePulls"))
    if pulls is not None and pulls > 1 and data.get("serializeImagePulls") is True:
        what = f"is {pulls}, but serializeImagePulls is true: {_ENDS}"
        yield refused((*base, "maxParallelImagePulls"), what, "set serializeImagePulls to false")
    options = data.get("cpuManagerPolicyOptions")
    if isinstance(options, dict) and options and data.get("cpuManagerPolicy") == "none":
        what = f"is set, but cpuManagerPolicy is none: {_ENDS}"
        advice = "set cpuManagerPolicy to static, or take the options out"
        yield refused((*base, "cpuManagerPolicyOptions"), what, advice, key=True)


def _advice(value: str, known: tuple[str, ...]) -> str:
    close = nearest(value, known)
    return f"did you mean {close}?" if close else f"known: {', '.join(known)}"


def _enforced(data: Data, base: Path) -> Iterator[Problem]:
    listed = [*words(data.get(_ENFORCED))]
    known = ("none", "pods", *_OF_CGROUPS)
    for position, word in listed:
        path: Path = (*base, _ENFORCED, position)
        if word not in known:
            yield refused(path, f"is {word}: {_ENDS}", _advice(word, known), kind=BAD_VALUE)
        elif word == "none" and len(listed) > 1:
            yield refused(path, f"is none, beside others: {_ENDS}", "list none alone, or take it out")
        elif word in _OF_CGROUPS:
            missing = [field for field in _OF_CGROUPS[word] if not data.get(field)]
            if missing:
                yield refused(
                    path,
                    f"is {word}, but {missing[0]} is not set: {_ENDS}",
                    f"set {' and '.join(missing)}, or take {word} out",
                    Severity.WARNING,
                    kind=INCONSISTENT,
                )
    if data.get("reservedSystemCPUs"):
        for field in ("systemReservedCgroup", "kubeReservedCgroup"):
            if data.get(field):
                what = f"is set beside reservedSystemCPUs: {_ENDS}"
                yield refused((*base, field), what, "take one of the two out", key=True)


def _evictions(data: Data, base: Path) -> Iterator[Problem]:
    for field in ("evictionHard", "evictionSoft", "evictionMinimumReclaim", "evictionSoftGracePeriod"):
        for signal in mapping(data.get(field)):
            if isinstance(signal, str) and signal not in _SIGNALS and not is_filled_in(signal):
                what = f"is not a signal of the kubelet: {_ENDS}"
                yield refused((*base, field, signal), what, _advice(signal, _SIGNALS), key=True)
    waits = mapping(data.get("evictionSoftGracePeriod"))
    for signal in mapping(data.get("evictionSoft")):
        if isinstance(signal, str) and signal in _SIGNALS and signal not in waits:
            yield refused(
                (*base, "evictionSoft", signal),
                f"has no grace period: {_ENDS}",
                f"add {signal} to evictionSoftGracePeriod, or move it to evictionHard",
                Severity.WARNING,
                key=True,
                kind=INCONSISTENT,
            )


def _reserved(data: Data, resource: str) -> int | None:
    """Of Kubernetes and of the system; None: an amount cannot be read."""
    stated = [mapping(data.get(field)).get(resource) for field in ("kubeReserved", "systemReserved")]
    read = [amount(resource, each) for each in stated if each is not None]
    return None if None in read else sum(each for each in read if each is not None)


def _processors(data: Data, base: Path) -> Iterator[Problem]:
    static = data.get("cpuManagerPolicy") == "static"
    if static and not data.get("reservedSystemCPUs") and _reserved(data, "cpu") == 0:
        yield refused(
            (*base, "cpuManagerPolicy"),
            f"is static, but no cpu is reserved for the system: {_ENDS}",
            "set reservedSystemCPUs, or cpu of kubeReserved or systemReserved",
            Severity.WARNING,
            kind=INCONSISTENT,
        )


def _memory(data: Data, base: Path) -> Iterator[Problem]:
    if data.get("memoryManagerPolicy") != "Static":
        return
    limits = [mapping(each.get("limits")).get("memory") for each in mappings(data.get("reservedMemory"))]
    of_nodes = [amount("memory", each) for each in limits if each is not None]
    hard = {**(_THRESHOLD if _defaults(data) else {}), **mapping(data.get("evictionHard"))}
    threshold = hard.get(_MEMORY, 0)
    parts = (_reserved(data, "memory"), amount("memory", threshold))
    if None in of_nodes or None in parts:
        return
    given = sum(each for each in of_nodes if each is not None)
    needed = sum(each for each in parts if each is not None)
    if given != needed:
        field = "reservedMemory" if "reservedMemory" in data else "memoryManagerPolicy"
        what = f"reserves {_text(given)}" if field == "reservedMemory" else "is Static without reservedMemory"
        yield refused(
            (*base, field),
            f"{what}, but kubeReserved, systemReserved and the threshold of eviction are {_text(needed)} "
            f"together: {_ENDS}",
            f"let the memory of reservedMemory add up to {_text(needed)}",
            Severity.WARNING,
            key=True,
            kind=INCONSISTENT,
        )


def _defaults(data: Data) -> bool:
    return "evictionHard" not in data or data.get("mergeDefaultEvictionSettings") is True


def _text(memory: int) -> str:
    return amount_text("memory", memory)
