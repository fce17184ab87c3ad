"""Which cards a pod set asks for, and where."""

from typing import Any

import pytest

from policykit.kube.podsets import pod_sets
from policykit.manifests.patch import Patch
from policykit.manifests.path import pointer
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool
from policykit.placement.card_requests import card_resources, rename_resource, request_path

DONGLES = Cluster("test", (Pool("dongles", (), resources=("example.com/dongle",)),))


def pod(*containers: dict[str, Any]) -> Any:
    listed = [{"name": f"c{i}", "resources": resources} for i, resources in enumerate(containers)]
    data = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": listed}}
    (found,) = pod_sets(data)
    return found


@pytest.mark.parametrize(
    ("resources", "cluster", "expected"),
    [
        ({"limits": {"nvidia.com/gpu": 1, "cpu": 2}}, None, ("nvidia.com/gpu",)),
        ({"requests": {"nvidia.com/gpu": "2"}}, None, ("nvidia.com/gpu",)),
        ({"limits": {"nvidia.com/gpu": 0}}, None, ()),
        ({"limits": {"example.com/dongle": 2}}, None, ()),
        ({"limits": {"example.com/dongle": 2}}, DONGLES, ("example.com/dongle",)),
        ({"limits": {"rdma/hca": 1}}, DONGLES, ()),
    ],
    ids=["card", "request-only", "none-of-it", "unknown", "of-the-policy", "network"],
)
def test_card_resources(
    resources: dict[str, Any], cluster: Cluster | None, expected: tuple[str, ...]
) -> None:
    assert card_resources(pod(resources), cluster) == expected


def test_the_greediest_container_is_pointed_at() -> None:
    asking = pod(
        {}, {"limits": {"a.example/x": 1}}, {"requests": {"a.example/x": 3}}, {"limits": {"a.example/x": 3}}
    )
    assert (
        pointer(request_path(asking, "a.example/x")) == "/spec/containers/2/resources/requests/a.example~1x"
    )


def test_a_resource_nobody_asks_for_is_placed_at_the_template() -> None:
    assert request_path(pod({}), "a.example/x") == ()


@pytest.mark.parametrize(
    ("resources", "sides"),
    [
        ({"limits": {"a": 1}, "requests": {"a": 1, "cpu": 2}}, ["limits", "requests"]),
        ({"limits": None, "requests": {"a": 1}}, ["requests"]),
        ({"limits": {"a": 1}, "requests": {"b": 1}}, []),
        ({"limits": {"c": 1}}, []),
        ({"limits": "a"}, []),
        (None, []),
    ],
    ids=["both", "one", "the new name is taken", "not asked for", "no amounts", "nothing"],
)
def test_a_resource_is_renamed_in_limits_and_requests_alike(resources: Any, sides: list[str]) -> None:
    made = rename_resource({"r": resources}, ("r",), "a", "b")
    assert made == tuple(Patch("rename", ("r", side, "a"), "b") for side in sides)
