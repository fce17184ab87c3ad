"""Gangs in the form of each release, and the pods that join them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.targets.kubernetes.pod_groups import Gang, api_version, pod_fields, read, write
from policykit.targets.kubernetes.versions import parse

NAMES = st.text(st.characters(codec="ascii", categories=["Ll", "Nd"]), min_size=1, max_size=8)


@given(
    st.builds(Gang, NAMES, st.just("") | NAMES, st.integers(1, 99), st.just("") | NAMES),
    st.sampled_from(["1.35", "1.36", "1.37"]),
)
def test_what_is_written_is_read(gang: Gang, version: str) -> None:
    expected = gang._replace(level="") if version == "1.35" else gang
    assert read(write(gang, parse(version))) == expected


@pytest.mark.parametrize(
    ("version", "kind", "spec", "fields"),
    [
        (
            "1.35",
            ("scheduling.k8s.io/v1alpha1", "Workload"),
            {"podGroups": [{"name": "all", "policy": {"gang": {"minCount": 4}}}]},
            {"workloadRef": {"name": "job", "podGroup": "all"}},
        ),
        (
            "1.36",
            ("scheduling.k8s.io/v1alpha2", "PodGroup"),
            {
                "schedulingPolicy": {"gang": {"minCount": 4}},
                "schedulingConstraints": {"topology": [{"key": "rack"}]},
            },
            {"schedulingGroup": {"podGroupName": "job"}},
        ),
        (
            "1.37",
            ("scheduling.k8s.io/v1beta1", "PodGroup"),
            {
                "schedulingPolicy": {"gang": {"minCount": 4}},
                "schedulingConstraints": {"topology": [{"key": "rack"}]},
            },
            {"schedulingGroup": {"podGroupName": "job"}},
        ),
    ],
)
def test_forms(version: str, kind: tuple[str, str], spec: dict[str, Any], fields: dict[str, Any]) -> None:
    gang = Gang("job", "ml", 4, "rack")
    written = write(gang, parse(version))
    assert (written["apiVersion"], written["kind"]) == kind
    assert written["metadata"] == {"name": "job", "namespace": "ml"}
    assert written["spec"] == spec
    assert pod_fields(gang, parse(version)) == fields


def test_no_api_before_1_35() -> None:
    assert api_version(parse("1.34")) == ""


@pytest.mark.parametrize(
    "data",
    [{}, {"spec": {"schedulingPolicy": {"basic": {}}}}, {"spec": {"podGroups": [{}, {}]}}, {"spec": 7}],
)
def test_what_is_no_gang(data: dict[str, Any]) -> None:
    assert read(data) is None
