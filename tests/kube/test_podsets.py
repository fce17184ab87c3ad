"""One small object for each API group, and what makes each shape of template special."""

from __future__ import annotations

import pytest

from policykit.kube import podsets
from tests.kube.podsets.objects import read, written

_CASES = {
    "core": (
        "{apiVersion: v1, kind: Pod, spec: {containers: []}}",
        ["pod (document) 1"],
    ),
    "apps": (
        "{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 2, template: {spec: {}}}}",
        ["pod spec.template 2"],
    ),
    "batch bound by completions": (
        "{apiVersion: batch/v1, kind: Job, spec: {parallelism: 4, completions: 3, template: {}}}",
        ["pod spec.template 3"],
    ),
    "batch.volcano.sh": (
        "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, spec: {tasks:"
        " [{replicas: 2, template: {}}, {template: {}}]}}",
        ["task[0] spec.tasks[0].template 2", "task[1] spec.tasks[1].template 0"],
    ),
    "slinky.slurm.net": (
        "{apiVersion: slinky.slurm.net/v1beta1, kind: NodeSet, spec: {replicas: 2, template: {}}}",
        ["node spec.template 2"],
    ),
    "flow.volcano.sh": (
        "{apiVersion: flow.volcano.sh/v1alpha1, kind: JobTemplate, spec: {tasks: [{replicas:"
        " 1, template: {}}]}}",
        ["task[0] spec.tasks[0].template 1"],
    ),
    "kubeflow.org": (
        "{apiVersion: kubeflow.org/v1, kind: PyTorchJob, spec: {pytorchReplicaSpecs:"
        " {Master: {template: {}}, Worker: {replicas: 3, template: {}}}}}",
        [
            "replica[Master] spec.pytorchReplicaSpecs.Master.template 1",
            "replica[Worker] spec.pytorchReplicaSpecs.Worker.template 3",
        ],
    ),
    "trainer.kubeflow.org": (
        "{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainingRuntime, spec: {mlPolicy: {numNodes: 4},"
        " template: {spec: {replicatedJobs: [{template: {spec: {parallelism: 2, template: {}}}},"
        " {template: {metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}},"
        " spec: {template: {}}}}]}}}}",
        [
            "replicatedJob[0] spec.template.spec.replicatedJobs[0].template.spec.template 2",
            "replicatedJob[1] spec.template.spec.replicatedJobs[1].template.spec.template 4",
        ],
    ),
    "ray.io between its bounds, by hosts": (
        "{apiVersion: ray.io/v1, kind: RayCluster, spec: {headGroupSpec: {template: {}}, workerGroupSpecs:"
        " [{replicas: 1, minReplicas: 2, numOfHosts: 4, template: {}}, {replicas: 9,"
        " maxReplicas: 3, template: {}}]}}",
        [
            "head spec.headGroupSpec.template 1",
            "worker[0] spec.workerGroupSpecs[0].template 8",
            "worker[1] spec.workerGroupSpecs[1].template 3",
        ],
    ),
    "ray.io submitter only in K8sJobMode": (
        "{apiVersion: ray.io/v1, kind: RayJob, spec: {submissionMode: HTTPMode}}",
        [],
    ),
    "ray.io submitter without a template": (
        "{apiVersion: ray.io/v1, kind: RayJob, spec: {clusterSelector: {a: b}}}",
        ["submitter spec.submitterPodTemplate 1"],
    ),
    "leaderworkerset.x-k8s.io": (
        "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, spec: {replicas: 2,"
        " leaderWorkerTemplate: {size: 3, leaderTemplate: {}, workerTemplate: {}}}}",
        [
            "leader spec.leaderWorkerTemplate.leaderTemplate 2",
            "worker spec.leaderWorkerTemplate.workerTemplate 4",
        ],
    ),
    "leaderworkerset.x-k8s.io without leader": (
        "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, spec: {replicas: 2,"
        " leaderWorkerTemplate: {size: 3, workerTemplate: {}}}}",
        ["worker spec.leaderWorkerTemplate.workerTemplate 6"],
    ),
    "disaggregatedset.x-k8s.io": (
        "{apiVersion: disaggregatedset.x-k8s.io/v1, kind: DisaggregatedSet, spec: {slices: 2, roles:"
        " [{spec: {replicas: 3, leaderWorkerTemplate: {size: 2, workerTemplate: {}}}}]}}",
        ["worker[0] spec.roles[0].spec.leaderWorkerTemplate.workerTemplate 12"],
    ),
    "jobset.x-k8s.io": (
        "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, spec: {replicatedJobs:"
        " [{replicas: 2, template: {spec: {parallelism: 3, completions: 2, template: {}}}}]}}",
        ["replicatedJob[0] spec.replicatedJobs[0].template.spec.template 4"],
    ),
    "serving.kserve.io": (
        "{apiVersion: serving.kserve.io/v1beta1, kind: InferenceService, spec: {predictor: {model: {}},"
        " transformer: {minReplicas: 2}}}",
        ["predictor spec.predictor 1", "transformer spec.transformer 2"],
    ),
    "serving.kserve.io removed shape": (
        "{apiVersion: serving.kserve.io/v1alpha2, kind: InferenceService, spec:"
        " {default: {predictor: {tensorflow: {}}}}}",
        ["defaultPredictor spec.default.predictor 1"],
    ),
    "serving.knative.dev": (
        "{apiVersion: serving.knative.dev/v1, kind: Service, spec: {template: {}}}",
        ["revision spec.template None"],
    ),
    "sparkoperator.k8s.io": (
        "{apiVersion: sparkoperator.k8s.io/v1beta2, kind: SparkApplication, spec: {driver: {}, executor:"
        " {instances: 3}}}",
        ["driver spec.driver 1", "executor spec.executor 3"],
    ),
    "argoproj.io only templates that run": (
        "{apiVersion: argoproj.io/v1alpha1, kind: Workflow, spec: {templates: [{dag: {tasks:"
        " [{inline: {script: {}}}]}}, {container: {}}, {suspend: {}}]}}",
        ["template[1] spec.templates[1] 1", "inlineTask[0][0] spec.templates[0].dag.tasks[0].inline 1"],
    ),
    "keda.sh": (
        "{apiVersion: keda.sh/v1alpha1, kind: ScaledJob,"
        " spec: {jobTargetRef: {parallelism: 2, template: {}}}}",
        ["pod spec.jobTargetRef.template 2"],
    ),
    "apps.kruise.io": (
        "{apiVersion: apps.kruise.io/v1beta1, kind: BroadcastJob, spec: {template: {}}}",
        ["pod spec.template None"],
    ),
    "flink.apache.org without templates": (
        "{apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, spec: {job: {parallelism: 4},"
        " flinkConfiguration: {taskmanager.numberOfTaskSlots: '3'}}}",
        ["jobManager spec.jobManager.podTemplate 1", "taskManager spec.taskManager.podTemplate 2"],
    ),
    "nvidia.com multinode defaults to 2": (
        "{apiVersion: nvidia.com/v1beta1, kind: DynamoGraphDeployment, spec: {components:"
        " [{replicas: 2, multinode: {}}, {multinode: {nodeCount: 4}}, {}]}}",
        [
            "component[0] spec.components[0].podTemplate 4",
            "component[1] spec.components[1].podTemplate 4",
            "component[2] spec.components[2].podTemplate 1",
        ],
    ),
    "grove.io by scaling group": (
        "{apiVersion: grove.io/v1alpha1, kind: PodCliqueSet, spec: {replicas: 2, template: {cliques:"
        " [{name: a, spec: {replicas: 0, podSpec: {}}}, {name: b, spec: {replicas: 2, podSpec: {}}}],"
        " podCliqueScalingGroups: [{cliqueNames: [x]}, {cliqueNames: [b], replicas: 3}]}}}",
        [
            "clique[0] spec.template.cliques[0].spec.podSpec 2",
            "clique[1] spec.template.cliques[1].spec.podSpec 12",
        ],
    ),
    "orchestration.aibrix.ai defaults to 0": (
        "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: StormService, spec: {template: {spec:"
        " {roles: [{replicas: 2, template: {}}]}}}}",
        ["role[0] spec.template.spec.roles[0].template 0"],
    ),
    "workload.serving.volcano.sh": (
        "{apiVersion: workload.serving.volcano.sh/v1alpha1, kind: ModelServing, spec: {replicas: 2, template:"
        " {roles: [{replicas: 3, entryTemplate: {}, workerReplicas: 2, workerTemplate: {}}]}}}",
        [
            "entry[0] spec.template.roles[0].entryTemplate 6",
            "worker[0] spec.template.roles[0].workerTemplate 12",
        ],
    ),
    "workloads.x-k8s.io components replace the role": (
        "{apiVersion: workloads.x-k8s.io/v1alpha1, kind: RoleBasedGroup, spec: {roles:"
        " [{replicas: 2, components: [{size: 3, template: {}}]}, {replicas: 2, template: {}}]}}",
        [
            "role[1] spec.roles[1].template 2",
            "component[0][0] spec.roles[0].components[0].template 6",
        ],
    ),
    "production-stack.vllm.ai": (
        "{apiVersion: production-stack.vllm.ai/v1alpha1, kind: VLLMRuntime, spec: {deploymentConfig: {}}}",
        ["runtime spec.deploymentConfig 1"],
    ),
    "workload.codeflare.dev": (
        "{apiVersion: workload.codeflare.dev/v1beta2, kind: AppWrapper, spec: {components: [{template: 3},"
        " {template: {apiVersion: v1, kind: Pod}}, {template: {apiVersion: v1, kind: Secret}}]}}",
        ["component[1].pod spec.components[1].template 1"],
    ),
    "apps.nvidia.com the job that fills a cache": (
        "{apiVersion: apps.nvidia.com/v1alpha1, kind: NIMCache, spec: {source: {ngc: {}}}}",
        ["cache spec 1"],
    ),
    "apps.nvidia.com each instance over its stages": (
        "{apiVersion: apps.nvidia.com/v1alpha1, kind: NIMService, spec: {replicas: 2,"
        " resources: {}, multiNode: {parallelism: {pipeline: 3, tensor: 8}}}}",
        ["service spec 6"],
    ),
    "apps.nvidia.com what is enabled and says its resources": (
        "{apiVersion: apps.nvidia.com/v1alpha1, kind: NIMPipeline, spec: {services:"
        " [{enabled: true, spec: {resources: {}}}, {enabled: true, spec: {}}, {spec: {resources: {}}}]}}",
        ["service[0] spec.services[0].spec 1"],
    ),
    "elastic.iml.github.io": (
        "{apiVersion: elastic.iml.github.io/v1alpha1, kind: ElasticJob, spec: {replicaSpecs:"
        " {worker: {replicas: 4, template: {}}, dlrover-master: {template: {}}}}}",
        [
            "replica[worker] spec.replicaSpecs.worker.template 4",
            "replica[dlrover-master] spec.replicaSpecs.dlrover-master.template 0",
        ],
    ),
    "kubeflow.org a job for each trial": (
        "{apiVersion: kubeflow.org/v1beta1, kind: Experiment, spec: {trialTemplate: {trialSpec:"
        " {apiVersion: batch/v1, kind: Job, spec: {template: {}}}}}}",
        ["trial.pod spec.trialTemplate.trialSpec.spec.template 1"],
    ),
    "agents.x-k8s.io": (
        "{apiVersion: agents.x-k8s.io/v1beta1, kind: Sandbox, spec: {podTemplate: {}}}",
        ["pod spec.podTemplate 1"],
    ),
}


@pytest.mark.parametrize(("text", "expected"), _CASES.values(), ids=_CASES)
def test_pod_sets(text: str, expected: list[str]) -> None:
    assert [written(one) for one in podsets.pod_sets(read(text))] == expected


def test_every_api_group_has_a_case() -> None:
    objects = [read(text) for text, _ in _CASES.values()]
    found = [podsets.entry(data["apiVersion"], data["kind"]) for data in objects]
    assert {entry.group for entry in found if entry} == {entry.group for entry in podsets.entries()}


@pytest.mark.parametrize("value", ["{{ n }}", "$N", "50%", 1.5, True, -1, [], {}], ids=str)
def test_a_number_that_is_none_makes_the_count_unknown(value: object) -> None:
    deployment = read("{apiVersion: apps/v1, kind: Deployment, spec: {template: {}}}")
    deployment["spec"]["replicas"] = value
    assert podsets.pod_sets(deployment)[0].replicas is None


@pytest.mark.parametrize("bound", ["completions", "parallelism"])
def test_so_does_a_bound_that_is_none(bound: str) -> None:
    job = read("{apiVersion: batch/v1, kind: Job, spec: {parallelism: 2, completions: 2, template: {}}}")
    job["spec"][bound] = "$N"
    assert podsets.pod_sets(job)[0].replicas is None


@pytest.mark.parametrize("template", ["text", 3, [], {"spec": "text"}, {"spec": [], "metadata": 1}], ids=str)
def test_a_template_of_a_wrong_shape_is_empty(template: object) -> None:
    deployment = read("{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 1}}")
    deployment["spec"]["template"] = template
    (found,) = podsets.pod_sets(deployment)
    assert (found.spec, found.labels, found.annotations) == ({}, {}, {})
    assert found.place("tolerations") == ("spec", "template", "spec", "tolerations")
    assert found.place("labels", "a") == ("spec", "template", "metadata", "labels", "a")
