"""What starts together: size, place, pods and members of each kind's gang."""

from __future__ import annotations

import pytest

from policykit.kube import podsets
from policykit.kube.podsets.gangs import Gang, Minimum, size_text
from policykit.manifests.path import Path, dotted
from tests.kube.podsets.objects import read

_VOLCANO = "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, spec: {%s tasks: [%s]}}"
_RAY = (
    "{apiVersion: ray.io/v1, kind: RayCluster, spec: {%s headGroupSpec: {template: {}}, workerGroupSpecs:"
    " [{replicas: 3, minReplicas: 2, numOfHosts: 2, template: {}}]}}"
)
_LWS = (
    "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, spec: {replicas: 5, %s"
    " leaderWorkerTemplate: {size: 4, leaderTemplate: {}, workerTemplate: {}}}}"
)
_GROVE = (
    "{apiVersion: grove.io/v1alpha1, kind: PodCliqueSet, spec: {replicas: 3, template: {cliques:"
    " [{name: a, spec: {replicas: 2, podSpec: {}}}, {name: b, spec: {replicas: 4, %s podSpec: {}}}],"
    " podCliqueScalingGroups: [{cliqueNames: [b], replicas: 2%s}]}}}"
)
_KTHENA = (
    "{apiVersion: workload.serving.volcano.sh/v1alpha1, kind: ModelServing, spec:"
    " {replicas: 2, template: {%s roles:"
    " [{name: p, replicas: 3, entryTemplate: {}, workerReplicas: 1, workerTemplate: {}},"
    " {name: d, replicas: 2, entryTemplate: {}}]}}}"
)
_RBG1 = "{apiVersion: workloads.x-k8s.io/v1alpha1, kind: RoleBasedGroup, spec: {roles: [%s]}}"
_RBG2 = (
    "{apiVersion: workloads.x-k8s.io/v1alpha2, kind: RoleBasedGroup, spec: {roles: [{replicas: 2,"
    " leaderWorkerPattern: {size: 3, template: {}}}, {replicas: 2, customComponentsPattern:"
    " {components: [{size: 2, template: {}}, {template: {}}]}}]}}"
)


@pytest.mark.parametrize(
    ("text", "size", "written", "path", "pods"),
    [
        pytest.param(
            _VOLCANO % ("minAvailable: 3,", "{replicas: 2, template: {}}"), 3, True, "spec.minAvailable", 2
        ),
        pytest.param(
            _VOLCANO % ("minAvailable: $N,", "{replicas: 2, template: {}}"),
            None,
            True,
            "spec.minAvailable",
            2,
        ),
        pytest.param(
            _VOLCANO % ("", "{replicas: 2, template: {}}, {replicas: 3, minAvailable: 1, template: {}}"),
            3,
            False,
            "spec.minAvailable",
            5,
            id="volcano-minima: of the tasks",
        ),
        pytest.param(
            _VOLCANO
            % (
                "minAvailable: 0,",
                "{replicas: 8, partitionPolicy: {minPartitions: 2, partitionSize: 3}, template: {}}",
            ),
            6,
            False,
            "spec.minAvailable",
            8,
            id="volcano-minima: partitions, 0 is not written",
        ),
        pytest.param(
            _VOLCANO % ("", "{replicas: 2, minAvailable: x, template: {}}"),
            None,
            False,
            "spec.minAvailable",
            2,
            id="volcano-minima: placeholder",
        ),
        pytest.param(
            "{apiVersion: kubeflow.org/v1, kind: PyTorchJob, spec: {pytorchReplicaSpecs:"
            " {Master: {template: {}}, Worker: {replicas: 3, template: {}}}}}",
            4,
            False,
            "spec.runPolicy.schedulingPolicy.minAvailable",
            4,
            id="all-pods",
        ),
        pytest.param(
            "{apiVersion: kubeflow.org/v1, kind: PyTorchJob, spec: {pytorchReplicaSpecs:"
            " {Worker: {replicas: $N, template: {}}}}}",
            None,
            False,
            "spec.runPolicy.schedulingPolicy.minAvailable",
            None,
            id="all-pods: placeholder",
        ),
        pytest.param(
            "{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainingRuntime, spec:"
            " {podGroupPolicy: {}, template:"
            " {spec: {replicatedJobs: [{replicas: 3, template: {spec: {parallelism: 2, template: {}}}}]}}}}",
            2,
            False,
            "(document)",
            2,
            id="all-pods: replicas of a job do not count",
        ),
        pytest.param(_RAY % "", 7, False, "(document)", 7, id="ray-desired: every worker"),
        pytest.param(
            _RAY % "enableInTreeAutoscaling: true,", 5, False, "(document)", 7, id="ray-desired: autoscaled"
        ),
        pytest.param(_LWS % "", 4, False, "(document)", 4, id="lws-group: one replica's pods"),
        pytest.param(
            _LWS % "startupPolicy: LeaderReady,", 1, False, "(document)", 4, id="lws-group: leader first"
        ),
        pytest.param(
            "{apiVersion: serving.kserve.io/v1alpha2, kind: LLMInferenceService, spec: {replicas:"
            " 2, worker: {},"
            " parallelism: {pipeline: 4}}}",
            4,
            False,
            "(document)",
            4,
            id="kserve-group-size",
        ),
        pytest.param(_GROVE % ("", ""), 6, False, "(document)", 10, id="grove-minima: replicas"),
        pytest.param(
            _GROVE % ("minAvailable: 3,", ", minAvailable: 2"), 8, False, "(document)", 10, id="grove-minima"
        ),
        pytest.param(_KTHENA % "", 8, False, "(document)", 8, id="kthena-roles: all"),
        pytest.param(
            _KTHENA % "gangPolicy: {minRoleReplicas: {p: 1, d: 9}},",
            4,
            False,
            "(document)",
            8,
            id="kthena-roles",
        ),
        pytest.param(_RBG2, 8, False, "(document)", 12, id="rbg-roles: components count one per replica"),
        pytest.param(
            _RBG1 % "{replicas: 2, leaderWorkerSet: {size: 3}, template: {}}",
            2,
            False,
            "(document)",
            6,
            id="rbg-roles: v1alpha1 without workload",
        ),
        pytest.param(
            _RBG1
            % "{replicas: 2, workload: {kind: LeaderWorkerSet}, leaderWorkerSet: {size: 3}, template: {}}",
            6,
            False,
            "(document)",
            6,
            id="rbg-roles: v1alpha1",
        ),
        pytest.param(
            "{apiVersion: apps/v1, kind: Deployment, metadata: {annotations:"
            " {scheduling.volcano.sh/group-min-member: '3'}}, spec: {replicas: 2, template: {}}}",
            3,
            True,
            "metadata.annotations['scheduling.volcano.sh/group-min-member']",
            2,
            id="annotation of the owner",
        ),
        pytest.param(
            "{apiVersion: batch/v1, kind: CronJob, spec: {jobTemplate: {spec: {parallelism: 2,"
            " template: {}}}}}",
            1,
            False,
            "spec.jobTemplate.metadata.annotations['scheduling.volcano.sh/group-min-member']",
            2,
            id="annotation that is missing",
        ),
        pytest.param(
            "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: StormService, spec: {replicas:"
            " 3, template: {spec:"
            " {schedulingStrategy: {godelSchedulingStrategy: {minMember: 2}}, roles: [{replicas:"
            " 2, template: {}}]}}}}",
            2,
            True,
            "spec.template.spec.schedulingStrategy.godelSchedulingStrategy.minMember",
            2,
            id="another scheduler's place",
        ),
        pytest.param(
            "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: RoleSet, spec: {roles:"
            " [{replicas: 2, template: {}}]}}",
            None,
            False,
            "spec.schedulingStrategy.volcanoSchedulingStrategy.minMember",
            2,
            id="written by hand only",
        ),
    ],
)
def test_size(text: str, size: int | None, written: bool, path: str, pods: int | None) -> None:
    found = podsets.gang(read(text))
    assert found is not None
    assert (found.min_member, found.written, dotted(found.path), found.pods) == (size, written, path, pods)


@pytest.mark.parametrize(
    "text",
    [
        "{apiVersion: v1, kind: Pod}",
        "{apiVersion: apps/v1, kind: DaemonSet, spec: {template: {}}}",
        "{apiVersion: ray.io/v1, kind: RayJob, spec: {clusterSelector: {a: b}}}",
        "{apiVersion: serving.kserve.io/v1alpha2, kind: LLMInferenceService, spec: {template: {}}}",
        "{apiVersion: nvidia.com/v1alpha1, kind: DynamoGraphDeployment, spec: {services: {a: {}}}}",
        "{apiVersion: workloads.x-k8s.io/v1alpha1, kind: RoleBasedGroup, spec:"
        " {roleTemplates: [{template: {}}]}}",
    ],
)
def test_no_gang(text: str) -> None:
    assert podsets.gangs(read(text)) == ()
    assert podsets.gang(read(text)) is None


def test_each_child_job_is_a_gang_of_its_own() -> None:
    first, second = podsets.gangs(
        read("""
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
spec:
  replicatedJobs:
    - replicas: 2
      template:
        metadata: {annotations: {scheduling.volcano.sh/group-min-member: "4"}}
        spec: {parallelism: 4, template: {}}
    - template: {spec: {parallelism: 3, template: {}}}
""")
    )
    below = ("spec", "replicatedJobs", 0, "template", "metadata", "annotations")
    assert first == Gang(
        unit="child Job",
        min_member=4,
        written=True,
        path=(*below, "scheduling.volcano.sh/group-min-member"),
        pods=4,
        members=("replicatedJob[0]",),
    )
    assert (second.min_member, second.written, second.pods, second.path[2]) == (1, False, 3, 1)


def test_minima_of_tasks_are_listed_with_their_places() -> None:
    tasks = "{minAvailable: 1, template: {}}, {template: {}}, {minAvailable: x, template: {}}"
    found = podsets.gang(read(_VOLCANO % ("", tasks)))
    assert found is not None
    assert found.minima == (
        Minimum("task", ("spec", "tasks", 0, "minAvailable"), 1),
        Minimum("task", ("spec", "tasks", 2, "minAvailable"), None),
    )


def test_minima_of_roles_stand_in_a_map() -> None:
    found = podsets.gang(read(_KTHENA % "gangPolicy: {minRoleReplicas: {p: 1}},"))
    assert found is not None
    assert found.minima == (Minimum("role", ("spec", "template", "gangPolicy", "minRoleReplicas", "p"), 1),)


@pytest.mark.parametrize(
    ("metadata", "enabled"),
    [
        ("{}", False),
        ("{annotations: {rbg.workloads.x-k8s.io/group-gang-scheduling: 'false'}}", False),
        ("{annotations: {rbg.workloads.x-k8s.io/group-gang-scheduling: 'true'}}", True),
    ],
)
def test_what_a_gang_needs_to_exist(metadata: str, enabled: bool) -> None:
    found = podsets.gang(read(_RBG2.replace("spec:", f"metadata: {metadata}, spec:", 1)))
    assert found is not None
    assert found.enabled is enabled
    assert found.enabled_by == ("metadata", "annotations", "rbg.workloads.x-k8s.io/group-gang-scheduling")


def test_gangs_of_embedded_objects_lead_their_paths_in() -> None:
    inner = _VOLCANO % ("minAvailable: 2,", "{replicas: 2, minAvailable: 1, template: {}}")
    wrapper = (
        "{apiVersion: workload.codeflare.dev/v1beta2, kind: AppWrapper, spec: {components: [{template: %s}]}}"
    )
    found = podsets.gang(read(wrapper % inner))
    below = ("spec", "components", 0, "template", "spec")
    assert found == Gang(
        unit="job",
        min_member=2,
        written=True,
        path=(*below, "minAvailable"),
        pods=2,
        members=("component[0].task[0]",),
        minima=(Minimum("task", (*below, "tasks", 0, "minAvailable"), 1),),
    )


@pytest.mark.parametrize(
    ("path", "written"),
    [
        (("spec", "minAvailable"), "4"),
        (("metadata", "annotations", "scheduling.volcano.sh/group-min-member"), '"4"'),
        (("spec", "template", "metadata", "labels", "example.com/size"), '"4"'),
    ],
)
def test_a_size_is_text_in_metadata(path: Path, written: str) -> None:
    assert size_text(path, 4) == written
