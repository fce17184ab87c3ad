"""Answers that are kept for the next who asks."""

from policykit.manifests.memoize import once


def test_the_same_object_is_worked_on_once() -> None:
    asked: list[object] = []

    @once
    def size(data: list[int]) -> int:
        asked.append(data)
        return len(data)

    first, equal = [1, 2], [1, 2]
    assert (size(first), size(first)) == (2, 2)
    assert asked == [first]
    assert size(equal) == 2
    assert asked[1] is equal


def test_an_object_is_worked_on_again_after_another() -> None:
    asked: list[int] = []

    @once
    def first(data: list[int]) -> int:
        asked.append(data[0])
        return data[0]

    one, two = [1], [2]
    assert [first(one), first(two), first(one)] == [1, 2, 1]
    assert asked == [1, 2, 1]
