"""A kubelet's configuration file: policies that it does not know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.kube.structure.admission.values import Data, refused
from policykit.kube.structure.problem import BAD_VALUE
from policykit.kube.structure.scalars import is_filled_in
from policykit.manifests.problem import Problem
from policykit.nearest import nearest

_KNOWN: Mapping[str, tuple[str, ...]] = {
    "cpuManagerPolicy": ("none", "static"),
    "memoryManagerPolicy": ("None", "Static", "BestEffort"),
    "topologyManagerPolicy": ("none", "best-effort", "restricted", "single-numa-node"),
    "topologyManagerScope": ("container", "pod"),
}


def configuration(data: Data) -> Iterator[Problem]:
    """Source: `ValidateKubeletConfiguration` and the managers it starts (Kubernetes v1.36)."""
    for field, known in _KNOWN.items():
        value = data.get(field)
        if isinstance(value, str) and value and value not in known and not is_filled_in(value):
            close = nearest(value, known)
            advice = f"did you mean {close}?" if close else f"known: {', '.join(known)}"
            yield refused((field,), f"is {value}: the kubelet does not start", advice, kind=BAD_VALUE)
