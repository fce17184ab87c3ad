"""The shared semantic vectors, run as they stand, where they stand beside the checkout."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from policykit.model.quantity import parse
from tests.kube.test_vectors import VECTORS
from tests.kube.verdicts import Case, admitted, filtered, requested, scored
from tests.shared import SHARED

SECTIONS = {
    "match_cases": filtered,
    "scoring_cases": scored,
    "effective_requests": lambda case: requested(case["pod"]),
    "kubelet_cases": admitted,
}
OWN = {
    "match_cases": "filters",
    "scoring_cases": "scores",
    "effective_requests": "requests",
    "kubelet_cases": "kubelet",
}


def _shared() -> dict[str, Any]:
    path = SHARED / "reference/vectors/kubernetes_semantics.yaml" if SHARED else None
    if path is None or not path.is_file():
        pytest.skip("the shared vectors are not beside this checkout")
    loaded: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return loaded


def _pod(short: Case) -> Case:
    """A PodSpec: the vectors keep requests and limits directly in a container."""
    spec = dict(short)
    for name in ("containers", "initContainers"):
        if name in spec:
            spec[name] = [{**container, "resources": container} for container in spec[name]]
    return spec


def _node(short: Case) -> Case:
    """A Node: the vectors keep its fields side by side."""
    pods = [_pod(pod) for pod in short.get("pods", [])]
    return {"metadata": short, "spec": short, "status": short, "pods": pods}


def _whole(short: Case) -> Case:
    case = {**short, "pod": _pod(short["pod"])}
    if "node" in short:
        case["node"] = _node(short["node"])
    if "nodes" in short:
        case["nodes"] = [_node(node) for node in short["nodes"]]
    return case


@pytest.mark.parametrize("section", SECTIONS)
def test_cases(section: str) -> None:
    cases = [_whole(case) for case in _shared()[section]]
    assert cases
    wrong = {c["name"]: said for c in cases if (said := SECTIONS[section](c)) != c["expected"]}
    assert wrong == {}


def test_quantities() -> None:
    quantities = _shared()["quantities"]
    for case in quantities["valid"]:
        quantity = parse(case["text"])
        assert quantity is not None, case
        assert quantity.units == case["value"], case
        assert quantity.milli == case.get("milli", quantity.milli), case
    assert [text for text in quantities["invalid"] if parse(text)] == []
    devices = {case["text"]: parse(case["text"]) for case in quantities["extended_resource_amounts"]}
    allowed = {case["text"]: case["allowed"] for case in quantities["extended_resource_amounts"]}
    assert {text: quantity is not None and quantity.whole for text, quantity in devices.items()} == allowed


@pytest.mark.parametrize("section", OWN)
def test_own_vectors_miss_none(section: str) -> None:
    own = yaml.safe_load((VECTORS / f"{OWN[section]}.yaml").read_text(encoding="utf-8"))
    assert {case["name"] for case in _shared()[section]} - {case["name"] for case in own} == set()
