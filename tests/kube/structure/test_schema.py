"""Which API versions there are, and which fields a release has."""

from typing import Any

import pytest

from policykit import bundled
from policykit.kube.structure import check
from policykit.kube.structure.schema import ServedApis, added, homes_of, kinds_of, removal, served_until

TABLE = bundled.table("schemas", "kinds.json")


@pytest.mark.parametrize(
    ("release", "version", "served"),
    [
        ("1.25", "1.24", True),
        ("1.25", "1.25", False),
        ("1.9", "v1.36.2", False),
        ("1.25", "1.24.9-gke.1", True),
    ],
)
def test_served_until(release: str, version: str, served: bool) -> None:
    assert served_until(release, version) is served


def test_a_removed_version_is_not_a_known_one() -> None:
    both = [
        (api_version, kind)
        for api_version, kinds in TABLE["removed"].items()
        for kind in kinds
        if api_version.rpartition("/")[2] in (kinds_of(api_version.rpartition("/")[0]) or {}).get(kind, ())
    ]
    assert both == []


def test_every_successor_serves_the_kind() -> None:
    for api_version, kinds in TABLE["removed"].items():
        for kind in kinds:
            gone = removal(api_version, kind)
            assert gone is not None
            group, _, version = gone.successor.rpartition("/")
            known = kinds_of(group)
            if gone.successor and known is not None:
                assert version in known[kind], (api_version, kind)


def test_every_shape_is_of_a_known_kind() -> None:
    for api_version, kinds in TABLE["shapes"].items():
        group, _, version = api_version.rpartition("/")
        known = kinds_of(group) or {}
        assert [kind for kind in kinds if version not in known.get(kind, ())] == []


def test_homes() -> None:
    assert homes_of("Workload") == ["kueue.x-k8s.io/v1beta2", "scheduling.k8s.io/v1beta1"]


@pytest.mark.parametrize(
    ("api_version", "kind", "release"),
    [
        ("resource.k8s.io/v1", "ResourceClaim", "1.34"),
        ("resource.k8s.io/v1beta2", "DeviceClass", "1.33"),
        ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "1.30"),
        ("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy", "1.36"),
        ("admissionregistration.k8s.io/v1alpha1", "MutatingAdmissionPolicy", "1.32"),
        ("batch/v1", "Job", ""),
        ("ray.io/v1", "RayJob", ""),
    ],
)
def test_added(api_version: str, kind: str, release: str) -> None:
    assert added(api_version, kind) == release


def test_every_added_version_is_a_known_one() -> None:
    for api_version, kinds in TABLE["added"].items():
        group, _, version = api_version.rpartition("/")
        assert all(version in (kinds_of(group) or {})[kind] for kind in kinds), api_version


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
    ("known", "target_name", "without", "having"), [r[1:] for r in FIELDS], ids=[r[0] for r in FIELDS]
)
def test_a_field_of_some_releases(
    known: tuple[str, str, Any], target_name: str, without: str, having: str
) -> None:
    api_version, kind, data = known
    assert check(data, api_version, kind) == ()
    assert check(data, api_version, kind, ServedApis({target_name: having})) == ()
    (problem,) = check(data, api_version, kind, ServedApis({target_name: without}))
    assert problem.kind == "unknown-field"
    assert problem.key
    assert f"the policy states {without}" in problem.message


def test_the_words() -> None:
    api_version, kind, data = pod(resources={})
    (new,) = check(data, api_version, kind, ServedApis({"kubernetes": "1.31"}))
    assert (new.message, new.help) == (
        "unknown field spec.resources: Kubernetes has it since 1.32, the policy states 1.31",
        "remove it, or state a release from 1.32 on",
    )
    api_version, kind, data = pod(workloadRef={})
    (old,) = check(data, api_version, kind, ServedApis({"kubernetes": "1.36"}))
    assert (old.message, old.help) == (
        "unknown field spec.workloadRef: Kubernetes 1.36 removed it, the policy states 1.36",
        "remove it",
    )


def test_the_release_of_another_system_says_nothing() -> None:
    api_version, kind, data = volcano(networkTopology={"mode": "hard"})
    assert check(data, api_version, kind, ServedApis({"kubernetes": "1.29", "koordinator": "1.4"})) == ()
