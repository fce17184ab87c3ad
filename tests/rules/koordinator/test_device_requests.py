"""Which device requests koord-scheduler serves, compared with a count of devices one by one."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.model.release import Version
from policykit.model.severity import Severity
from policykit.rules.koordinator import device_requests
from policykit.rules.koordinator.device_requests import Request

_NEWEST = Version(1, 8, 0)


def errors(**amounts: int) -> list[str]:
    """What 1.8 refuses; keys are names of koordinator.sh, `_` stands for `-`."""
    return refused_in(_NEWEST, {f"koordinator.sh/{name.replace('_', '-')}": n for name, n in amounts.items()})


def refused_in(version: Version, amounts: dict[str, int]) -> list[str]:
    found = {name: Request(("limits", name), number) for name, number in amounts.items()}
    violations = device_requests.check(found, frozenset(), version)
    return [str(each.path[-1]) for each in violations if each.severity is not Severity.WARNING]


@pytest.mark.parametrize(
    ("amounts", "refused"),
    [
        ({"gpu": 50}, False),
        ({"gpu": 100}, False),
        ({"gpu": 150}, True),
        ({"gpu": 800}, False),
        ({"gpu_core": 50}, True),
        ({"gpu_core": 50, "gpu_memory": 2**33}, False),
        ({"gpu_core": 200, "gpu_memory": 2**33}, True),
        ({"gpu_core": 200, "gpu_memory_ratio": 200}, False),
        ({"gpu_memory": 2**33, "gpu_memory_ratio": 50}, True),
        ({"gpu.shared": 2, "gpu_memory_ratio": 100}, False),
        ({"gpu.shared": 2, "gpu_memory_ratio": 75}, True),
        ({"gpu.shared": 2, "gpu_memory_ratio": 202}, True),
        ({"gpu": 50, "gpu.shared": 1}, True),
        ({"rdma": 150}, True),
        ({"rdma": 200}, False),
    ],
)
def test_requests(amounts: dict[str, int], refused: bool) -> None:
    assert bool(errors(**amounts)) is refused


@pytest.mark.parametrize(("version", "refused"), [(Version(1, 5, 0), True), (Version(1, 6, 0), False)])
def test_shares_came_with_1_6(version: Version, refused: bool) -> None:
    assert (
        bool(refused_in(version, {"koordinator.sh/gpu.shared": 1, "koordinator.sh/gpu-memory-ratio": 50}))
        is refused
    )


def test_unknown_amounts_are_not_judged() -> None:
    found = {
        name: Request((name,), None)
        for name in ("koordinator.sh/gpu-core", "koordinator.sh/gpu-memory-ratio")
    }
    assert list(device_requests.check(found, frozenset(), _NEWEST)) == []


def test_a_count_of_devices_is_no_percentage() -> None:
    found = {"koordinator.sh/rdma": Request(("rdma",), 2)}
    assert list(device_requests.check(found, frozenset(found), _NEWEST)) == []
    assert [each.severity for each in device_requests.check(found, frozenset(), _NEWEST)] == [
        Severity.WARNING
    ]


@given(number=st.integers(1, 2000))
def test_a_percentage_is_a_part_or_whole_cards(number: int) -> None:
    parts = [100] * (number // 100) + [number % 100] * bool(number % 100)
    served = len(parts) == 1 or all(part == 100 for part in parts)
    assert bool(errors(gpu=number)) is not served


@given(shares=st.integers(1, 16), core=st.integers(1, 2000), ratio=st.integers(1, 2000))
def test_every_card_gives_the_same_share(shares: int, core: int, ratio: int) -> None:
    def even(number: int) -> bool:
        return any(each * shares == number for each in range(1, 101))

    amounts: dict[str, Any] = {"gpu.shared": shares, "gpu_core": core, "gpu_memory_ratio": ratio}
    assert bool(errors(**amounts)) is not (even(core) and even(ratio))
