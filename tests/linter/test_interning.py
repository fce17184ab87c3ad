"""What is kept once is equal to what was given, and of the same types."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from policykit import api
from policykit.linter.interning import Interned
from policykit.manifests.node import Span

VALUES = st.recursive(
    st.one_of(st.text("ab", max_size=2), st.integers(-1, 400), st.sampled_from([True, False, None, 1.0])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
        st.tuples(inner, inner, inner, inner).map(lambda parts: Span(*parts)),
    ),
    max_leaves=12,
)


@given(st.lists(VALUES, max_size=6))
def test_values_stay_equal(values: list[Any]) -> None:
    """In `repr`, unlike for `==`, 1 is not True, and a mapping has an order."""
    interned = Interned()
    assert [repr(interned(value)) for value in values] == [repr(value) for value in values]


def _demand(name: str, amount: int) -> tuple[Any, ...]:
    return name, {"memory": amount, "cpu": 4}, ({"limits": {"memory": amount}},)


def test_equal_parts_are_one_object() -> None:
    interned = Interned()
    one, other = interned(_demand("a", 1 << 40)), interned(_demand("b", 1 << 40))
    assert one[1] is other[1]
    assert one[2] is other[2]
    assert interned(_demand("a", 1 << 40)) is one
    assert interned(_demand("a", 1 << 41))[2] is not one[2]


def test_parts_are_forgotten() -> None:
    """Numbers of objects that are gone are those of others: nothing is mistaken for what was forgotten."""
    interned = Interned()
    for number in range(30_000):
        assert interned((f"{number}", {"a": number + 1000})) == (f"{number}", {"a": number + 1000})


POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  containers:
  - name: main
    image: registry.example/train:1
    resources: {{limits: {{nvidia.com/gpu: 1}}, requests: {{nvidia.com/gpu: 2}}}}
---
"""


def test_findings_of_a_large_file_are_those_of_a_small_one() -> None:
    text = "".join(POD.format(name=name) for name in "abc").encode()
    small = api.lint_texts({"a.yaml": text})
    large = api.lint_texts({"a.yaml": text + b"#\n" * 2_100_000})
    assert len(small.findings) >= 3
    assert large.findings == small.findings
