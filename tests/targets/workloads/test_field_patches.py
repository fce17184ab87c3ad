"""What pods are to carry, laid over what they carry."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.errors import PolicykitError
from policykit.kube import podsets
from policykit.manifests.patch import patched
from policykit.model.pod_fields import PodFields
from policykit.targets.workloads.field_patches import field_patches, merge_patches
from tests.targets.workloads.objects import CRON_JOB, DEPLOYMENT, JOB, JOB_SET, POD, RAY_JOB, manifest

ZONE = {"topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 1}
SOFT = {**ZONE, "whenUnsatisfiable": "ScheduleAnyway"}
TERM = {"topologyKey": "rack", "labelSelector": {"matchLabels": {"a": "b"}}}


def changes(text: str, fields: PodFields, number: int = 0) -> dict[str, Any]:
    one = manifest(text)
    found = field_patches(one.data, podsets.pod_sets(one.data)[number], fields)
    assert found.unsupported == ()
    return {".".join(map(str, patch.path)): patch.value for patch in found.patches}


ALL = PodFields({"l": "1"}, {"a": "2"}, {"o": "3"}, {"schedulingGroup": {"podGroupName": "g"}})


@pytest.mark.parametrize(
    ("text", "template", "owner"),
    [
        (POD, "", ""),
        (JOB, "spec.template.", ""),
        (DEPLOYMENT, "spec.template.", ""),
        (CRON_JOB, "spec.jobTemplate.spec.template.", "spec.jobTemplate."),
        (
            JOB_SET,
            "spec.replicatedJobs.0.template.spec.template.",
            "spec.replicatedJobs.0.template.",
        ),
        (RAY_JOB, "spec.rayClusterSpec.headGroupSpec.template.", ""),
    ],
    ids=["Pod", "Job", "Deployment", "CronJob", "JobSet", "RayJob"],
)
def test_each_field_has_its_place(text: str, template: str, owner: str) -> None:
    assert changes(text, ALL) == {
        f"{template}metadata.labels.l": "1",
        f"{template}metadata.annotations.a": "2",
        f"{owner}metadata.annotations.o": "3",
        f"{template}spec.schedulingGroup.podGroupName": "g",
    }


def test_what_is_there_is_not_written_again() -> None:
    text = POD.replace(
        "metadata: {name: a}", "metadata: {name: a, labels: {l: '1', x: y}, annotations: {a: z}}"
    )
    assert changes(text, PodFields({"l": "1"}, {"a": "2"})) == {"metadata.annotations.a": "2"}


@pytest.mark.parametrize(
    ("there", "wanted", "result"),
    [
        (None, [ZONE], [ZONE]),
        ([], [ZONE], [ZONE]),
        ([SOFT], [ZONE], [SOFT, ZONE]),
        ([{**ZONE, "maxSkew": 3, "minDomains": 2}, SOFT], [ZONE], [{**ZONE, "minDomains": 2}, SOFT]),
        (
            [ZONE],
            [{**ZONE, "labelSelector": TERM["labelSelector"]}],
            [{**ZONE, **TERM, "topologyKey": "zone"}],
        ),
    ],
    ids=["none", "empty", "another", "the same, otherwise", "with more"],
)
def test_spreading_constraints_merge(there: Any, wanted: Any, result: Any) -> None:
    assert _laid(there, wanted, "topologySpreadConstraints") == result


def test_affinity_between_pods_joins_that_of_nodes() -> None:
    there = {
        "nodeAffinity": {"x": 1},
        "podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{}]},
    }
    preferred = [{"weight": 5, "podAffinityTerm": TERM}]
    wanted = {
        "podAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [TERM],
            "preferredDuringSchedulingIgnoredDuringExecution": preferred,
        }
    }
    once = _laid(there, wanted, "affinity")
    assert once == {
        "nodeAffinity": {"x": 1},
        "podAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [{}, *preferred],
            "requiredDuringSchedulingIgnoredDuringExecution": [TERM],
        },
    }
    heavier = {
        "podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{**preferred[0], "weight": 9}]}
    }
    assert _laid(once, heavier, "affinity")["podAffinity"][
        "preferredDuringSchedulingIgnoredDuringExecution"
    ] == [{}, {**preferred[0], "weight": 9}]


def _laid(there: Any, wanted: Any, field: str) -> Any:
    data: Any = {} if there is None else {field: there}
    for one in merge_patches((field,), there, wanted):
        data = patched(data, one)
    return data[field]


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("topologySpreadConstraints: $X", "has topologySpreadConstraints '$X', which has the wrong type"),
        ("affinity: $X", "has affinity '$X', which has the wrong type"),
        (
            "topologySpreadConstraints:"
            " [{topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: $X}]",
            "has topologySpreadConstraints[0].labelSelector '$X', which has the wrong type",
        ),
    ],
    ids=["list", "map", "inside"],
)
def test_a_placeholder_is_not_written_over(field: str, message: str) -> None:
    spec = {"topologySpreadConstraints": [{**ZONE, "labelSelector": {}}], "affinity": {"podAffinity": {}}}
    one = manifest(POD.replace("spec: {", f"spec: {{{field}, "))
    with pytest.raises(PolicykitError) as caught:
        field_patches(
            one.data,
            podsets.pod_sets(one.data)[0],
            PodFields(spec={field.split(":")[0]: spec[field.split(":")[0]]}),
        )
    assert caught.value.message == message.replace("has ", "has spec.", 1)


def test_what_a_kind_has_no_place_for() -> None:
    text = """\
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata: {name: a}
spec: {driver: {cores: 1}, executor: {instances: 2}}
"""
    one = manifest(text)
    found = field_patches(one.data, podsets.pod_sets(one.data)[0], ALL)
    assert found.unsupported == ("schedulingGroup",)
    assert [".".join(map(str, patch.path)) for patch in found.patches] == [
        "spec.driver.labels.l",
        "spec.driver.annotations.a",
        "metadata.annotations.o",
    ]


JSON = st.recursive(
    st.sampled_from([None, 1, "a", ""]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["topologyKey", "whenUnsatisfiable", "labelSelector", "x"]), inner),
    ),
    max_leaves=8,
)
CONSTRAINTS = st.lists(
    st.fixed_dictionaries(
        {"topologyKey": st.sampled_from("ab"), "whenUnsatisfiable": st.sampled_from("cd")},
        optional={"maxSkew": st.integers(1, 3), "labelSelector": st.just({"matchLabels": {"a": "b"}})},
    ),
    max_size=3,
    unique_by=lambda one: (one["topologyKey"], one["whenUnsatisfiable"]),
)


@given(JSON, CONSTRAINTS)
def test_laid_twice_is_laid_once(there: Any, wanted: Any) -> None:
    try:
        once = _laid(there, wanted, "topologySpreadConstraints")
    except PolicykitError:
        return
    assert _laid(once, wanted, "topologySpreadConstraints") == once
    if isinstance(there, list):
        assert len(once) >= len(there)
