"""TPU topologies against chips and pods."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.catalogue.tpu import chips_problem, dimensions_problem


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
