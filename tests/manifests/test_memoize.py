"""The last result of a function is kept."""

import pytest

from policykit.manifests.memoize import memoize_last, memoize_last_call


def test_the_same_object_is_computed_once() -> None:
    calls: list[object] = []

    @memoize_last
    def size(data: list[int]) -> int:
        calls.append(data)
        return len(data)

    first, equal = [1, 2], [1, 2]
    assert (size(first), size(first)) == (2, 2)
    assert calls == [first]
    assert size(equal) == 2
    assert calls[1] is equal


def test_an_object_is_computed_again_after_another() -> None:
    calls: list[int] = []

    @memoize_last
    def first(data: list[int]) -> int:
        calls.append(data[0])
        return data[0]

    one, two = [1], [2]
    assert [first(one), first(two), first(one)] == [1, 2, 1]
    assert calls == [1, 2, 1]


def test_several_arguments_are_compared_by_identity() -> None:
    calls: list[tuple[object, ...]] = []

    @memoize_last_call
    def both(one: list[int], two: list[int], three: int = 0) -> int:
        """A sum."""
        calls.append((one, two, three))
        return sum(one) + sum(two) + three

    one, two = [1], [2]
    assert [both(one, two), both(one, two), both(one, [2]), both(one, two), both(one, two, 3)] == [
        3,
        3,
        3,
        3,
        6,
    ]
    assert len(calls) == 4
    assert [both(one, two=two), both(one, two=two)] == [3, 3]
    assert len(calls) == 6
    assert both.__doc__ == "A sum."


def test_an_error_is_not_kept() -> None:
    results: list[int] = []

    @memoize_last
    def only_second(data: list[int]) -> int:
        results.append(1)
        return data[len(results) - 2 - len(data)]

    data = [7]
    with pytest.raises(IndexError):
        only_second(data)
    with pytest.raises(TypeError):
        only_second()  # type: ignore[call-arg]
    assert only_second([5]) == 5
