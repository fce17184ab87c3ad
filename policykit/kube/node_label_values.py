"""Labels of nodes whose values are a closed list: those of kubelets, of Karpenter and of clouds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from policykit.kube.placeholders import is_filled_in
from policykit.nearest import nearest

_MACHINES = (
    "386",
    "amd64",
    "arm",
    "arm64",
    "loong64",
    "mips64le",
    "ppc64le",
    "riscv64",
    "s390x",
)
"""Names of Go for what kubelet is built for."""
_SYSTEMS = ("linux", "windows")

GKE_SHARING = "cloud.google.com/gke-gpu-sharing-strategy"
VALUES: Mapping[str, tuple[str, ...]] = {
    "beta.kubernetes.io/arch": _MACHINES,
    "beta.kubernetes.io/os": _SYSTEMS,
    GKE_SHARING: ("mps", "time-sharing"),
    "cloud.google.com/gke-preemptible": ("true",),
    "cloud.google.com/gke-spot": ("true",),
    "eks.amazonaws.com/capacityType": ("CAPACITY_BLOCK", "ON_DEMAND", "SPOT"),
    "karpenter.sh/capacity-type": ("on-demand", "reserved", "spot"),
    "kubernetes.io/arch": _MACHINES,
    "kubernetes.io/os": _SYSTEMS,
}
"""Sources: kubelet (`runtime.GOARCH`, `runtime.GOOS`), Karpenter's `WellKnownValuesForRequirements` (1.5 to
1.14), and what EKS and GKE document of their nodes."""

_SMALL = frozenset(
    f"karpenter.k8s.aws/instance-{name}"
    for name in (
        "accelerator-manufacturer",
        "accelerator-name",
        "category",
        "cpu-manufacturer",
        "family",
        "gpu-manufacturer",
        "gpu-name",
        "size",
    )
)
"""Labels whose values have no capitals. Source: `computeRequirements` and `lowerKabobCase` of Karpenter for
AWS (0.32 to 1.14)."""

_MEANT: Mapping[str, str] = {
    "aarch64": "arm64",
    "arm64v8": "arm64",
    "ondemand": "on-demand",
    "time-slicing": "time-sharing",
    "timesharing": "time-sharing",
    "x64": "amd64",
    "x86-64": "amd64",
    "x86_64": "amd64",
}


def impossible(key: str, values: Iterable[object]) -> tuple[str, ...]:
    """The values, if the label has none of them on any node; empty: it may have one."""
    known = VALUES.get(key, ())
    if not known and key not in _SMALL:
        return ()
    stated = [value if isinstance(value, str) else "" for value in values]
    if not stated or any(not value or is_filled_in(value) or _may_be(value, known) for value in stated):
        return ()
    return tuple(stated)


def _may_be(value: str, known: tuple[str, ...]) -> bool:
    return value in known if known else value == value.lower()


def advice(key: str, value: str) -> str:
    """What may be meant by a value that the label never has."""
    if key in _SMALL:
        return f"did you mean {value.lower()}?"
    known = VALUES[key]
    folded = {each.lower(): each for each in known}
    meant = _MEANT.get(value.lower(), "")
    found = meant if meant in known else folded.get(value.lower().replace("-", "_"), "")
    found = found or folded.get(value.lower(), "") or nearest(value, known) or ""
    return f"did you mean {found}?" if found else f"it is one of {', '.join(known)}"
