"""Objects of NVIDIA's operator and of its driver for dynamic resource allocation."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.structure.admission.checks import Data, not_below, refused
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping
from policykit.model.severity import Severity

_WHO = "the operator installs no driver"


def cluster_policy(data: Data) -> Iterator[Problem]:
    """Source: `transformDriverContainer` and what it calls, of gpu-operator (23.3 to 26.7)."""
    spec = mapping(data.get("spec"))
    if lookup(spec, ("driver", "enabled")) is False:
        return
    precompiled = lookup(spec, ("driver", "usePrecompiled")) is True
    yield from _beside_precompiled(spec, precompiled=precompiled)


def nvidia_driver(data: Data) -> Iterator[Problem]:
    """Sources: the rules of the CRD NVIDIADriver, and its reconciler (gpu-operator 23.9 to 26.7)."""
    spec = mapping(data.get("spec"))
    selector: Path = ("spec", "nodeSelector")
    if spec.get("default") is True and spec.get("nodeSelector"):
        what = "conflicts with default: true, which is for all other nodes"
        yield refused(selector, what, "delete one of the two: the API server refuses it", key=True)
    yield from _beside_precompiled(spec, precompiled=spec.get("usePrecompiled") is True)


def _beside_precompiled(spec: Data, *, precompiled: bool) -> Iterator[Problem]:
    for field in ("gds", "gdrcopy") if precompiled else ():
        if lookup(spec, (field, "enabled")) is True:
            what = "is true, but there is no precompiled driver with it"
            advice = f"write usePrecompiled: false, or enabled: false: {_WHO}"
            yield refused(("spec", field, "enabled"), what, advice)


def compute_domain(data: Data) -> Iterator[Problem]:
    """Source: the CRD ComputeDomain (25.12; releases before took any number)."""
    spec = mapping(data.get("spec"))
    for problem in not_below(spec, ("spec",), "numNodes", 0, "write the number of nodes, or 0"):
        yield problem._replace(severity=Severity.WARNING)
