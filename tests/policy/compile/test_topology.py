"""Ranges and globs over node names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.policy.compile.topology import expand_range, matching_names


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("gpu-1", ("gpu-1",)),
        ("gpu-[1-3]", ("gpu-1", "gpu-2", "gpu-3")),
        ("gpu-[08-10].dc", ("gpu-08.dc", "gpu-09.dc", "gpu-10.dc")),
        ("gpu-[98-102]", ("gpu-98", "gpu-99", "gpu-100", "gpu-101", "gpu-102")),
        ("gpu-[3-1]", None),
        ("gpu-[0-999999]", None),
        ("gpu-[a-b]", ("gpu-[a-b]",)),
    ],
)
def test_expand(name: str, wanted: tuple[str, ...] | None) -> None:
    assert expand_range(name) == wanted


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        ("n-2", ("n-2",)),
        ("n-*", ("n-1", "n-2", "n-3")),
        ("n-[2-9]", ("n-2", "n-3")),
        ("?-1", ("n-1",)),
        ("m-*", ()),
    ],
)
def test_chosen(pattern: str, wanted: tuple[str, ...]) -> None:
    assert matching_names(("n-1", "n-2", "n-3"), pattern) == wanted


@given(st.integers(0, 300), st.integers(0, 300), st.integers(1, 4))
def test_a_range_holds_each_number_once(first: int, length: int, width: int) -> None:
    names = expand_range(f"n[{first:0{width}d}-{first + length}]")
    assert names is not None
    assert [int(name[1:]) for name in names] == list(range(first, first + length + 1))
    assert matching_names(names, f"n[{first}-{first + length}]") == names or width > len(str(first))
