"""The project's own vectors: what Kubernetes 1.36 says, case by case."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from policykit.model.quantity import parse
from tests.kube.verdicts import Case, admitted, filtered, requested, scored
from tests.loaded import loaded

VECTORS = Path(__file__).parent / "vectors"


def _load(name: str) -> Any:
    return loaded((VECTORS / f"{name}.yaml").read_text(encoding="utf-8"))


def _cases(name: str) -> list[Any]:
    return [pytest.param(case, id=case["name"]) for case in _load(name)]


QUANTITIES = _load("quantities")


@pytest.mark.parametrize("case", _cases("filters"))
def test_filters(case: Case) -> None:
    assert filtered(case) == case["expected"]


@pytest.mark.parametrize("case", _cases("scores"))
def test_scores(case: Case) -> None:
    assert scored(case) == case["expected"]


@pytest.mark.parametrize("case", _cases("requests"))
def test_requests(case: Case) -> None:
    assert requested(case["pod"]) == case["expected"]


@pytest.mark.parametrize("case", _cases("kubelet"))
def test_kubelet(case: Case) -> None:
    assert admitted(case) == case["expected"]


@pytest.mark.parametrize("case", QUANTITIES["valid"], ids=lambda case: case["text"])
def test_valid_quantities(case: Case) -> None:
    quantity = parse(case["text"])
    assert quantity is not None
    assert quantity.units == case["value"]
    assert quantity.milli == case.get("milli", quantity.milli)


@pytest.mark.parametrize("text", QUANTITIES["invalid"], ids=repr)
def test_invalid_quantities(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize("case", QUANTITIES["devices"], ids=lambda case: case["text"])
def test_device_amounts(case: Case) -> None:
    quantity = parse(case["text"])
    assert quantity is not None
    assert quantity.whole is case["allowed"]
