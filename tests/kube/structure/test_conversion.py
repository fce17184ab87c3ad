"""Objects of removed API versions: what the served version wants changed, or that nobody can say."""

from typing import Any

import pytest
import yaml

from policykit.kube.structure.conversion import converted
from policykit.manifests.patch import patched

TEMPLATE = "{metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: app:1}]}}"


def after(text: str, successor: str, *, partial: bool = False) -> Any:
    """The converted object, None where it is left to people."""
    data: Any = yaml.safe_load(text)
    patches = converted(data, successor, partial=partial)
    if patches is None:
        return None
    for patch in patches:
        data = patched(data, patch)
    return data


SAME = [
    ("rbac.authorization.k8s.io/v1beta1", "Role", "rbac.authorization.k8s.io/v1", "rules: []"),
    ("storage.k8s.io/v1beta1", "StorageClass", "storage.k8s.io/v1", "provisioner: x"),
    ("networking.k8s.io/v1beta1", "IngressClass", "networking.k8s.io/v1", "spec: {controller: x}"),
    ("extensions/v1beta1", "NetworkPolicy", "networking.k8s.io/v1", "spec: {podSelector: {}}"),
    ("scheduling.volcano.sh/v1alpha2", "PodGroup", "scheduling.volcano.sh/v1beta1", "spec: {minMember: 3}"),
    ("policy/v1beta1", "PodDisruptionBudget", "policy/v1", "spec: {minAvailable: 1}"),
    (
        "serving.kubeflow.org/v1beta1",
        "InferenceService",
        "serving.kserve.io/v1beta1",
        "spec: {predictor: {}}",
    ),
    (
        "kubescheduler.config.k8s.io/v1beta3",
        "KubeSchedulerConfiguration",
        "kubescheduler.config.k8s.io/v1",
        "profiles: [{schedulerName: a, pluginConfig: [{name: X, args: {kind: XArgs}}]}]",
    ),
]


@pytest.mark.parametrize(("old", "kind", "new", "rest"), SAME, ids=[case[1] for case in SAME])
def test_the_same_shape(old: str, kind: str, new: str, rest: str) -> None:
    head = f"kind: {kind}\nmetadata: {{name: x}}\n{rest}\n"
    assert after(f"apiVersion: {old}\n{head}", new) == yaml.safe_load(f"apiVersion: {new}\n{head}")


LEFT = {
    "a kind whose new version nobody described here": (
        "{apiVersion: extensions/v1beta1, kind: Ingress, metadata: {name: x}, spec: {}}",
        "networking.k8s.io/v1",
    ),
    "a field that is gone": (
        "{apiVersion: apps/v1beta1, kind: Deployment, metadata: {name: x}, "
        f"spec: {{rollbackTo: {{}}, template: {TEMPLATE}}}}}",
        "apps/v1",
    ),
    "labels that are not text": (
        "{apiVersion: apps/v1beta1, kind: Deployment, metadata: {name: x}, "
        f"spec: {{template: {TEMPLATE.replace('web', '1.10')}}}}}",
        "apps/v1",
    ),
    "a workload without labels to select by": (
        "{apiVersion: extensions/v1beta1, kind: DaemonSet, metadata: {name: x}, "
        "spec: {template: {spec: {containers: [{name: main, image: app:1}]}}}}",
        "apps/v1",
    ),
    "a selector that now means all pods": (
        "{apiVersion: policy/v1beta1, kind: PodDisruptionBudget, metadata: {name: x}, "
        "spec: {minAvailable: 1, selector: {}}}",
        "policy/v1",
    ),
    "annotations of the old group": (
        "{apiVersion: serving.kubeflow.org/v1beta1, kind: InferenceService, "
        "metadata: {name: x, annotations: {serving.kubeflow.org/tag: a}}}",
        "serving.kserve.io/v1beta1",
    ),
    "arguments of a plugin of another project": (
        "{apiVersion: kubescheduler.config.k8s.io/v1beta2, kind: KubeSchedulerConfiguration, profiles: "
        "[{pluginConfig: [{args: {apiVersion: kubescheduler.config.k8s.io/v1beta2, kind: XArgs}}]}]}",
        "kubescheduler.config.k8s.io/v1",
    ),
    "an address that became a flag": (
        "{apiVersion: kubescheduler.config.k8s.io/v1beta2, kind: KubeSchedulerConfiguration, "
        "healthzBindAddress: 0.0.0.0}",
        "kubescheduler.config.k8s.io/v1",
    ),
    "a job of a shape long gone": (
        "{apiVersion: kubeflow.org/v1alpha2, kind: TFJob, metadata: {name: x}, spec: {replicaSpecs: []}}",
        "kubeflow.org/v1",
    ),
    "a policy said twice": (
        "{apiVersion: kubeflow.org/v1beta2, kind: TFJob, metadata: {name: x}, "
        "spec: {tfReplicaSpecs: {}, backoffLimit: 1, runPolicy: {backoffLimit: 2}}}",
        "kubeflow.org/v1",
    ),
    "a spec that is not a mapping": (
        "{apiVersion: kubeflow.org/v1beta2, kind: TFJob, metadata: {name: x}, spec: []}",
        "kubeflow.org/v1",
    ),
}


@pytest.mark.parametrize(("text", "successor"), LEFT.values(), ids=LEFT)
def test_left_to_people(text: str, successor: str) -> None:
    assert after(text, successor) is None


@pytest.mark.parametrize("version", ["extensions/v1beta1", "apps/v1beta1", "apps/v1beta2"])
def test_the_selector_that_was_implied(version: str) -> None:
    text = (
        f"{{apiVersion: {version}, kind: Deployment, metadata: {{name: x}}, spec: {{template: {TEMPLATE}}}}}"
    )
    made = after(text, "apps/v1")
    assert made["apiVersion"] == "apps/v1"
    assert made["spec"]["selector"] == {"matchLabels": {"app": "web"}}


def test_a_partial_object_lacks_nothing() -> None:
    text = "{apiVersion: apps/v1beta1, kind: Deployment, metadata: {name: x}, spec: {replicas: 2}}"
    assert after(text, "apps/v1") is None
    assert after(text, "apps/v1", partial=True)["apiVersion"] == "apps/v1"


def test_targets_of_an_autoscaler() -> None:
    text = (
        "{apiVersion: autoscaling/v2beta1, kind: HorizontalPodAutoscaler, metadata: {name: x}, spec: "
        "{maxReplicas: 2, scaleTargetRef: {kind: Deployment, name: y, apiVersion: apps/v1}, metrics: "
        "[{type: Resource, resource: {name: cpu, targetAverageUtilization: 70}}]}}"
    )
    made = after(text, "autoscaling/v2")
    assert made["spec"]["metrics"][0]["resource"] == {
        "name": "cpu",
        "target": {"type": "Utilization", "averageUtilization": 70},
    }


def test_what_concerns_the_whole_job_moves_to_its_run_policy() -> None:
    text = (
        "{apiVersion: xgboostjob.kubeflow.org/v1alpha1, kind: XGBoostJob, metadata: {name: x}, spec: "
        "{xgbReplicaSpecs: {}, cleanPodPolicy: None, runPolicy: {backoffLimit: 2}}}"
    )
    spec = after(text, "kubeflow.org/v1")["spec"]
    assert spec == {"xgbReplicaSpecs": {}, "runPolicy": {"backoffLimit": 2, "cleanPodPolicy": "None"}}
