"""What a pod asks for in all."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.kube import requests
from policykit.kube.podsets.podset import DeviceRequest
from tests.kube.scoring import scoring_requests
from tests.kube.test_selectors import ANYTHING

MIB = 1024 * 1024


def container(**asked: str) -> dict[str, Any]:
    return {
        "resources": {"requests": {name.replace("gpu", "nvidia.com/gpu"): v for name, v in asked.items()}}
    }


@pytest.mark.parametrize(
    ("resources", "amounts"),
    [
        ({"requests": {"cpu": 1.5, "memory": 1024}}, {"cpu": 1500, "memory": 1024}),
        ({"limits": {"cpu": "2"}, "requests": {"cpu": 0}}, {"cpu": 0}),
        ({"limits": {"cpu": "2"}, "requests": {"cpu": "{{ . }}"}}, {"cpu": 2000}),
        ({"requests": {"cpu": "-1", "memory": None, "nvidia.com/gpu": True}}, {}),
        ("{{ . }}", {}),
        (None, {}),
    ],
)
def test_requested(resources: object, amounts: dict[str, int]) -> None:
    assert requests.requested({"resources": resources}) == amounts


def test_containers_pass_over_other_shapes() -> None:
    spec = {
        "containers": ["x", {"name": "a"}],
        "initContainers": [{"name": "b"}, None],
        "ephemeralContainers": [{}],
    }
    assert list(requests.containers(spec)) == [
        ("containers", 1, {"name": "a"}),
        ("initContainers", 0, {"name": "b"}),
    ]
    assert list(requests.containers({"containers": "x", "initContainers": None})) == []


def test_devices_run_beside_the_containers() -> None:
    spec = {"containers": [container(gpu="1")], "initContainers": [container(gpu="2")]}
    devices = [DeviceRequest((), "nvidia.com/gpu", 2), DeviceRequest((), "amd.com/gpu", None)]
    assert requests.effective(spec, devices) == {"nvidia.com/gpu": 3}


@pytest.mark.parametrize(
    ("resources", "asked"),
    [
        ({"requests": {"memory": "1Gi"}}, {"cpu": 1000, "memory": 1024 * MIB, "nvidia.com/gpu": 1}),
        ({"requests": {"nvidia.com/gpu": "4"}}, {"cpu": 1000, "nvidia.com/gpu": 1}),
        ({"limits": {"cpu": "4", "memory": "2Mi"}}, {"cpu": 1000, "memory": 2 * MIB, "nvidia.com/gpu": 1}),
        ({"limits": {"hugepages-2Mi": "4Mi"}}, {"cpu": 1000, "hugepages-2Mi": 4 * MIB, "nvidia.com/gpu": 1}),
    ],
)
def test_pod_level_resources(resources: dict[str, Any], asked: dict[str, int]) -> None:
    spec = {"containers": [container(cpu="1", gpu="1")], "resources": resources}
    assert requests.effective(spec) == asked


@pytest.mark.parametrize(
    ("existing", "asked"),
    [
        pytest.param(False, {"cpu": 250, "memory": 200 * MIB}, id="incoming: the pod level is not looked at"),
        pytest.param(True, {"cpu": 2050, "memory": 0}, id="existing: nothing is assumed of what is stated"),
    ],
)
def test_scoring_counts_what_is_not_stated(existing: bool, asked: dict[str, int]) -> None:
    spec = {
        "containers": [container()],
        "initContainers": [{"restartPolicy": "Always", **container(cpu="100m", memory="0")}],
        "resources": {"requests": {"cpu": "2"}},
        "overhead": {"cpu": "50m"},
    }
    assert scoring_requests(spec, existing=existing) == asked


AMOUNTS = st.dictionaries(
    st.sampled_from(["cpu", "memory", "nvidia.com/gpu"]), st.integers(0, 100), max_size=3
)
CONTAINERS = st.builds(
    lambda asked, sidecar: {
        "resources": {"requests": asked},
        **({"restartPolicy": "Always"} if sidecar else {}),
    },
    AMOUNTS,
    st.booleans(),
)
SPECS = st.fixed_dictionaries(
    {"containers": st.lists(CONTAINERS, max_size=3), "initContainers": st.lists(CONTAINERS, max_size=3)},
    optional={"overhead": AMOUNTS},
)


@given(SPECS)
def test_a_pod_asks_no_less_than_any_container(spec: dict[str, Any]) -> None:
    total = requests.effective(spec)
    for _, _, one in requests.containers(spec):
        assert all(total[resource] >= counted for resource, counted in requests.requested(one).items())


@given(SPECS)
def test_a_pod_asks_no_more_than_all_its_containers(spec: dict[str, Any]) -> None:
    every = [requests.requested(one) for _, _, one in requests.containers(spec)]
    every.append(requests.amounts(spec.get("overhead")))
    for resource, counted in requests.effective(spec).items():
        assert counted <= sum(asked.get(resource, 0) for asked in every)


@given(SPECS, AMOUNTS)
def test_overhead_is_added_last(spec: dict[str, Any], overhead: dict[str, int]) -> None:
    bare = requests.effective({**spec, "overhead": {}})
    counted = requests.amounts(overhead)
    together = {r: bare.get(r, 0) + counted.get(r, 0) for r in [*bare, *counted]}
    assert requests.effective({**spec, "overhead": overhead}) == together


@given(SPECS, st.booleans())
def test_scoring_counts_no_less_than_the_filter(spec: dict[str, Any], existing: bool) -> None:
    scored = scoring_requests(spec, existing=existing)
    assert all(scored[resource] >= counted for resource, counted in requests.effective(spec).items())


@given(
    st.fixed_dictionaries(
        {}, optional=dict.fromkeys(["containers", "initContainers", "resources", "overhead"], ANYTHING)
    )
)
def test_any_data_is_read(spec: dict[str, Any]) -> None:
    assert all(counted >= 0 for counted in requests.effective(spec).values())
    assert scoring_requests(spec).keys() >= requests.effective({**spec, "resources": None}).keys()
