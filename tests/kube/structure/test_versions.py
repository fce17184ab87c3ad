"""Versions and kinds that exist, and those that are gone."""

import pytest

from policykit import bundled
from policykit.kube.structure.versions import added, homes_of, kinds_of, removal, served_until

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
