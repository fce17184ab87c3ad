"""What each scheduler reads of a manifest about gangs."""

from typing import Any

import pytest

from policykit.kube.gang_units import MembershipFact
from policykit.kube.podsets import pod_sets
from policykit.manifests.document import Manifest, manifests
from policykit.manifests.parser import parse
from policykit.manifests.path import lookup
from policykit.manifests.writer import dump
from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.gang import PodGroup
from policykit.targets import TARGETS, koordinator, target_name_of, volcano
from policykit.targets.yunikorn import metadata as yunikorn

LABEL = "pod-group.scheduling.sigs.k8s.io"
GANG = "gang.scheduling.koordinator.sh"
TASK_GROUPS = '[{"name": "worker", "minMember": 3, "minResource": {}}, {"name": "ps", "minmember": 1}]'


def manifest(data: dict[str, Any]) -> Manifest:
    (document,) = parse(dump(data))
    assert document.root is not None
    return next(manifests(document.root, 0))


def pod(labels: dict[str, str] | None = None, annotations: dict[str, str] | None = None) -> Manifest:
    metadata = {"name": "one", "labels": labels or {}, "annotations": annotations or {}}
    return manifest({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": []}})


def joined(groups: Any, one: Manifest) -> MembershipFact | None:
    (pod_set,) = pod_sets(one.data)
    found: MembershipFact | None = groups.read_membership(one, pod_set, "team-a")
    return found


def group(api_version: str, **spec: Any) -> Manifest:
    return manifest({"apiVersion": api_version, "kind": "PodGroup", "metadata": {"name": "g"}, "spec": spec})


@pytest.mark.parametrize(
    ("api_version", "target_name"),
    [
        ("scheduling.volcano.sh/v1beta1", "volcano"),
        ("scheduling.incubator.k8s.io/v1alpha1", "volcano"),
        ("scheduling.sigs.k8s.io/v1alpha1", "koordinator"),
        ("scheduling.x-k8s.io/v1alpha1", "coscheduling"),
        ("scheduling.k8s.io/v1beta1", None),
        ("scheduling.run.ai/v2alpha2", None),
    ],
)
def test_each_pod_group_has_one_reader_at_most(api_version: str, target_name: str | None) -> None:
    one = group(api_version, minMember=2)
    read = [found for t in TARGETS if t.read_group and (found := t.read_group(one, "team-a"))]
    assert read == ([PodGroup(target_name, "team-a", "g", 2)] if target_name else [])


@pytest.mark.parametrize("minimum", [None, "${N}", True, 2.5, [3]], ids=repr)
def test_a_minimum_that_is_no_number_is_unknown(minimum: object) -> None:
    found = volcano.read_group(group("scheduling.volcano.sh/v1beta1", minMember=minimum), "team-a")
    assert found is not None
    assert found.min_member is None


def test_volcano_reads_the_annotation_only() -> None:
    name = "scheduling.k8s.io/group-name"
    assert joined(volcano, pod(labels={name: "g"})) is None
    one = pod(annotations={name: "g"})
    found = joined(volcano, one)
    assert found is not None
    assert found.membership[:4] == ("volcano", "team-a", "g", 1)
    assert lookup(one.data, found.group) == "g"


@pytest.mark.parametrize(
    ("labels", "annotations", "expected"),
    [
        ({LABEL: "a", f"{LABEL}/name": "b"}, {f"{GANG}/name": "c"}, ("a", None, False)),
        ({LABEL: "", f"{LABEL}/name": "b"}, {}, ("b", None, False)),
        ({}, {f"{GANG}/name": "c"}, ("c", None, False)),
        ({}, {f"{GANG}/name": "c", f"{GANG}/min-available": "4"}, ("c", 4, True)),
        ({}, {f"{GANG}/name": "c", f"{GANG}/min-available": "four"}, ("c", None, True)),
        ({f"{LABEL}/min-available": "2"}, {f"{GANG}/name": "c"}, ("c", 2, True)),
        ({LABEL: "a"}, {f"{GANG}/name": "a", f"{GANG}/min-available": "4"}, ("a", None, False)),
        ({f"{LABEL}/min-available": "2"}, {}, None),
    ],
    ids=[
        "label-first", "empty-label", "annotation", "own-size", "own-size-unread", "old-size",
        "label-hides-annotations", "no-name",
    ],
)  # fmt: skip
def test_koordinator_takes_the_first_name_that_is_not_empty(
    labels: dict[str, str], annotations: dict[str, str], expected: tuple[str, int | None, bool] | None
) -> None:
    found = joined(koordinator, pod(labels, annotations))
    membership = found.membership if found else None
    assert (membership and (membership.group, membership.min_member, membership.by_pods)) == expected


@pytest.mark.parametrize(
    ("labels", "annotations", "expected"),
    [
        (
            {"applicationId": "app"},
            {"task-groups": TASK_GROUPS, "task-group-name": "worker"},
            ("app/worker", 3),
        ),
        ({"applicationId": "app"}, {"task-groups": TASK_GROUPS, "task-group-name": "ps"}, ("app/ps", 1)),
        ({"applicationId": "app"}, {"task-group-name": "worker"}, ("app/worker", None)),
        ({"applicationId": "app"}, {"task-groups": "[", "task-group-name": "worker"}, ("app/worker", None)),
        ({"applicationId": "app"}, {"task-groups": "[1]", "task-group-name": "w"}, ("app/w", None)),
        (
            {"yunikorn.apache.org/app-id": "new", "applicationId": "old"},
            {"task-group-name": "w"},
            ("new/w", None),
        ),
        ({}, {"task-groups": TASK_GROUPS, "task-group-name": "worker"}, None),
        ({"applicationId": "app"}, {"task-groups": TASK_GROUPS}, None),
    ],
    ids=["size", "any-case", "no-list", "no-json", "odd-list", "canonical-id", "no-application", "no-group"],
)
def test_yunikorn_groups_belong_to_an_application(
    labels: dict[str, str], annotations: dict[str, str], expected: tuple[str, int | None] | None
) -> None:
    full = {f"yunikorn.apache.org/{key}": value for key, value in annotations.items()}
    found = joined(yunikorn, pod(labels, full))
    assert (found and (found.membership.group, found.membership.min_member)) == expected


@pytest.mark.parametrize(
    ("changes", "pods"),
    [
        ({}, 4),
        ({"kind": "CronJob"}, None),
        ({"metadata": {"generateName": "train-"}}, None),
    ],
    ids=["fixed", "overlapping-runs", "made-often"],
)
def test_pods_are_counted_where_their_number_is_fixed(changes: dict[str, Any], pods: int | None) -> None:
    job: dict[str, Any] = {
        "parallelism": 4,
        "template": {"metadata": {"labels": {LABEL: "g"}}, "spec": {"containers": []}},
    }
    spec = {"jobTemplate": {"spec": job}} if changes.get("kind") == "CronJob" else job
    data = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train"}, **changes, "spec": spec}
    found = joined(koordinator, manifest(data))
    assert found is not None
    assert found.membership.pods == pods


@pytest.mark.parametrize(
    ("scheduler", "target_name"),
    [
        ("", "kubernetes"),
        ("default-scheduler", "kubernetes"),
        ("volcano", "volcano"),
        ("koord-scheduler", "koordinator"),
        ("yunikorn", "yunikorn"),
        ("kai-scheduler", "kai"),
        ("my-scheduler", None),
    ],
)
def test_who_serves_a_scheduler_name(scheduler: str, target_name: str | None) -> None:
    assert target_name_of(scheduler, None) == target_name


def test_the_policy_knows_better_who_serves_a_name() -> None:
    targets = {"koordinator": TargetSettings("koordinator", scheduler_name="default-scheduler")}
    cluster = Cluster("test", (), targets=targets)
    assert target_name_of("", cluster) == "koordinator"
    assert target_name_of("volcano", cluster) == "volcano"


def test_systems_own_their_keys_alone() -> None:
    owners: dict[tuple[str, str], set[str]] = {}
    for target in TARGETS:
        for key in target.keys:
            assert key.where in ("labels", "annotations")
            assert key.purpose in ("gang", "queue", "device")
            owners.setdefault((key.where, key.key), set()).add(target.name)
    assert {key: names for key, names in owners.items() if len(names) > 1} == {}
