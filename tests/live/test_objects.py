"""Objects as somebody wrote them, whatever the server gives."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from policykit.live.client import refusal, server_name
from policykit.live.kinds import NODE, POD, Kind, Resource, Role
from policykit.live.objects import controller, is_finished, live_object

RESOURCES = (
    Resource(POD, "v1", "pods", True),
    Resource(NODE, "v1", "nodes", False),
    Resource(Kind("batch", "Job", Role.WORKLOADS), "batch/v1", "jobs", True),
    Resource(Kind("", "ResourceQuota", Role.QUOTAS), "v1", "resourcequotas", True),
)
KEYS = st.sampled_from(
    ["metadata", "spec", "status", "name", "namespace", "annotations", "ownerReferences", "tolerations"]
) | st.text(max_size=3)
DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=15,
)


@given(st.sampled_from(RESOURCES), st.dictionaries(KEYS, DATA, max_size=5))
def test_any_item(resource: Resource, item: dict[str, Any]) -> None:
    found = live_object(resource, item)
    assert (found.data["kind"], found.data["apiVersion"]) == (resource.kind.name, resource.api_version)
    assert found.text
    controller(item)
    is_finished(item)


def test_what_the_server_adds_is_left_out() -> None:
    item = {
        "metadata": {
            "name": "a",
            "namespace": "default",
            "uid": "1",
            "managedFields": [{}],
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"},
        },
        "spec": {"nodeName": "n", "priority": 0, "containers": []},
        "status": {"phase": "Running"},
    }
    found = live_object(RESOURCES[0], item)
    assert found.name == "Pod default/a"
    assert yaml.safe_load(found.text) == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a", "namespace": "default"},
        "spec": {"containers": []},
    }


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://api.example.com:6443", "https://api.example.com:6443"),
        ("https://me:secret@api.example.com/path?token=secret", "https://api.example.com"),
        ("https://[::1]:6443", "https://[::1]:6443"),
        ("https://api:port", "https://api"),
        ("", ""),
    ],
)
def test_servers_are_shown_without_what_is_secret(url: str, shown: str) -> None:
    assert server_name(url) == shown


@given(st.integers(300, 599), st.binary(max_size=30), st.text(max_size=5))
def test_any_refusal(status: int, body: bytes, retry_after: str) -> None:
    assert refusal("https://a", "pods", status, body, retry_after).message
