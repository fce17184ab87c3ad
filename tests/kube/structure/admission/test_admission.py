"""What admission or an operator refuses of a whole object."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from policykit.kube.structure.admission import refusals

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "admission.yaml").read_text(encoding="utf-8")
)


def said(case: dict[str, Any]) -> list[str]:
    api_version, _, kind = case["of"].partition(" ")
    data = {"apiVersion": api_version, "kind": kind, **case["object"]}
    return [f"{one.severity or 'error'}: {one.message}" for one in refusals(data, api_version, kind)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["of"])
def test_refused(case: dict[str, Any]) -> None:
    assert said(case) == case.get("says", [])
