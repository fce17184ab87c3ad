"""Merging as laws, over any two or three trees."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from policykit.manifests.parser import parse
from policykit.manifests.writer import dump
from policykit.policy.tree import PolicyFile, SourcedValue, merge, nulls, plain, position, sourced_value

KEYS = st.sampled_from(["a", "b", "c"])
SCALARS = st.one_of(st.integers(-9, 9), st.booleans(), st.sampled_from(["x", "y", "z z"]))
LISTS = st.lists(SCALARS, max_size=3)
MAPS = st.recursive(
    st.one_of(SCALARS, LISTS), lambda below: st.dictionaries(KEYS, below, max_size=3), max_leaves=8
)
TREES = st.dictionaries(KEYS, MAPS, min_size=1, max_size=3)
WITH_NULLS = st.dictionaries(KEYS, st.one_of(st.none(), MAPS, st.dictionaries(KEYS, st.none())), min_size=1)


def tree(data: Any, name: str = "policykit.yaml") -> SourcedValue:
    (document,) = parse(dump(data))
    assert document.root is not None
    return sourced_value(document.root, PolicyFile(name, document.root))


def tuples(data: Any) -> Any:
    """Plain data as `plain` gives it: lists as tuples, nulls gone."""
    if isinstance(data, dict):
        return {key: tuples(value) for key, value in data.items() if value is not None}
    return tuple(tuples(item) for item in data) if isinstance(data, list) else data


def model(base: Any, over: Any) -> Any:
    """JSON merge patch (RFC 7386), which differs only in what it says of nulls that stay."""
    if not (isinstance(base, dict) and isinstance(over, dict)):
        return tuples(over)
    merged = dict(tuples(base))
    for key, value in over.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = model(merged.get(key), value)
    return merged


@given(TREES, WITH_NULLS)
def test_it_is_json_merge_patch(base: Any, over: Any) -> None:
    assert plain(merge(tree(base), tree(over))) == model(base, over)


@given(TREES)
def test_laying_a_tree_on_itself_changes_nothing(data: Any) -> None:
    assert plain(merge(tree(data), tree(data))) == plain(tree(data))


@given(TREES, WITH_NULLS)
def test_laying_it_on_twice_is_laying_it_on_once(base: Any, over: Any) -> None:
    once = merge(tree(base), tree(over))
    assert plain(merge(once, tree(over))) == plain(once)


@given(
    TREES,
    st.dictionaries(KEYS, st.dictionaries(KEYS, SCALARS)),
    st.dictionaries(KEYS, st.dictionaries(KEYS, SCALARS)),
)
def test_maps_of_maps_may_be_grouped_either_way(base: Any, first: Any, second: Any) -> None:
    if not (first and second):
        return
    left = merge(merge(tree(base), tree(first)), tree(second))
    right = merge(tree(base), merge(tree(first), tree(second)))
    assert plain(left) == plain(right)


@given(TREES, KEYS)
def test_null_deletes_and_a_null_below_stays_deleted(base: Any, key: str) -> None:
    deleted = merge(tree(base), tree({key: None}))
    assert key not in plain(deleted)
    assert (key,) in set(nulls(deleted))
    # An overlay that is laid on something else later still deletes.
    assert key not in plain(merge(tree({key: 1}), merge(tree({"z": 1}), tree({key: None}))))


@given(TREES, TREES)
def test_every_value_is_placed_in_the_file_that_said_it(base: Any, over: Any) -> None:
    merged = merge(tree(base, "base"), tree(over, "over"))
    for key, value in merged.value.items():
        if not isinstance(value.value, dict):
            assert position(merged, (key,)).file == ("over" if key in over else "base")
