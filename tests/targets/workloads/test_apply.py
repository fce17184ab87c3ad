"""One object with its workload kind applied: which pod sets, and where each field is written."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from policykit.errors import PolicykitError
from policykit.kube import podsets
from policykit.manifests.document import Manifest, manifests
from policykit.manifests.parser import parse
from policykit.manifests.patch import patched
from policykit.manifests.writer import dump
from policykit.model.cluster import Cluster
from policykit.targets.workloads.apply import ObjectPatch, apply_kinds
from policykit.targets.workloads.patch_options import PatchOptions
from policykit.targets.workloads.stream import ManifestText, patch
from tests.clusters import policy
from tests.targets.workloads.policies import KOORDINATED, QUEUED

QUEUED_CLUSTER = policy(QUEUED)
KOORDINATED_CLUSTER = policy(KOORDINATED)
YUNIKORN = policy(
    {
        **QUEUED,
        "workloads": {"training": {**QUEUED["workloads"]["training"], "scheduler": "yunikorn"}},
        "targets": {},
    }
)
CARD = "containers: [{name: a, image: 'registry.example/a:1', resources: {limits: {nvidia.com/gpu: 1}}}]"
BARE = "containers: [{name: a, image: 'registry.example/a:1'}]"
TEMPLATE = f"template: {{spec: {{{CARD}}}}}"
HELPER = f"template: {{spec: {{{BARE}}}}}"
LABEL = "policykit.io/workload"


def manifest(text: str) -> Manifest:
    (document,) = parse(text)
    assert document.root is not None
    (found,) = manifests(document.root, 0)
    return found


def apply(text: str, cluster: Cluster = QUEUED_CLUSTER, **asked: Any) -> tuple[dict[str, Any], ObjectPatch]:
    """The changed object, and what was said about it."""
    found = apply_kinds(manifest(text), cluster, "default", PatchOptions(**asked))
    data: Any = yaml.safe_load(text)
    for one in found.patches:
        data = patched(data, one)
    return data, found


def written(text: str, cluster: Cluster = QUEUED_CLUSTER, **asked: Any) -> dict[str, Any]:
    """What is new but for placement: path to value."""
    found = apply_kinds(manifest(text), cluster, "default", PatchOptions(**asked))
    skipped = ("affinity", "tolerations", "nodeSelector")
    return {
        ".".join(map(str, one.path)): one.value
        for one in found.patches
        if not any(step in skipped for step in one.path)
    }


def patched_text(text: str, cluster: Cluster, **asked: Any) -> str:
    return patch(ManifestText("a.yaml", text.encode()), cluster, PatchOptions(**asked)).raw.decode()


def placed(data: dict[str, Any]) -> dict[str, bool]:
    """Pod sets by name, and whether they have tolerations."""
    return {one.name: bool(one.spec.get("tolerations")) for one in podsets.pod_sets(data)}


POD = f"{{apiVersion: v1, kind: Pod, metadata: {{name: a}}, spec: {{{CARD}}}}}"
JOB = f"{{apiVersion: batch/v1, kind: Job, metadata: {{name: a}}, spec: {{{TEMPLATE}}}}}"
VOLCANO = f"""\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {{name: a}}
spec: {{tasks: [{{name: m, {HELPER}}}, {{name: w, {TEMPLATE}}}]}}
"""
PYTORCH = f"""\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {{name: a}}
spec: {{pytorchReplicaSpecs: {{Master: {{{TEMPLATE}}}, Worker: {{{TEMPLATE}}}}}}}
"""
RAY = f"""\
apiVersion: ray.io/v1
kind: RayCluster
metadata: {{name: a, labels: {{policykit.io/workload: training}}}}
spec: {{headGroupSpec: {{{HELPER}}}, workerGroupSpecs: [{{groupName: w, {TEMPLATE}}}]}}
"""
SPARK = """\
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata: {name: a}
spec: {driver: {cores: 1}, executor: {gpu: {name: nvidia.com/gpu, quantity: 1}}}
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            POD,
            {
                f"metadata.labels.{LABEL}": "training",
                "spec.schedulerName": "volcano",
                "spec.priorityClassName": "high",
                "metadata.annotations.scheduling.volcano.sh/queue-name": "research",
            },
        ),
        (
            JOB,
            {
                f"metadata.labels.{LABEL}": "training",
                f"spec.template.metadata.labels.{LABEL}": "training",
                "spec.template.spec.schedulerName": "volcano",
                "spec.template.spec.priorityClassName": "high",
                "spec.template.metadata.annotations.scheduling.volcano.sh/queue-name": "research",
            },
        ),
        (
            VOLCANO,
            {
                f"metadata.labels.{LABEL}": "training",
                "spec.priorityClassName": "high",
                "spec.queue": "research",
            },
        ),
        (
            VOLCANO.replace(
                "metadata: {name: a}", f"metadata: {{name: a, labels: {{{LABEL}: training}}}}"
            ).replace(
                "spec: {tasks", "spec: {queue: other, priorityClassName: low, schedulerName: other, tasks"
            ),
            {"spec.schedulerName": "volcano", "spec.priorityClassName": "high", "spec.queue": "research"},
        ),
        (
            PYTORCH,
            {
                f"spec.pytorchReplicaSpecs.{role}.template.{field}": value
                for role in ("Master", "Worker")
                for field, value in (
                    (f"metadata.labels.{LABEL}", "training"),
                    ("spec.schedulerName", "volcano"),
                    ("spec.priorityClassName", "high"),
                )
            }
            | {
                "spec.runPolicy.schedulingPolicy.queue": "research",
                "spec.runPolicy.schedulingPolicy.priorityClass": "high",
            },
        ),
        (
            RAY,
            {
                f"spec.{group}.template.{field}": value
                for group in ("headGroupSpec", "workerGroupSpecs.0")
                for field, value in (
                    (f"metadata.labels.{LABEL}", "training"),
                    ("spec.schedulerName", "volcano"),
                    ("spec.priorityClassName", "high"),
                )
            }
            | {
                "metadata.labels.volcano.sh/queue-name": "research",
                "metadata.labels.ray.io/priority-class-name": "high",
            },
        ),
        (
            SPARK,
            {
                f"spec.{part}.{field}": value
                for part in ("driver", "executor")
                for field, value in ((f"labels.{LABEL}", "training"), ("priorityClassName", "high"))
            }
            | {
                "spec.batchScheduler": "volcano",
                "spec.batchSchedulerOptions.queue": "research",
                "spec.batchSchedulerOptions.priorityClassName": "high",
            },
        ),
    ],
    ids=["Pod", "Job", "Volcano Job", "Volcano Job that says otherwise", "PyTorchJob", "RayCluster", "Spark"],
)
def test_each_field_is_written_where_it_counts(text: str, expected: dict[str, Any]) -> None:
    assert written(text, workload="training") == expected


@pytest.mark.parametrize(
    ("cluster", "expected"),
    [
        (KOORDINATED_CLUSTER, {"metadata.labels.quota.scheduling.koordinator.sh/name": "research"}),
        (YUNIKORN, {"metadata.labels.yunikorn.apache.org/queue": "root.research"}),
    ],
    ids=["koordinator", "yunikorn"],
)
def test_the_queue_of_other_schedulers(cluster: Cluster, expected: dict[str, Any]) -> None:
    found = written(POD, cluster, workload="training")
    assert {path: value for path, value in found.items() if "research" in value} == expected


def test_the_priority_of_a_pod_group_is_for_volcano_alone() -> None:
    found = written(PYTORCH, KOORDINATED_CLUSTER, workload="training")
    assert {path for path, value in found.items() if value == "high"} == {
        f"spec.pytorchReplicaSpecs.{role}.template.spec.priorityClassName" for role in ("Master", "Worker")
    }


def test_a_queue_stands_where_it_stood() -> None:
    text = POD.replace("metadata: {name: a}", "metadata: {name: a, labels: {queue: other}}")
    found = written(text, YUNIKORN, workload="training")
    assert {path: value for path, value in found.items() if "research" in value} == {
        "metadata.labels.queue": "root.research"
    }


def test_a_queue_too_long_for_a_label_is_an_annotation() -> None:
    found = written(POD, YUNIKORN, workload="training", queue="q" * 60)
    assert found["metadata.annotations.yunikorn.apache.org/queue"] == f"root.{'q' * 60}"
    assert "metadata.labels.yunikorn.apache.org/queue" not in found


def test_the_queue_asked_for_wins() -> None:
    assert written(VOLCANO, workload="training", queue="other")["spec.queue"] == "other"


TENANTS = policy(
    {
        **QUEUED,
        "queues": {"research": {}, "product": {}, "team-b": {}},
        "tenants": {"b": {"namespaces": ["b"], "queue": "team-b"}, "c": {"namespaces": ["c"]}},
        "targets": {"volcano": {"version": "1.15.1"}},
    }
)


@pytest.mark.parametrize(
    ("namespace", "there", "asked", "expected"),
    [
        ("a", "", "", "research"),
        ("c", "", "", "research"),
        ("b", "", "", "team-b"),
        ("a", "team-b", "", "team-b"),
        ("b", "product", "", "product"),
        ("b", "unknown", "", "team-b"),
        ("b", "product", "research", "research"),
    ],
    ids=[
        *("of the kind", "a tenant without a queue", "of the tenant", "another tenant's, written"),
        *("written, of the policy", "not of the policy", "asked for"),
    ],
)
def test_the_queue_is_the_written_one_then_the_tenants_then_the_kinds(
    namespace: str, there: str, asked: str, expected: str
) -> None:
    text = VOLCANO.replace("name: a", f"name: a, namespace: {namespace}", 1)
    text = text.replace("spec: {tasks", f"spec: {{queue: {there}, tasks") if there else text
    made = patched_text(text, TENANTS, workload="training", queue=asked)
    assert next(yaml.safe_load_all(made))["spec"]["queue"] == expected
    assert patched_text(made, TENANTS) == made


@pytest.mark.parametrize("kind_queue", ["research", ""])
def test_patching_again_keeps_the_queue_of_the_pod_group(kind_queue: str) -> None:
    """Volcano before 1.14 needs the object for a gang of a Job."""
    training = {**QUEUED["workloads"]["training"], "queue": kind_queue, "gang": "all"}
    cluster = policy(
        {
            **QUEUED,
            "queues": {"research": {}, "product": {}},
            "workloads": {**QUEUED["workloads"], "training": {k: v for k, v in training.items() if v}},
            "targets": {"volcano": {"version": "1.11.0"}},
        }
    )
    several = JOB.replace("spec: {template", "spec: {parallelism: 2, completions: 2, template")
    block = dump(yaml.safe_load(several))
    once = patched_text(block, cluster, workload="training", queue="product")
    _, group = yaml.safe_load_all(once)
    assert (group["kind"], group["spec"]["queue"]) == ("PodGroup", "product")
    assert patched_text(once, cluster) == once


def test_spark_knows_few_schedulers_by_name() -> None:
    found = written(SPARK, KOORDINATED_CLUSTER, workload="training")
    assert {path for path, value in found.items() if value == "koord-scheduler"} == {
        "spec.driver.schedulerName",
        "spec.executor.schedulerName",
    }


def test_every_task_gets_its_own_placement() -> None:
    data, found = apply(VOLCANO)
    master, worker = data["spec"]["tasks"]
    # The helpers' pools have no taint and no usage: there is nothing to say of them.
    assert master["template"]["spec"] == {"containers": master["template"]["spec"]["containers"]}
    assert len(worker["template"]["spec"]["tolerations"]) == 3
    assert found.kinds == ("training",)
    assert found.notes == ()


def test_helpers_get_the_helpers_pools() -> None:
    data = {
        **QUEUED,
        "workloads": {"training": {**QUEUED["workloads"]["training"], "helpers": ["infer-l20"]}},
    }
    made, _ = apply(VOLCANO, policy(data))
    master = made["spec"]["tasks"][0]["template"]["spec"]
    assert [one["value"] for one in master["tolerations"]] == ["inference", "NVIDIA-L20"]


def test_siblings_share_a_kind_and_strangers_do_not() -> None:
    two = VOLCANO.replace(
        "{name: m, template: {", "{name: m, template: {metadata: {labels: {LABEL: inference}}, "
    )
    data, found = apply(two.replace("LABEL", LABEL), card="l20")
    assert found.kinds == ("inference", "training")
    assert LABEL not in data["metadata"].get("labels", {})
    labels = [task["template"]["metadata"]["labels"] for task in data["spec"]["tasks"]]
    assert labels == [{LABEL: "inference"}, {LABEL: "training"}]


def test_forced_overrides_what_is_written() -> None:
    text = POD.replace("metadata: {name: a}", f"metadata: {{name: a, annotations: {{{LABEL}: inference}}}}")
    data, found = apply(text, workload="training")
    assert found.kinds == ("training",)
    assert data["metadata"]["labels"] == {LABEL: "training"}
    affinity = data["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    (expression,) = affinity["nodeSelectorTerms"][0]["matchExpressions"][:1]
    assert expression["values"] == ["training", "hybrid"]


WEB = f"{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: web}}, spec: {{{HELPER}}}}}"


def test_forced_leaves_what_asks_for_no_card_unless_it_is_named() -> None:
    assert apply(WEB, workload="training")[1] == ObjectPatch()
    assert apply(WEB, workload="training", only=("deployment/web",))[1].kinds == ("training",)


def test_a_claim_needs_a_card_named() -> None:
    text = POD.replace(CARD, f"resourceClaims: [{{name: c}}], {BARE}")
    data, found = apply(text, workload="training")
    assert not placed(data)["pod"]
    assert found.notes == ("the card of its resource claims is unknown: name it with --card",)
    data, found = apply(text, workload="training", card="h20")
    assert placed(data)["pod"]
    assert found.notes == ()


def test_a_workload_kind_that_is_not_there_is_told() -> None:
    text = POD.replace("metadata: {name: a}", f"metadata: {{name: a, labels: {{{LABEL}: trainng}}}}")
    _, found = apply(text)
    note = f"{LABEL} is trainng, which is not a workload kind of the policy: training, inference"
    assert (found.patches, found.notes) == ((), (note,))
    assert apply(text, workload="training")[1].notes == ()


def test_who_names_another_kind_does_not_join_its_siblings() -> None:
    named = f"template: {{metadata: {{labels: {{{LABEL}: other}}}}, spec: {{{BARE}}}}}"
    data, found = apply(VOLCANO.replace(HELPER, named))
    labels = [task["template"].get("metadata") for task in data["spec"]["tasks"]]
    assert labels[0] == {"labels": {LABEL: "other"}}
    assert found.kinds == ("training",)
    assert [note.split(",")[0] for note in found.notes] == [f"{LABEL} is other"]


def test_no_template_is_made_up() -> None:
    text = f"""\
apiVersion: ray.io/v1
kind: RayJob
metadata: {{name: a, labels: {{{LABEL}: training}}}}
spec: {{rayClusterSpec: {{headGroupSpec: {{{TEMPLATE}}}}}}}
"""
    data, found = apply(text)
    # Without containers the API server refuses a template; the operator makes a whole one.
    assert "submitterPodTemplate" not in data["spec"]
    assert placed(data)["head"]
    assert found.notes == ("it has no spec.submitterPodTemplate: pods made without it are not patched",)
    data, found = apply(
        text.replace("rayClusterSpec", f"submitterPodTemplate: {{spec: {{{BARE}}}}}, rayClusterSpec")
    )
    assert data["spec"]["submitterPodTemplate"]["spec"]["schedulerName"] == "volcano"
    assert found.notes == ()


@pytest.mark.parametrize(
    "spec",
    [
        "",
        "spec:",
        "spec: {}",
        "spec: text",
        "spec: [1]",
        "spec: {nodeSelector: {a: b}}",
        "spec: {containers: []}",
        "spec: {containers: text}",
        "spec: {containers: [text]}",
        "spec: {initContainers: [{name: a, image: b}]}",
    ],
)
def test_no_spec_is_made_up_for_a_pod(spec: str) -> None:
    text = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: a, labels: {{{LABEL}: training}}}}\n{spec}\n"
    for workload in ("", "training"):
        _, found = apply(text, workload=workload)
        assert found.patches == ()
        assert found.notes in ((), ("it has no containers: a Pod without any is left as it is",))


def test_what_a_kind_has_no_place_for_is_told() -> None:
    text = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: a}
spec: {runtimeRef: {name: r}, trainer: {resourcesPerNode: {limits: {nvidia.com/gpu: 1}}}}
"""
    _, found = apply(text, workload="training")
    assert found.notes == (
        "its node affinity or tolerations come from another object (a runtime, a base): set them there",
        "its kind and scheduler have no field for the schedulerName of training",
        "its kind and scheduler have no field for the priorityClassName of training",
        "its kind and scheduler have no field for the queue research of training",
    )


def test_labels_of_a_wrong_shape_are_refused() -> None:
    with pytest.raises(PolicykitError, match=r"metadata\.labels"):
        apply(POD.replace("metadata: {name: a}", "metadata: {name: a, labels: []}"), workload="training")
