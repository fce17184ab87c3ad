"""Fields that only some releases have: said where a release is stated, and never otherwise."""

from typing import Any

import pytest

from policykit.kube.structure import check
from policykit.kube.structure.served import Served

POD: dict[str, Any] = {"containers": [{"name": "main", "image": "app:1"}]}


def pod(**spec: Any) -> tuple[str, str, dict[str, Any]]:
    return "v1", "Pod", {"metadata": {"name": "a"}, "spec": {**POD, **spec}}


def container(**fields: Any) -> tuple[str, str, dict[str, Any]]:
    return pod(containers=[{"name": "main", "image": "app:1", **fields}])


def job(**spec: Any) -> tuple[str, str, dict[str, Any]]:
    return "batch/v1", "Job", {"metadata": {"name": "a"}, "spec": {"template": {"spec": POD}, **spec}}


def volcano(**spec: Any) -> tuple[str, str, dict[str, Any]]:
    task = {"name": "a", "replicas": 1, "template": {"spec": POD}}
    return "batch.volcano.sh/v1alpha1", "Job", {"metadata": {"name": "a"}, "spec": {"tasks": [task], **spec}}


FIELDS = [
    ("pod-level resources", pod(resources={}), "kubernetes", "1.31", "1.32"),
    ("scheduling group", pod(schedulingGroup={"podGroupName": "a"}), "kubernetes", "1.35", "1.36"),
    ("workload reference", pod(workloadRef={}), "kubernetes", "1.34", "1.35"),
    ("workload reference, gone", pod(workloadRef={}), "kubernetes", "1.36", "1.35"),
    (
        "claim under source, gone",
        pod(resourceClaims=[{"name": "a", "source": {}}]),
        "kubernetes",
        "1.31",
        "1.30",
    ),
    (
        "claim by its name",
        pod(resourceClaims=[{"name": "a", "resourceClaimName": "b"}]),
        "kubernetes",
        "v1.30.4",
        "v1.31.0",
    ),
    (
        "image volume",
        pod(volumes=[{"name": "a", "image": {"reference": "b"}}]),
        "kubernetes",
        "1.30",
        "1.31",
    ),
    ("restart rules of a container", container(restartPolicyRules=[]), "kubernetes", "1.33", "1.34"),
    ("managed by", job(managedBy="example.com/a"), "kubernetes", "1.29", "1.30"),
    ("success policy", job(successPolicy={"rules": []}), "kubernetes", "1.29", "1.30"),
    ("scheduling of a Job", job(scheduling={}), "kubernetes", "1.36", "1.37"),
    ("network topology", volcano(networkTopology={"mode": "hard"}), "volcano", "1.11.2", "1.12.0"),
]


@pytest.mark.parametrize(
    ("known", "system", "without", "having"), [r[1:] for r in FIELDS], ids=[r[0] for r in FIELDS]
)
def test_a_field_of_some_releases(
    known: tuple[str, str, Any], system: str, without: str, having: str
) -> None:
    api_version, kind, data = known
    assert check(data, api_version, kind) == ()
    assert check(data, api_version, kind, Served({system: having})) == ()
    (problem,) = check(data, api_version, kind, Served({system: without}))
    assert problem.kind == "unknown-field"
    assert problem.key
    assert f"the policy states {without}" in problem.message


def test_the_words() -> None:
    api_version, kind, data = pod(resources={})
    (new,) = check(data, api_version, kind, Served({"kubernetes": "1.31"}))
    assert (new.message, new.help) == (
        "unknown field spec.resources: Kubernetes has it since 1.32, the policy states 1.31",
        "remove it, or state a release from 1.32 on",
    )
    api_version, kind, data = pod(workloadRef={})
    (old,) = check(data, api_version, kind, Served({"kubernetes": "1.36"}))
    assert (old.message, old.help) == (
        "unknown field spec.workloadRef: Kubernetes 1.36 removed it, the policy states 1.36",
        "remove it",
    )


def test_the_release_of_another_system_says_nothing() -> None:
    api_version, kind, data = volcano(networkTopology={"mode": "hard"})
    assert check(data, api_version, kind, Served({"kubernetes": "1.29", "koordinator": "1.4"})) == ()
