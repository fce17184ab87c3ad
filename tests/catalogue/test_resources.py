"""Resource names: role, owner, alternatives."""

import pytest

from policykit.catalogue import resources

ROLES = {
    "nvidia.com/gpu": ("card", "nvidia", True),
    "nvidia.com/gpu.shared": ("shared", "nvidia", True),
    "nvidia.com/mig-1g.10gb": ("partition", "nvidia", True),
    "nvidia.com/mig-1g.10gb.shared": ("shared", "nvidia", True),
    "nvidia.com/GA102GL_A10": ("passthrough", "nvidia", True),
    "nvidia.com/gpumem": ("memory", "nvidia-hami", True),
    "nvidia.com/gpucores": ("core", "nvidia-hami", True),
    "nvidia.com/priority": ("setting", "nvidia-hami", False),
    "nvidia.com/hostdev": ("network", "", False),
    "volcano.sh/vgpu-number": ("shared", "nvidia-volcano", True),
    "koordinator.sh/gpu": ("card", "koordinator", True),
    "koordinator.sh/rdma": ("network", "koordinator", False),
    "amd.com/cpx_nps4": ("partition", "amd", True),
    "amd.com/nic": ("network", "amd", False),
    "gpu.intel.com/monitoring": ("setting", "intel-gpu", False),
    "enflame.com/gcu-count": ("accounting", "enflame", False),
    "huawei.com/Ascend310P": ("card", "huawei", True),
    "huawei.com/Ascend910B3": ("card", "huawei-hami", True),
    "huawei.com/Ascend910B3-memory": ("memory", "huawei-hami", True),
    "huawei.com/npu-core": ("core", "huawei", True),
    "rdma/hca": ("network", "", False),
    "vpc.amazonaws.com/efa": ("network", "", False),
}


@pytest.mark.parametrize(("name", "expected"), ROLES.items(), ids=ROLES)
def test_role(name: str, expected: tuple[str, str, bool]) -> None:
    found = resources.resource(name)
    assert found is not None
    assert (found.role, found.vendor, resources.is_card(name)) == expected


@pytest.mark.parametrize(
    "name", ["", "cpu", "gpu", "example.com/dongle", "nvidia.com/GPU", "nvidia.com/foo", "/"]
)
def test_no_card(name: str) -> None:
    assert not resources.is_card(name)


def test_every_listed_card_resource_is_one() -> None:
    assert all(resources.is_card(name) for name in resources.card_resources())
    assert len(resources.card_resources()) > 80


def test_who_offers_a_shared_name() -> None:
    found = resources.resource("nvidia.com/gpu")
    assert found is not None
    assert found.offered_by == ("nvidia", "nvidia-hami")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nvidia.com/x", True),
        ("koordinator.sh/x", True),
        ("rdma/x", False),
        ("nvidia.com", False),
        ("x", False),
    ],
)
def test_known_domain(name: str, expected: bool) -> None:
    assert resources.known_domain(name) is expected


@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        ("1g.10gb", "nvidia.com/mig-1g.10gb"),
        ("1g.10gb+me", "nvidia.com/mig-1g.10gb.me"),
        ("1g.24gb+me.all", "nvidia.com/mig-1g.24gb.me.all"),
        ("1g.24gb-me", "nvidia.com/mig-1g.24gb-me"),
    ],
)
def test_mig_resource(profile: str, expected: str) -> None:
    assert resources.mig_resource(profile) == expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("nvidia.com/gpu", "nvidia.com/mig-1g.5gb", True),
        ("aws.amazon.com/neuron", "aws.amazon.com/neuroncore", True),
        ("nvidia.com/gpumem", "nvidia.com/gpumem-percentage", True),
        ("nvidia.com/gpu", "nvidia.com/gpumem", False),
        ("nvidia.com/mig-1g.5gb", "nvidia.com/mig-2g.10gb", False),
        ("cpu", "memory", False),
    ],
)
def test_alternatives(first: str, second: str, expected: bool) -> None:
    pairs = [(first, second)] if expected else []
    assert resources.alternatives([first, second, "x.example.com/y"]) == pairs
    assert resources.alternatives([second, first]) == pairs
    assert resources.alternatives([first]) == []
