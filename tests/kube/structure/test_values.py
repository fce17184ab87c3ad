"""Names the API server refuses, and those that something else may still change."""

from __future__ import annotations

import pytest

from policykit.kube.structure.values import name_problem, namespace_problem

LONG = "a" * 254


@pytest.mark.parametrize(
    ("api_version", "kind", "name", "words"),
    [
        pytest.param("v1", "Pod", "My_Pod", "with a capital letter", id="capital"),
        pytest.param("v1", "Pod", "my_pod", "with an underscore", id="underscore"),
        pytest.param("v1", "Pod", "my pod", "with a space", id="blank"),
        pytest.param("v1", "Pod", "a/b", "with a slash", id="slash"),
        pytest.param("v1", "Pod", "训练", "with the character 训", id="Chinese"),
        pytest.param("v1", "Pod", "My-JOB_NAME", "with a capital letter", id="beside a placeholder"),
        pytest.param("v1", "Pod", LONG, "has 254 characters, the limit is 253", id="long"),
        pytest.param("batch/v1", "CronJob", "a" * 53, "has 53 characters, the limit is 52", id="CronJob"),
        pytest.param("batch/v1", "Job", "a" * 64, "has 64 characters, the limit is 63", id="Job"),
        pytest.param("v1", "Service", "my_svc", "names of Services", id="Service"),
        pytest.param("v1", "Service", "my.svc", "with a dot", id="Service with a dot"),
        pytest.param("v1", "Namespace", "a.b", "names of Namespaces", id="Namespace"),
        pytest.param("batch.volcano.sh/v1alpha1", "Job", "My_Job", "with a capital letter", id="CRD"),
        pytest.param("serving.knative.dev/v1", "Service", "a_b", "names have", id="a Service of others"),
    ],
)
def test_refused(api_version: str, kind: str, name: str, words: str) -> None:
    fault = name_problem(name, api_version, kind)
    assert fault is not None
    assert words in fault.message


@pytest.mark.parametrize(
    ("api_version", "kind", "name"),
    [
        pytest.param("v1", "Pod", "a.b-c1", id="plain"),
        pytest.param("v1", "Namespace", "_", id="replaced by a kustomization"),
        pytest.param("batch/v1", "CronJob", "a" * 52, id="CronJob"),
        pytest.param("batch.volcano.sh/v1alpha1", "Job", "a" * 64, id="a Job of others"),
        pytest.param("v1", "Pod", 5, id="a number is a wrong type"),
        pytest.param("v1", "Pod", "JOB_NAME", id="all capitals"),
        pytest.param("v1", "Pod", "train-JOB_NAME", id="a part in capitals"),
        pytest.param("v1", "Pod", "train_ID_", id="a part in capitals between underscores"),
        pytest.param("v1", "Pod", "GIVEN BY THE INSTALLER", id="several words in capitals"),
        pytest.param("v1", "Pod", "train-${Name}", id="a variable"),
        pytest.param("v1", "Pod", "train-{Name}", id="a format"),
        pytest.param("v1", "Pod", "%sName", id="a format of C"),
        pytest.param("v1", "Pod", "@Name@", id="a mark"),
        pytest.param("v1", "Pod", "-train-", id="kustomize adds prefix and suffix"),
        pytest.param("v1", "Service", "1st", id="a Service may begin with a digit"),
        pytest.param("rbac.authorization.k8s.io/v1", "ClusterRole", "system:Node_x", id="a role"),
        pytest.param("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", "A", id="a flow schema"),
        pytest.param("networking.k8s.io/v1", "IPAddress", "2001:db8::1", id="an address"),
    ],
)
def test_accepted(api_version: str, kind: str, name: object) -> None:
    assert name_problem(name, api_version, kind) is None


@pytest.mark.parametrize(
    ("name", "refused"), [("Foo_Bar", True), ("a.b", True), ("team-a", False), ("$NS", False), (None, False)]
)
def test_namespaces(name: object, refused: bool) -> None:
    assert (namespace_problem(name) is not None) is refused
