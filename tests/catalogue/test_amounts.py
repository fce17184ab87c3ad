"""Amounts that plugins do not take."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.catalogue.amounts import amount_problems, chips_problem, dimensions_problem
from policykit.catalogue.resources import card_resources


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        pytest.param({"nvidia.com/gpucores": 100}, [], id="a whole card in percent"),
        pytest.param({"nvidia.com/gpucores": 101}, ["warning"], id="more than a card"),
        pytest.param({"nvidia.com/gpumem-percentage": 120}, ["warning"], id="more memory than a card"),
        pytest.param({"tencent.com/vcuda-core": 200}, [], id="percent of several cards"),
        pytest.param({"koordinator.sh/gpu-core": 150}, [], id="judged elsewhere"),
        pytest.param({"mthreads.com/sgpu-memory": 16}, [], id="an amount that is taken"),
        pytest.param({"mthreads.com/sgpu-memory": 5}, ["warning"], id="one that is not"),
        pytest.param({"cambricon.com/mlu": 3}, [], id="only linked cards have numbers"),
        pytest.param({"huawei.com/Ascend310P-2c.1cpu": 2}, ["error"], id="two virtual NPUs"),
        pytest.param({"huawei.com/Ascend910": 2}, [], id="two chips"),
        pytest.param(
            {"hygon.com/dcunum": 2, "hygon.com/dcumem": 4000}, ["warning"], id="two slices of Hygon's"
        ),
        pytest.param({"huawei.com/Ascend910B3-memory": 99999}, ["info"], id="given as a whole chip"),
        pytest.param(
            {"huawei.com/Ascend910B": 4, "huawei.com/Ascend910B-memory": 65536}, [], id="unknown slices"
        ),
        pytest.param({"example.com/thing": 1000}, [], id="anybody's name"),
    ],
)
def test_faults(asked: dict[str, int], found: list[str]) -> None:
    assert [problem.severity.value for problem in amount_problems(asked) if problem.severity] == found


@given(st.dictionaries(st.sampled_from(card_resources()) | st.text(), st.integers(1, 10**9)))
def test_one_fault_of_a_name_at_most(asked: dict[str, int]) -> None:
    names = [problem.path[0] for problem in amount_problems(asked)]
    assert len(set(names)) == len(names)
    assert set(names) <= set(asked)


@pytest.mark.parametrize(
    ("accelerator", "topology", "problem"),
    [
        pytest.param("tpu-v5p-slice", "2x2x1", "", id="three for v5p"),
        pytest.param("tpu-v5p-slice", "2x4", "has 2 numbers", id="two for v5p"),
        pytest.param("tpu-v6e-slice", "4x4x4", "has 3 numbers", id="three for v6e"),
        pytest.param("tpu-v99", "2x4", "", id="a generation nobody knows"),
        pytest.param("tpu-v5p-slice", "large", "", id="no topology"),
    ],
)
def test_dimensions(accelerator: str, topology: str, problem: str) -> None:
    assert dimensions_problem(accelerator, topology).startswith(problem)
    assert bool(dimensions_problem(accelerator, topology)) == bool(problem)


@pytest.mark.parametrize(
    ("topology", "chips", "pods", "problem"),
    [
        pytest.param("4x4", 4, 4, "", id="one slice"),
        pytest.param("4x4", 4, 8, "", id="two slices"),
        pytest.param("4x4", 4, None, "", id="as many as it takes"),
        pytest.param("4x4", 4, 3, "is a slice of 16 chips, but 3 pods of 4 chips have 12", id="too few"),
        pytest.param(
            "2x4", 3, 1, "is a slice of 8 chips, which pods of 3 chips cannot fill", id="cannot be filled"
        ),
        pytest.param("0x4", 4, 1, "", id="nothing"),
    ],
)
def test_chips(topology: str, chips: int, pods: int | None, problem: str) -> None:
    assert chips_problem(topology, chips, pods) == problem


@given(st.integers(1, 16), st.integers(1, 16), st.sampled_from([1, 2, 4, 8]), st.integers(1, 8))
def test_whole_slices_are_right(first: int, second: int, chips: int, slices: int) -> None:
    total = first * second * chips
    assert chips_problem(f"{first}x{second * chips}", chips, slices * total // chips) == ""
