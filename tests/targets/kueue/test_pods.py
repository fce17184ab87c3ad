"""What `patch` writes on jobs that Kueue admits."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from policykit.manifests.document import manifests
from policykit.manifests.parser import parse
from policykit.manifests.patch import patched
from policykit.model.pod_fields import AdmissionFields, PodContext, PodFields
from policykit.model.workload import WorkloadKind
from policykit.targets.kueue import pods as kueue_pods
from policykit.targets.kueue.names import (
    PREFERRED_TOPOLOGY,
    PRIORITY_CLASS,
    QUEUE_NAME,
    REQUIRED_TOPOLOGY,
)
from policykit.targets.workloads.apply import apply_kinds
from policykit.targets.workloads.patch_options import PatchOptions
from tests.targets.kueue.clusters import teams

KIND: dict[str, Any] = {
    "usages": ["training"],
    "scheduler": "default-scheduler",
    "queue": "research",
    "priorityClass": "low",
    "within": {"level": "rack", "mode": "hard"},
}
SECTIONS: dict[str, Any] = {"queues": {"research": {}}, "priorities": {"low": {"value": 1}}}
SUSPEND = {"targets": {"kueue": {"version": "0.19.2", "suspend": True}}}
JOB = PodContext("a", "Job")
LABELS = {QUEUE_NAME: "research", PRIORITY_CLASS: "low"}
TEMPLATE = (
    "{metadata: {labels: {policykit.io/workload: training}}, spec: {containers: [{name: a, image: b}]}}"
)


def fields(pods: PodContext = JOB, *, kind: dict[str, Any] | None = None, **sections: Any) -> PodFields:
    cluster = teams(**SECTIONS, workloads={"training": {**KIND, **(kind or {})}}, **sections)
    return kueue_pods.fields(cluster.workloads["training"], cluster, pods)


@pytest.mark.parametrize(
    ("kind", "labels", "annotations"),
    [
        pytest.param({}, LABELS, {REQUIRED_TOPOLOGY: "a.example.com/rack"}, id="required"),
        pytest.param(
            {"within": {"level": "zone"}},
            LABELS,
            {PREFERRED_TOPOLOGY: "topology.kubernetes.io/zone"},
            id="preferred",
        ),
        pytest.param(
            {"within": None, "priorityClass": "system-node-critical"},
            {QUEUE_NAME: "research"},
            {},
            id="a class that no WorkloadPriorityClass has",
        ),
    ],
)
def test_fields(kind: dict[str, Any], labels: dict[str, str], annotations: dict[str, str]) -> None:
    assert fields(kind=kind) == PodFields(annotations=annotations, admitted=AdmissionFields("kueue", labels))


def test_without_a_queue_kueue_leaves_it_alone() -> None:
    assert kueue_pods.fields(WorkloadKind("training"), teams(), PodContext("a", "Job")) == PodFields()


def test_no_topology_before_it_works_in_cohorts() -> None:
    assert fields(targets={"kueue": {"version": "0.10"}}).annotations == {}


@pytest.mark.parametrize(
    ("owner", "expected"),
    [
        ("Job", {("spec", "suspend"): True}),
        ("CronJob", {("spec", "suspend"): True}),
        ("PyTorchJob", {("spec", "runPolicy", "suspend"): True}),
        ("Deployment", {}),
    ],
)
def test_suspended(owner: str, expected: dict[Any, bool]) -> None:
    admitted = fields(PodContext("a", owner), **SUSPEND).admitted
    assert admitted
    assert admitted.spec == expected


@pytest.mark.parametrize(
    ("pods", "expected"),
    [
        (
            PodContext("a", "Pod"),
            "a single Pod joins a gang only by the label kueue.x-k8s.io/pod-group-name and the annotation "
            "kueue.x-k8s.io/pod-group-total-count",
        ),
        (
            PodContext("a", "Deployment"),
            "Kueue admits each pod of a Deployment by itself: no gang is declared",
        ),
        (
            PodContext(),
            "training: Kueue admits a job as a whole, when there is quota for all its pods. Whether they "
            "start together depends on free nodes: enable waitForPodsReady in Kueue's Configuration",
        ),
    ],
    ids=["pod", "deployment", "component"],
)
def test_gangs(pods: PodContext, expected: str) -> None:
    assert fields(pods, kind={"gang": {"size": 4}}).notices == (expected,)


def written(text: str, **sections: Any) -> Any:
    """An object after `patch`."""
    cluster = teams(**SECTIONS, workloads={"training": KIND}, **sections)
    (document,) = parse(text)
    assert document.root is not None
    (manifest,) = manifests(document.root, 0)
    data: Any = manifest.data
    for one in apply_kinds(manifest, cluster, "default", PatchOptions()).patches:
        data = patched(data, one)
    return data


@pytest.mark.parametrize(
    ("text", "job"),
    [
        (f"{{apiVersion: batch/v1, kind: Job, metadata: {{name: a}}, spec: {{template: {TEMPLATE}}}}}", ()),
        (
            "{apiVersion: batch/v1, kind: CronJob, metadata: {name: a}, spec: {jobTemplate: {spec: "
            f"{{template: {TEMPLATE}}}}}}}}}",
            ("spec", "jobTemplate"),
        ),
    ],
    ids=["Job", "CronJob"],
)
def test_patched_jobs(text: str, job: tuple[str, ...]) -> None:
    """The labels stand on the object that Kueue admits: of a CronJob those are the Jobs it makes."""
    data = written(text, **SUSPEND)
    for step in job:
        data = data[step]
    selected = {} if job else {"policykit.io/workload": "training"}
    assert data["metadata"]["labels"] == {**LABELS, **selected}
    assert data["spec"]["suspend"] is True
    assert data["spec"]["template"]["metadata"]["annotations"] == {REQUIRED_TOPOLOGY: "a.example.com/rack"}
    assert QUEUE_NAME not in data["spec"]["template"]["metadata"]["labels"]


def test_a_patched_pod() -> None:
    data = written(f"{{apiVersion: v1, kind: Pod, {TEMPLATE[1:]}")
    assert data["metadata"]["labels"] == {"policykit.io/workload": "training", **LABELS}


def test_patching_twice_changes_nothing() -> None:
    text = f"{{apiVersion: batch/v1, kind: Job, metadata: {{name: a}}, spec: {{template: {TEMPLATE}}}}}"
    once = written(text, **SUSPEND)
    assert written(yaml.safe_dump(once), **SUSPEND) == once


def test_other_schedulers_keep_their_own_queue() -> None:
    sections = {**SECTIONS, "targets": {"kueue": {}, "volcano": {}}}
    cluster = teams(**sections, workloads={"training": {**KIND, "scheduler": "volcano", "within": None}})
    text = f"{{apiVersion: batch/v1, kind: Job, metadata: {{name: a}}, spec: {{template: {TEMPLATE}}}}}"
    (document,) = parse(text)
    assert document.root is not None
    (manifest,) = manifests(document.root, 0)
    paths = [one.path for one in apply_kinds(manifest, cluster, "default", PatchOptions()).patches]
    assert not [path for path in paths if QUEUE_NAME in path]
