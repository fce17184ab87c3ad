"""Keys of a ResourceQuota: taken by the API server, counted by an evaluator."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.kube.names import is_extended
from policykit.rules.resources.quota_key_never_counted import (
    STANDARD,
    grouped,
    is_counted,
    nearest_standard,
    refusal,
)


@pytest.mark.parametrize("key", [*STANDARD, "hugepages-2Mi", "requests.hugepages-1Gi"])
def test_what_kubernetes_knows_without_a_domain(key: str) -> None:
    assert (refusal(key), is_counted(key)) == ("", True)


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("request.memory", "is not a key of a ResourceQuota"),
        ("limits.hugepages-2Mi", "is not a key of a ResourceQuota"),
        ("limits.storage", "is not a key of a ResourceQuota"),
        ("count", "is not a key of a ResourceQuota"),
        ("", "is empty"),
        ("a/b/c", "has more than one '/'"),
        ("count/", "has no name after the '/'"),
        (
            "hugepages-",
            "must begin and end with a letter or digit, with only letters, digits, '-', '_' and '.' between",
        ),
    ],
)
def test_what_the_api_server_refuses(key: str, why: str) -> None:
    assert refusal(key) == why


@pytest.mark.parametrize(
    ("key", "counted"),
    [
        ("requests.nvidia.com/gpu", True),
        ("nvidia.com/gpu", False),
        ("limits.nvidia.com/gpu", False),
        ("requests.requests.nvidia.com/gpu", False),
        ("requests.kubernetes.io/batch-cpu", False),
        ("requests.deviceclass.resource.kubernetes.io/gpu", True),
        ("count/pods", True),
        ("count/jobs.batch", True),
        ("count/jobs", False),
        ("gold.storageclass.storage.k8s.io/requests.storage", True),
        ("gold.storageclass.storage.k8s.io/persistentvolumeclaims", True),
        ("gold.storageclass.storage.k8s.io/limits.storage", False),
        ("storageclass.storage.k8s.io/requests.storage", False),
        ("gpu.nvidia.com.deviceclass.resource.k8s.io/devices", True),
        ("gpu.deviceclass.resource.k8s.io/device", False),
    ],
)
def test_what_is_counted(key: str, counted: bool) -> None:
    assert (refusal(key), is_counted(key)) == ("", counted)


@pytest.mark.parametrize(
    ("resource", "key"),
    [
        ("pods", "count/pods"),
        ("deployments", "count/deployments.apps"),
        ("jobs.batch", "count/jobs.batch"),
        ("jobs.apps", ""),
        ("trainjobs", ""),
    ],
)
def test_objects_by_their_group(resource: str, key: str) -> None:
    assert grouped(resource) == key
    assert not key or is_counted(key)


@pytest.mark.parametrize(
    ("key", "resource", "near"),
    [
        ("request.memory", "memory", "requests.memory"),
        ("limit.memory", "memory", "limits.memory"),
        ("limits.storage", "storage", "requests.storage"),
        ("Requests.cpu", "Requests.cpu", "requests.cpu"),
        ("pod", "pod", "pods"),
        ("tokens", "tokens", ""),
    ],
)
def test_the_nearest_key(key: str, resource: str, near: str) -> None:
    assert nearest_standard(key, resource) == near


@given(st.text(max_size=40))
def test_an_extended_resource_counts_under_requests_alone(name: str) -> None:
    refusal(name), is_counted(name)
    if is_extended(name):
        assert is_counted(f"requests.{name}")
        assert not is_counted(f"limits.{name}")
