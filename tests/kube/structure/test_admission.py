"""What admission or an operator refuses of a whole object."""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from policykit.kube.structure import check
from policykit.kube.structure.admission import refusals
from tests.loaded import loaded

CASES: list[dict[str, Any]] = [
    case
    for name in ("admission.yaml", "admission-devices.yaml", "admission-operators.yaml")
    for case in loaded((Path(__file__).parent / name).read_text(encoding="utf-8"))
]

ODD: list[Any] = [None, True, -1, 0.5, "", "${N}", "7", "9" * 5000, [], {}, ["x"], [None], {"name": 7}]


def places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Every collection with each of its keys or indices."""
    for key in list(data) if isinstance(data, dict) else range(len(data)):
        yield data, key
        if isinstance(data[key], dict | list):
            yield from places(data[key])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["of"])
def test_no_shape_is_too_odd(case: dict[str, Any]) -> None:
    api_version, _, kind = case["of"].partition(" ")
    data = copy.deepcopy(case["object"])
    for owner, key in [*places(data)]:
        there = owner[key]
        for value in ODD:
            owner[key] = copy.deepcopy(value)
            assert list(refusals(data, api_version, kind)) is not None
        owner[key] = there


FIVE_FIELDS = "must have five fields: minute, hour, day of the month, month, day of the week"


def said(case: dict[str, Any]) -> list[str]:
    api_version, _, kind = case["of"].partition(" ")
    data = {"apiVersion": api_version, "kind": kind, **case["object"]}
    return [f"{one.severity or 'error'}: {one.message}" for one in refusals(data, api_version, kind)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["of"])
def test_refused(case: dict[str, Any]) -> None:
    assert said(case) == case.get("says", [])


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        ("0 25 * * *", "spec.schedule has '25' as hour, which is outside 0-23"),
        ("TZ=UTC 0 2 * * *", "spec.schedule states a time zone, which belongs to timeZone"),
        ("0 2 * *", f'spec.schedule is "0 2 * *", which {FIVE_FIELDS}'),
    ],
)
def test_a_value_that_the_schema_reports_is_reported_once(schedule: str, message: str) -> None:
    pods = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "app:1"}]}}
    spec = {"schedule": schedule, "jobTemplate": {"spec": {"template": pods}}}
    data = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "nightly"}, "spec": spec}
    assert [problem.message for problem in check(data, "batch/v1", "CronJob")] == [message]
