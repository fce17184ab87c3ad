"""Counts by named rule: what each kind computes for itself."""

from __future__ import annotations

import pytest

from policykit.kube import podsets
from tests.kube.podsets.objects import read

_SPARK = "{apiVersion: sparkoperator.k8s.io/v1beta2, kind: SparkApplication, spec: {driver: {}, %s}}"
_FLINK = "{apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, spec: {%s}}"
_KSERVE = "{apiVersion: serving.kserve.io/v1beta1, kind: InferenceService, spec: {predictor: {%s}}}"
_CANARY = (
    "{apiVersion: serving.kserve.io/v1beta1, kind: InferenceService,"
    " spec: {predictor: {%s}, canary: [{%s predictor: {%s}}]}}"
)
_RUNTIME = "{apiVersion: serving.kserve.io/v1alpha1, kind: ServingRuntime, %s}"
_LLM = (
    "{apiVersion: serving.kserve.io/v1alpha2, kind: LLMInferenceService, spec: {worker:"
    " {}, parallelism: {%s}}}"
)
_MPI = "{apiVersion: kubeflow.org/v1alpha1, kind: MPIJob, spec: {template: {}, %s}}"
_GPUS = "containers: [{resources: {limits: {nvidia.com/gpu: %s}}}]"


@pytest.mark.parametrize(
    ("text", "name", "replicas"),
    [
        pytest.param(
            "{apiVersion: apps/v1, kind: DaemonSet, spec: {template: {}}}", "pod", None, id="per-node"
        ),
        pytest.param(
            "{apiVersion: apps.kruise.io/v1beta1, kind: BroadcastJob, spec: {parallelism: 3, template: {}}}",
            "pod",
            None,
            id="per-node: parallelism only limits",
        ),
        pytest.param(
            "{apiVersion: serving.knative.dev/v1, kind: Service, spec: {template: {}}}",
            "revision",
            None,
            id="autoscaled",
        ),
        pytest.param(
            "{apiVersion: serving.knative.dev/v1, kind: Configuration, spec: {template: {}}}",
            "revision",
            None,
            id="autoscaled: configuration",
        ),
        pytest.param(
            "{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob, spec: {runtimeRef: {name: a}}}",
            "trainer",
            None,
            id="runtime-nodes: the runtime is another object",
        ),
        pytest.param(
            "{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob, spec: {trainer: {numNodes: 4}}}",
            "trainer",
            4,
            id="runtime-nodes: written",
        ),
        pytest.param(_SPARK % "executor: {}", "executor", 1, id="spark: nothing said"),
        pytest.param(
            _SPARK % "executor: {}, sparkConf: {spark.executor.instances: '5'}",
            "executor",
            5,
            id="spark: sparkConf",
        ),
        pytest.param(
            _SPARK
            % (
                "executor: {instances: 2}, dynamicAllocation: {enabled: true, initialExecutors: 4,"
                " minExecutors: 3}"
            ),
            "executor",
            4,
            id="spark: largest start of dynamic allocation",
        ),
        pytest.param(
            _SPARK % "executor: {}, dynamicAllocation: {enabled: true}",
            "executor",
            0,
            id="spark: dynamic from none",
        ),
        pytest.param(
            _SPARK % "executor: {instances: 2}, dynamicAllocation: {enabled: false, minExecutors: 9}",
            "executor",
            2,
            id="spark: dynamic allocation off",
        ),
        pytest.param(
            _SPARK % "executor: {instances: $N}, dynamicAllocation: {enabled: true, minExecutors: 3}",
            "executor",
            None,
            id="spark: placeholder",
        ),
        pytest.param(_FLINK % "mode: native", "taskManager", 0, id="flink: native session"),
        pytest.param(_FLINK % "mode: standalone", "taskManager", 1, id="flink: standalone session"),
        pytest.param(_FLINK % "job: {}", "taskManager", 1, id="flink: job with nothing said"),
        pytest.param(
            _FLINK
            % "job: {}, flinkConfiguration: {parallelism.default: '7', taskmanager.numberOfTaskSlots: 2}",
            "taskManager",
            4,
            id="flink: configured parallelism, rounded up",
        ),
        pytest.param(
            _FLINK % "job: {parallelism: 4}, taskManager: {replicas: 3}",
            "taskManager",
            3,
            id="flink: written",
        ),
        pytest.param(
            _FLINK % "job: {parallelism: 4}, flinkConfiguration: {taskmanager.numberOfTaskSlots: x}",
            "taskManager",
            None,
            id="flink: placeholder",
        ),
        pytest.param(
            _CANARY % ("minReplicas: 5", "trafficPercent: 25,", ""), "canary[0]", 2, id="canary: share"
        ),
        pytest.param(
            _CANARY % ("", "trafficPercent: 10,", ""), "canary[0]", 1, id="canary: of 1, rounded up"
        ),
        pytest.param(
            _CANARY % ("", "trafficPercent: 10,", "minReplicas: 3"), "canary[0]", 3, id="canary: its own"
        ),
        pytest.param(_CANARY % ("", "", ""), "canary[0]", None, id="canary: no percent"),
        pytest.param(_KSERVE % "workerSpec: {}", "worker", None, id="workers: sizes of the runtime"),
        pytest.param(
            _KSERVE % "workerSpec: {pipelineParallelSize: 2, tensorParallelSize: 4}",
            "worker",
            7,
            id="workers: one GPU each",
        ),
        pytest.param(
            _KSERVE % f"workerSpec: {{pipelineParallelSize: 2, tensorParallelSize: 8, {_GPUS % 8}}}",
            "worker",
            1,
            id="workers: by GPUs of a worker",
        ),
        pytest.param(
            _KSERVE
            % f"{_GPUS % 8}, workerSpec: {{pipelineParallelSize: 1, tensorParallelSize: 8, {_GPUS % 4}}}",
            "worker",
            0,
            id="workers: the head suffices",
        ),
        pytest.param(
            _KSERVE % f"{_GPUS % 4}, workerSpec: {{pipelineParallelSize: 2, tensorParallelSize: 4}}",
            "worker",
            4,
            id="workers: GPUs of the head alone",
        ),
        pytest.param(
            _KSERVE % f"workerSpec: {{pipelineParallelSize: 2, tensorParallelSize: 4, {_GPUS % 'x'}}}",
            "worker",
            None,
            id="workers: placeholder GPUs",
        ),
        pytest.param(
            _RUNTIME % "spec: {supportedModelFormats: [], workerSpec: {pipelineParallelSize: 3}}",
            "worker",
            2,
            id="workers: a runtime's missing size is 1",
        ),
        pytest.param(
            _RUNTIME
            % "metadata: {annotations: {multinode/executor-backend: mp}}, spec: {supportedModelFormats: [],"
            " workerSpec: {pipelineParallelSize: 3, tensorParallelSize: 8}}",
            "worker",
            2,
            id="workers: mp counts the pipeline",
        ),
        pytest.param(_LLM % "data: 32, dataLocal: 8", "worker", 3, id="group: data by its local share"),
        pytest.param(_LLM % "pipeline: 4, tensor: 8", "worker", 3, id="group: pipeline"),
        pytest.param(_LLM % "tensor: 8", "worker", 0, id="group: of 1"),
        pytest.param(_LLM % "data: 2, dataLocal: 8", "worker", 0, id="group: at least 1"),
        pytest.param(_LLM % "data: x", "worker", None, id="group: placeholder"),
        pytest.param(_MPI % "gpus: 16, gpusPerNode: 8", "pod", 2, id="mpi-legacy: gpus"),
        pytest.param(
            _MPI % "processingUnits: 4, processingUnitsPerNode: 8", "pod", 1, id="mpi-legacy: below a node"
        ),
        pytest.param(_MPI % "gpus: 16", "pod", None, id="mpi-legacy: node size set by the operator"),
        pytest.param(_MPI % "replicas: 3, gpus: 16, gpusPerNode: 8", "pod", 3, id="mpi-legacy: written"),
    ],
)
def test_replicas(text: str, name: str, replicas: int | None) -> None:
    found = {one.name: one for one in podsets.pod_sets(read(text))}
    assert found[name].replicas == replicas
    assert found[name].per_node == (read(text)["kind"] in ("DaemonSet", "BroadcastJob"))
