"""Places that stay the same when lists are reordered."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.linter.location import field

POD: dict[str, Any] = {
    "metadata": {"labels": {"a.b/c~d": "x"}},
    "spec": {
        "containers": [{"name": "main", "args": ["a"]}, {"image": "x"}, "odd"],
        "tolerations": [{"key": "nvidia.com/gpu"}, {"operator": "Exists"}, {"name": 7, "key": "b"}],
    },
}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("metadata", "labels", "a.b/c~d"), "/metadata/labels/a.b~1c~0d"),
        (("spec", "containers", 0, "args", 0), "/spec/containers[main]/args[]"),
        (("spec", "containers", 1, "image"), "/spec/containers[]/image"),
        (("spec", "containers", 2), "/spec/containers[]"),
        (("spec", "containers", 9, "image"), "/spec/containers[]/image"),
        (("spec", "tolerations", 0), "/spec/tolerations[nvidia.com/gpu]"),
        (("spec", "tolerations", 1, "operator"), "/spec/tolerations[]/operator"),
        (("spec", "tolerations", 2), "/spec/tolerations[b]"),
        (("spec", "affinity", "x", 0), "/spec/affinity/x[]"),
    ],
)
def test_field(path: tuple[str | int, ...], text: str) -> None:
    assert field(POD, path) == text


@given(st.permutations([{"name": "a"}, {"key": "b"}, {"c": 1}, "d", {"name": "e", "key": "f"}]))
def test_the_order_of_a_list_changes_nothing(items: list[Any]) -> None:
    assert sorted(field({"l": items}, ("l", n, "x")) for n in range(5)) == [
        "/l[]/x",
        "/l[]/x",
        "/l[a]/x",
        "/l[b]/x",
        "/l[e]/x",
    ]


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda s: st.lists(s) | st.dictionaries(st.text(), s)
    ),
    st.lists(st.text() | st.integers(0, 5)),
)
def test_any_data(data: Any, path: list[str | int]) -> None:
    assert field(data, path).count("/") == sum(isinstance(step, str) for step in path)
