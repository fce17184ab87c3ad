"""Parts of an object of any shape: what is something else is empty."""

from collections.abc import Callable

import pytest

from policykit.manifests import shape


@pytest.mark.parametrize(
    ("read", "data", "expected"),
    [
        (shape.mapping, {"a": 1}, {"a": 1}),
        (shape.mapping, ["a"], {}),
        (shape.mappings, [{"a": 1}, "b", None], [{"a": 1}]),
        (shape.mappings, {"a": 1}, []),
        (shape.text, "a", "a"),
        (shape.text, 1, ""),
        (shape.texts, ["a", 1, "b"], ("a", "b")),
        (shape.texts, "ab", ()),
        (shape.pairs, {"a": "b", "c": 1, 2: "d"}, {"a": "b"}),
        (shape.pairs, None, {}),
        (shape.whole, 0, 0),
        (shape.whole, True, None),
        (shape.whole, "1", None),
        (shape.digits, "08", 8),
        (shape.digits, "9" * 18, 10**18 - 1),
        (shape.digits, "9" * 5000, None),
        (shape.digits, "٣", None),
        (shape.digits, "-1", None),
        (shape.digits, "", None),
        (shape.digits, 1, None),
    ],
)
def test_what_is_something_else_is_empty(
    read: Callable[[object], object], data: object, expected: object
) -> None:
    assert read(data) == expected
