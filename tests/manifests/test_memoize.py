"""The last result of a function is kept."""

from policykit.manifests.memoize import memoize_last


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
