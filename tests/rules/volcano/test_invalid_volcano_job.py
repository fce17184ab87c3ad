"""Circles among tasks, held against a topological sort."""

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from policykit.rules.volcano.invalid_volcano_job import Dependent, dependency_violations

NAMES = ("a", "b", "c", "d", "e")
GRAPHS = st.dictionaries(
    st.sampled_from(NAMES), st.sets(st.sampled_from(NAMES)).map(sorted).map(tuple), min_size=1
)


def waiting(after: Mapping[str, tuple[str, ...]]) -> list[Dependent]:
    return [Dependent("task", name, ("tasks", name), targets) for name, targets in after.items()]


def sorts(after: Mapping[str, tuple[str, ...]]) -> bool:
    """Kahn's way, as the webhook goes."""
    left = {name: set(targets) for name, targets in after.items()}
    while ready := [name for name, targets in left.items() if not targets & left.keys()]:
        left = {name: targets for name, targets in left.items() if name not in ready}
    return not left


@given(GRAPHS)
def test_something_is_said_exactly_where_there_is_no_order(after: dict[str, tuple[str, ...]]) -> None:
    known = {name: tuple(each for each in targets if each in after) for name, targets in after.items()}
    assert bool(list(dependency_violations(waiting(known)))) != sorts(known)


@given(GRAPHS)
def test_unknown_names_are_each_said_once(after: dict[str, tuple[str, ...]]) -> None:
    unknown = [(name, each) for name, targets in after.items() for each in targets if each not in after]
    said = [
        found.message for found in dependency_violations(waiting(after)) if "does not exist" in found.message
    ]
    assert said == [f"task {name} depends on {each}, which does not exist" for name, each in unknown]
