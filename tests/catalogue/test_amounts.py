"""Amounts that plugins do not take."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.catalogue.amounts import amount_problems
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
        pytest.param({"huawei.com/Ascend910B3-memory": 99999}, ["info"], id="rounded up to a whole chip"),
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
