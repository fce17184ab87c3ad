"""Bases, overlays, patches and partial shapes: what the pod is, and where each field stands."""

from __future__ import annotations

from typing import Any

import pytest

from policykit.kube import podsets
from policykit.manifests.path import Path
from tests.kube.podsets.objects import only, read

A, B, C = ({"key": key, "operator": "Exists"} for key in "abc")

_WORKFLOW = """
apiVersion: argoproj.io/v1alpha1
kind: Workflow
spec:
  schedulerName: volcano
  nodeSelector: {zone: w}
  tolerations: [{key: a, operator: Exists}]
  podMetadata: {labels: {from: workflow, w: w}}
  podPriorityClassName: low
  %s
  templates:
    - container: {image: x, resources: {limits: {nvidia.com/gpu: 2}}}
      metadata: {labels: {from: template}}
      %s
"""


def _workflow(spec: str = "", template: str = "") -> podsets.PodSet:
    return only(_WORKFLOW % (spec, template))


def test_argo_takes_what_the_template_does_not_say_from_the_workflow() -> None:
    found = _workflow()
    assert found.spec["tolerations"] == [A]
    assert found.labels == {"from": "template", "w": "w"}
    assert found.place("tolerations", 0) == ("spec", "tolerations", 0)
    assert found.place("affinity") == ("spec", "templates", 0, "affinity")
    assert found.place("priorityClassName") == ("spec", "podPriorityClassName")
    assert (found.scheduler_name, found.scheduler_path) == ("volcano", ("spec", "schedulerName"))


def test_argo_merges_nothing_into_what_the_template_says() -> None:
    found = _workflow(template="tolerations: [{key: b, operator: Exists}]\n      schedulerName: own")
    assert found.spec["tolerations"] == [B]
    assert found.place("tolerations") == ("spec", "templates", 0, "tolerations")
    assert (found.scheduler_name, found.scheduler_path) == ("own", ("spec", "templates", 0, "schedulerName"))


def test_argo_takes_the_affinity_of_the_workflow_only_where_the_template_has_none() -> None:
    workflow = "affinity: {nodeAffinity: {}}"
    assert _workflow(workflow).spec["affinity"] == {"nodeAffinity": {}}
    assert _workflow(workflow, "affinity: {}").spec["affinity"] == {}
    assert _workflow(workflow, "affinity: null").spec["affinity"] == {"nodeAffinity": {}}


def test_argo_defaults_merge_first_and_tolerations_by_key() -> None:
    found = _workflow(
        "templateDefaults: {tolerations: [{key: b, effect: NoSchedule}, {key: c, operator: Exists}]}",
        "tolerations: [{key: b, operator: Exists}]",
    )
    assert found.spec["tolerations"] == [{**B, "effect": "NoSchedule"}, C]
    assert found.place("tolerations", 0) == ("spec", "templates", 0, "tolerations", 0)


def test_argo_pod_spec_patch_is_laid_over_last() -> None:
    found = _workflow(template="""podSpecPatch: '{"tolerations": [{"key": "c", "operator": "Exists"}]}'""")
    assert found.spec["tolerations"] == [C]
    assert found.place("tolerations") == ("spec", "templates", 0, "podSpecPatch")
    assert found.spec["nodeSelector"] == {"zone": "w"}


@pytest.mark.parametrize("patch", ["'{{x}}'", "'a: ['", "''", "3", "'text'"])
def test_argo_pod_spec_patch_that_is_none_changes_nothing(patch: str) -> None:
    assert _workflow(template=f"podSpecPatch: {patch}").spec == _workflow().spec


def test_argo_devices_stand_in_the_container() -> None:
    (device,) = _workflow().devices
    path = ("spec", "templates", 0, "container", "resources", "limits", "nvidia.com/gpu")
    assert device == podsets.DeviceRequest(path, "nvidia.com/gpu", 2)


_SPARK = """
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
spec:
  batchScheduler: volcano
  driver:
    tolerations: [{key: a, operator: Exists}]
    template:
      metadata: {labels: {x: y}}
      spec:
        schedulerName: other
        tolerations: [{key: b, operator: Exists}]
        nodeSelector: {n: t}
        runtimeClassName: nvidia
  executor: {instances: 2, gpu: {name: nvidia.com/gpu, quantity: 4}}
"""


def test_spark_appends_its_own_fields_to_the_template() -> None:
    driver, _ = podsets.pod_sets(read(_SPARK))
    assert driver.spec["tolerations"] == [A, B]
    assert driver.labels == {"x": "y"}
    assert driver.place("tolerations", 0) == ("spec", "driver", "tolerations", 0)
    assert driver.place("nodeSelector") == ("spec", "driver", "template", "spec", "nodeSelector")
    assert driver.place("runtimeClassName") == ("spec", "driver", "template", "spec", "runtimeClassName")
    assert driver.place("affinity") == ("spec", "driver", "affinity")
    assert (driver.scheduler_name, driver.scheduler_path) == ("volcano", ("spec", "batchScheduler"))


def test_spark_gpu_is_a_device() -> None:
    _, executor = podsets.pod_sets(read(_SPARK))
    assert executor.devices[0] == (
        podsets.DeviceRequest(("spec", "executor", "gpu", "quantity"), "nvidia.com/gpu", 4)
    )
    assert executor.place("topologySpreadConstraints") == executor.path == ("spec", "executor")
    assert executor.default_place is None


def test_flink_merges_lists_by_index() -> None:
    (manager, task) = podsets.pod_sets(
        read("""
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
spec:
  podTemplate: {spec: {tolerations: [{key: a, operator: Exists}, {key: b}], nodeSelector: {x: y}}}
  jobManager: {podTemplate: {spec: {tolerations: [{key: c}]}}}
""")
    )
    assert manager.spec["tolerations"] == [C, {"key": "b"}]
    assert manager.place("nodeSelector") == ("spec", "podTemplate", "spec", "nodeSelector")
    assert manager.place("affinity") == ("spec", "jobManager", "podTemplate", "spec", "affinity")
    assert task.path == ("spec", "taskManager", "podTemplate")
    assert task.place("tolerations") == ("spec", "podTemplate", "spec", "tolerations")


_TRAIN = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
spec:
  trainer: {numNodes: 2, resourcesPerNode: {limits: {nvidia.com/gpu: 8}, requests: {cpu: 4}}}
  runtimePatches:
    - trainingRuntimeSpec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template:
        {spec: {tolerations: [{key: a, operator: Exists}]}}}}}]}}}
"""


def test_train_job_patches_lie_over_the_trainer() -> None:
    found = only(_TRAIN)
    below = ("spec", "runtimePatches", 0, "trainingRuntimeSpec", "template", "spec", "replicatedJobs", 0)
    patch = (*below, "template", "spec", "template", "spec")
    assert found.spec == {"tolerations": [A]}
    assert found.place("tolerations") == (*patch, "tolerations")
    assert found.place("affinity") == (*patch, "affinity")
    assert found.scheduler_path is None
    assert found.places["schedulerName"] is None
    assert [(d.resource, d.amount, d.path[-2:]) for d in found.devices] == [
        ("nvidia.com/gpu", 8, ("limits", "nvidia.com/gpu"))
    ]


_GROUP = """
apiVersion: workloads.x-k8s.io/v1alpha2
kind: RoleBasedGroup
spec:
  roles:
    - name: prefill
      replicas: 2
      leaderWorkerPattern:
        size: 4
        templateRef:
          name: base
          patch: {spec: {priorityClassName: high}}
        %s
  roleTemplates:
    - name: other
      template: {}
    - name: base
      template: {spec: {tolerations: [{key: a, operator: Exists}], containers: [{name: c, image: i}]}}
"""
_BASE: Path = ("spec", "roleTemplates", 1, "template", "spec")
_ROLE: Path = ("spec", "roles", 0, "leaderWorkerPattern")


def _roles(patches: str = "") -> tuple[podsets.PodSet, ...]:
    return tuple(one for one in podsets.pod_sets(read(_GROUP % patches)) if not one.stored)


def test_a_named_template_stands_where_it_is_named() -> None:
    (role,) = _roles()
    assert (role.name, role.path, role.replicas) == ("leaderWorker[0]", (*_ROLE, "template"), 8)
    assert role.spec["tolerations"] == [A]
    assert role.place("tolerations", 0, "key") == (*_BASE, "tolerations", 0, "key")
    assert role.place("priorityClassName") == (*_ROLE, "templateRef", "patch", "spec", "priorityClassName")
    assert role.place("affinity") == (*_BASE, "affinity")


def test_a_name_that_no_template_has_is_an_empty_template() -> None:
    data = read(_GROUP % "")
    data["spec"]["roleTemplates"] = [{"name": {"a": 1}}, "text"]
    (role,) = podsets.pod_sets(data)
    assert role.spec == {"priorityClassName": "high"}


def test_patches_for_a_share_of_the_pods_make_pod_sets_of_their_own() -> None:
    leader, worker = _roles(
        "leaderTemplatePatch: {spec: {tolerations: [{key: b, operator: Exists}]}}\n"
        "        workerTemplatePatch: {spec: {containers: [{name: c, image: j}]}}"
    )
    assert (leader.name, leader.replicas) == ("leaderWorker[0].leaderPatch", 2)
    assert leader.spec["tolerations"] == [B]
    assert leader.place("tolerations") == (*_ROLE, "leaderTemplatePatch", "spec", "tolerations")
    assert (worker.name, worker.replicas) == ("leaderWorker[0].workerPatch", 6)
    assert worker.spec["tolerations"] == [A]
    assert worker.spec["containers"] == [{"name": "c", "image": "j"}]


def test_the_pods_without_a_patch_remain() -> None:
    leader, rest = _roles("leaderTemplatePatch: {spec: {tolerations: [{key: b, operator: Exists}]}}")
    assert (leader.replicas, rest.name, rest.replicas) == (2, "leaderWorker[0]", 6)


def test_a_patch_of_metadata_alone_makes_none() -> None:
    (role,) = _roles("leaderTemplatePatch: {metadata: {labels: {role: leader}}}")
    assert (role.name, role.replicas) == ("leaderWorker[0]", 8)


def test_united_deployment_subsets_narrow_the_template() -> None:
    terms = "{nodeSelectorTerms: [{matchExpressions: [{key: own}]}]}"
    first, second = podsets.pod_sets(
        read(f"""
apiVersion: apps.kruise.io/v1beta1
kind: UnitedDeployment
spec:
  replicas: 5
  template: {{cloneSetTemplate: {{spec: {{template: {{spec: {{tolerations: [{{key: a, operator: Exists}}],
    affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {terms}}}}}}}}}}}}}}}
  topology:
    subsets:
      - replicas: 2
        nodeSelectorTerm: {{matchExpressions: [{{key: sub}}]}}
        tolerations: [{{key: b, operator: Exists}}]
      - {{replicas: 60%, patch: {{spec: {{priorityClassName: low}}}}}}
""")
    )
    assert (first.name, first.replicas) == ("cloneSetTemplate.subset[0]", 2)
    assert first.spec["tolerations"] == [B, A]
    required = first.spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert required == {"nodeSelectorTerms": [{"matchExpressions": [{"key": "sub"}, {"key": "own"}]}]}
    assert (second.name, second.replicas) == ("cloneSetTemplate.subset[1]", None)
    assert second.spec["priorityClassName"] == "low"
    path = ("spec", "topology", "subsets", 1, "patch", "spec", "priorityClassName")
    assert second.place("priorityClassName") == path


def test_a_partial_shape_is_read_by_its_own_names() -> None:
    found = only("""
apiVersion: production-stack.vllm.ai/v1alpha1
kind: VLLMRuntime
spec:
  deploymentConfig:
    toleration: [{key: a, operator: Exists}]
    tolerations: [{key: pruned}]
    runtimeClass: nvidia
    podAnnotations: {x: y}
    nodeSelectorTerms: [{matchExpressions: []}]
    resources: {gpu: '2', gpuType: amd.com/gpu}
""")
    below = ("spec", "deploymentConfig")
    required: dict[str, Any] = {"nodeSelectorTerms": [{"matchExpressions": []}]}
    assert found.spec == {
        "tolerations": [A],
        "runtimeClassName": "nvidia",
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}},
    }
    assert found.place("tolerations", 0) == (*below, "toleration", 0)
    assert found.place("runtimeClassName") == (*below, "runtimeClass")
    assert found.place("affinity") == below
    assert (found.annotations, found.labels) == ({"x": "y"}, {})
    assert found.places["labels"] is None
    assert found.devices == (podsets.DeviceRequest((*below, "resources", "gpu"), "amd.com/gpu", 2),)


def test_metadata_of_the_object_becomes_that_of_the_pods() -> None:
    found = only("""
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {labels: {a: object, b: object}, annotations: {c: d}}
spec:
  predictor:
    labels: {a: predictor}
    nodeSelector: {x: y}
    model: {resources: {limits: {nvidia.com/gpu: N}}}
""")
    assert found.labels == {"a": "predictor", "b": "object"}
    assert found.places["labels"] == ("spec", "predictor", "labels")
    assert found.places["annotations"] == ("metadata", "annotations")
    assert found.place("nodeSelector") == ("spec", "predictor", "nodeSelector")
    assert [(d.resource, d.amount) for d in found.devices] == [("nvidia.com/gpu", None)]


def test_dynamo_devices() -> None:
    found = only("""
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
spec:
  services:
    decode:
      resources: {limits: {gpu: '4', custom: {rdma/ib: 1}}, requests: {gpu: '4', gpuType: gpu.intel.com/i915}}
      extraPodSpec: {mainContainer: {resources: {limits: {nvidia.com/gpu: 1}}}}
""")
    assert [(d.resource, d.amount, d.path[3:]) for d in found.devices] == [
        ("gpu.intel.com/i915", 4, ("resources", "requests", "gpu")),
        ("nvidia.com/gpu", 4, ("resources", "limits", "gpu")),
        ("rdma/ib", 1, ("resources", "limits", "custom", "rdma/ib")),
        (
            "nvidia.com/gpu",
            1,
            ("extraPodSpec", "mainContainer", "resources", "limits", "nvidia.com/gpu"),
        ),
    ]


@pytest.mark.parametrize(
    ("spec", "name", "path"),
    [
        pytest.param({}, "volcano", ("spec", "schedulerName"), id="default"),
        pytest.param({"schedulerName": "own"}, "own", ("spec", "schedulerName"), id="job"),
        pytest.param(
            {"schedulerName": "own", "task": "task"},
            "task",
            ("spec", "tasks", 0, "template", "spec", "schedulerName"),
            id="task wins",
        ),
    ],
)
def test_scheduler_of_a_volcano_job(spec: dict[str, Any], name: str, path: Path) -> None:
    task = {"spec": {"schedulerName": spec.pop("task")} if "task" in spec else {}}
    data = {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "spec": {**spec, "tasks": [{"template": task}]},
    }
    (found,) = podsets.pod_sets(data)
    assert (found.scheduler_name, found.scheduler_path) == (name, path)


@pytest.mark.parametrize(("written", "name"), [("", "volcano"), ("schedulerName: own", "own")])
def test_model_serving_overwrites_the_templates(written: str, name: str) -> None:
    found = only(
        "{apiVersion: workload.serving.volcano.sh/v1alpha1, kind: ModelServing, spec: {template: {roles:"
        " [{entryTemplate: {spec: {schedulerName: template}}}]}, " + written + "}}"
    )
    assert (found.scheduler_name, found.scheduler_path) == (name, ("spec", "schedulerName"))


def test_embedded_objects_lead_every_path_in() -> None:
    inner = ("spec", "components", 0, "template")
    found = only("""
apiVersion: workload.codeflare.dev/v1beta2
kind: AppWrapper
spec: {components: [{template: {apiVersion: apps/v1, kind: DaemonSet, spec: {template: {}}}}]}
""")
    template = (*inner, "spec", "template")
    assert (found.name, found.path, found.owner) == ("component[0].pod", template, inner)
    assert found.default_place == (*template, "spec")
    assert found.places == {f: (*template, "metadata", f) for f in ("labels", "annotations")}
    assert found.scheduler_path == (*template, "spec", "schedulerName")
    assert found.per_node
    assert found.strategic
