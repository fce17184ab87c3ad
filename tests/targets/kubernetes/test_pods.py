"""What pods carry: constraints that count their own job, closeness, and their gang."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.model.gang import GangRule
from policykit.model.pod_fields import JobPods, PodContext, PodFields
from policykit.model.topology import Level, TopologyAffinity, TopologySpread
from policykit.model.workload import WorkloadKind
from policykit.targets.kubernetes.options import KubernetesOptions, SchedulerOptions
from policykit.targets.kubernetes.pods import (
    Gang,
    fields,
    group_api_version,
    pod_fields,
    read_pod_group,
    write_pod_group,
)
from policykit.targets.kubernetes.versions import parse
from tests.targets.kubernetes.clusters import DENSE, cluster

CHAT = WorkloadKind("chat")
LEVELS = (Level("rack", "example.com/rack"),)
LABELS = {"policykit.io/workload": "chat"}
WIDE = DENSE._replace(name="wide", strategy="spread", scheduler="")


def constraint(key: str, when: str, keys: list[str], skew: int = 1) -> dict[str, Any]:
    return {
        "maxSkew": skew,
        "topologyKey": key,
        "whenUnsatisfiable": when,
        "nodeTaintsPolicy": "Honor",
        "labelSelector": {"matchLabels": LABELS},
        **({"matchLabelKeys": keys} if keys else {}),
    }


ANY = ["batch.kubernetes.io/job-name", "controller-revision-hash", "pod-template-hash"]


@pytest.mark.parametrize(
    ("kind", "pods", "expected"),
    [
        (CHAT, PodContext(), None),
        (
            CHAT._replace(across=TopologySpread("node")),
            PodContext(),
            constraint("kubernetes.io/hostname", "ScheduleAnyway", ANY),
        ),
        (
            CHAT._replace(across=TopologySpread("zone", True, 2)),
            PodContext("chat", "Deployment"),
            constraint("topology.kubernetes.io/zone", "DoNotSchedule", ["pod-template-hash"], 2),
        ),
        (
            CHAT._replace(across=TopologySpread("rack")),
            PodContext("chat", "StatefulSet"),
            constraint("example.com/rack", "ScheduleAnyway", ["controller-revision-hash"]),
        ),
        (
            CHAT._replace(across=TopologySpread("rack")),
            PodContext("chat", "Something"),
            constraint("example.com/rack", "ScheduleAnyway", []),
        ),
        (CHAT._replace(across=TopologySpread("rack")), PodContext("chat", "DaemonSet"), None),
        (
            CHAT._replace(placement="spread", placement_name="wide"),
            PodContext("chat", "Deployment"),
            constraint("kubernetes.io/hostname", "ScheduleAnyway", ["pod-template-hash"]),
        ),
        (CHAT._replace(placement="spread"), PodContext("chat", "Deployment"), None),
        (
            CHAT._replace(placement="spread", placement_name="wide", scheduler="volcano"),
            PodContext("chat", "Deployment"),
            None,
        ),
    ],
    ids=[
        "nothing",
        "a component",
        "hard, by zone",
        "a level of the policy",
        "an unknown owner",
        "a DaemonSet",
        "a spread placement",
        "spread without a placement",
        "another scheduler",
    ],
)
def test_apart(kind: WorkloadKind, pods: PodContext, expected: dict[str, Any] | None) -> None:
    found = fields(kind, cluster(WIDE, kinds=(kind,), levels=LEVELS), pods)
    if expected is None:
        assert found == PodFields()
    else:
        assert found == PodFields(labels=LABELS, spec={"topologySpreadConstraints": [expected]})


def test_the_default_profile_spreads_by_itself() -> None:
    kind = CHAT._replace(placement="spread", placement_name="wide")
    options = KubernetesOptions(SchedulerOptions("cluster", "wide"))
    assert fields(kind, cluster(WIDE, kinds=(kind,), options=options), PodContext()) == PodFields()


def test_a_level_without_a_label_is_told() -> None:
    kind = CHAT._replace(across=TopologySpread("switch"), within=TopologyAffinity("nvlink"))
    found = fields(kind, cluster(kinds=(kind,)), PodContext("j", "Job"))
    assert found == PodFields(
        notices=(
            "chat: no node label is known for level switch: set it under scheme.topology",
            "chat: no node label is known for level nvlink: set it under scheme.topology",
        )
    )


TERM = {
    "topologyKey": "example.com/rack",
    "labelSelector": {"matchLabels": LABELS},
    "matchLabelKeys": ["batch.kubernetes.io/job-name", "volcano.sh/job-name"],
}


@pytest.mark.parametrize(
    ("hard", "affinity"),
    [
        (True, {"requiredDuringSchedulingIgnoredDuringExecution": [TERM]}),
        (
            False,
            {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": TERM}]},
        ),
    ],
)
def test_together(hard: bool, affinity: dict[str, Any]) -> None:
    kind = CHAT._replace(within=TopologyAffinity("rack", hard))
    found = fields(kind, cluster(kinds=(kind,), levels=LEVELS), PodContext("j", "Job"))
    assert (found.labels, found.spec) == (LABELS, {"affinity": {"podAffinity": affinity}})
    assert len(found.notices) == hard


@pytest.mark.parametrize(("version", "owner"), [("1.30", "Job"), ("1.36", "Something")])
def test_jobs_that_cannot_be_told_apart(version: str, owner: str) -> None:
    kind = CHAT._replace(within=TopologyAffinity("rack"))
    found = fields(kind, cluster(kinds=(kind,), levels=LEVELS, version=version), PodContext("j", owner))
    assert found == PodFields(
        notices=(
            "chat: the pods of one job cannot be distinguished from those of another, so kube-scheduler "
            "cannot keep each "
            "job within one rack. Nearest: podAffinity on example.com/rack with a label of the "
            "job, or a scheduler "
            "with topology constraints (Volcano, Koordinator)",
        )
    )


NATIVE = KubernetesOptions(native_gang=True)
GANG = CHAT._replace(gang="all")
JOB = (JobPods("main", 2), JobPods("worker", 6))


@pytest.mark.parametrize(
    ("kind", "version", "pods", "spec"),
    [
        (GANG, "1.36", PodContext("j", "Job", "ml", "main", JOB), {"schedulingGroup": {"podGroupName": "j"}}),
        (
            GANG,
            "1.35",
            PodContext("j", "Job", "ml", "main", JOB),
            {"workloadRef": {"name": "j", "podGroup": "all"}},
        ),
        (GANG, "1.34", PodContext("j", "Job", "ml", "main", JOB), {}),
        (GANG, "", PodContext("j", "Job", "ml", "main", JOB), {}),
        (CHAT, "1.36", PodContext("j", "Job", "ml", "main", JOB), {}),
    ],
    ids=["1.36", "1.35", "too old", "unstated", "no gang"],
)
def test_gangs(kind: WorkloadKind, version: str, pods: PodContext, spec: dict[str, Any]) -> None:
    found = fields(kind, cluster(kinds=(kind,), version=version, options=NATIVE), pods)
    assert found.spec == spec
    assert bool(found.objects) is bool(spec)


@pytest.mark.parametrize(
    ("rule", "job", "size"),
    [
        (None, JOB, 8),
        (GangRule(4), JOB, 4),
        (GangRule(4), (JobPods("w", None),), 4),
        (None, (JobPods("w", None),), None),
    ],
)
def test_size_of_a_gang(rule: GangRule | None, job: tuple[JobPods, ...], size: int | None) -> None:
    kind = GANG._replace(gang_rule=rule)
    found = fields(kind, cluster(kinds=(kind,), options=NATIVE), PodContext("j", "Job", "ml", "main", job))
    sizes = [each["spec"]["schedulingPolicy"]["gang"]["minCount"] for each in found.objects]
    assert sizes == ([size] if size else [])
    assert found.notices == (
        ()
        if size
        else (
            "chat: a PodGroup needs the name of a job and its number of pods: policykit patch "
            "writes it where a "
            "manifest states both",
        )
    )


def test_a_hard_level_is_the_gangs() -> None:
    kind = GANG._replace(within=TopologyAffinity("rack", True))
    found = fields(
        kind, cluster(kinds=(kind,), levels=LEVELS, options=NATIVE), PodContext("j", "Job", "ml", "", JOB)
    )
    assert found.spec == {"schedulingGroup": {"podGroupName": "j"}}
    assert found.objects[0]["spec"]["schedulingConstraints"] == {"topology": [{"key": "example.com/rack"}]}


NAMES = st.text(st.characters(codec="ascii", categories=["Ll", "Nd"]), min_size=1, max_size=8)


@given(
    st.builds(Gang, NAMES, st.just("") | NAMES, st.integers(1, 99), st.just("") | NAMES),
    st.sampled_from(["1.35", "1.36", "1.37"]),
)
def test_what_is_written_is_read(gang: Gang, version: str) -> None:
    expected = gang._replace(level="") if version == "1.35" else gang
    assert read_pod_group(write_pod_group(gang, parse(version))) == expected


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
    written = write_pod_group(gang, parse(version))
    assert (written["apiVersion"], written["kind"]) == kind
    assert written["metadata"] == {"name": "job", "namespace": "ml"}
    assert written["spec"] == spec
    assert pod_fields(gang, parse(version)) == fields


def test_no_api_before_1_35() -> None:
    assert group_api_version(parse("1.34")) == ""


@pytest.mark.parametrize(
    "data",
    [{}, {"spec": {"schedulingPolicy": {"basic": {}}}}, {"spec": {"podGroups": [{}, {}]}}, {"spec": 7}],
)
def test_what_is_no_gang(data: dict[str, Any]) -> None:
    assert read_pod_group(data) is None
