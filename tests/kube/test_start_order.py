"""Which tasks of a Volcano Job wait for others in vain."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.kube.start_order import tasks_that_wait


def task(name: str, replicas: int, least: int | None = None, after: tuple[str, ...] = ()) -> dict[str, Any]:
    found: dict[str, Any] = {"name": name, "replicas": replicas}
    if least is not None:
        found["minAvailable"] = least
    if after:
        found["dependsOn"] = {"name": [*after]}
    return found


@pytest.mark.parametrize(
    ("minimum", "tasks", "waits"),
    [
        pytest.param(3, [task("a", 1), task("b", 2, after=("a",))], (3, 1), id="more than is made first"),
        pytest.param(None, [task("a", 1), task("b", 2, after=("a",))], (3, 1), id="by default all"),
        pytest.param(3, [task("a", 4, 1), task("b", 2, after=("a",))], (3, 4), id="every task's minimum"),
        pytest.param(1, [task("a", 1), task("b", 2, 0, after=("a",))], None, id="the waiting need none"),
        pytest.param(2, [task("a", 4, 1), task("b", 2, after=("a",))], None, id="below the sum of minima"),
        pytest.param(3, [task("a", 1, 0), task("b", 2, after=("a",))], None, id="nothing is held back"),
        pytest.param(3, [task("a", 1), task("b", 2)], None, id="no order"),
        pytest.param(2, [task("a", 1, after=("b",)), task("b", 1, after=("a",))], None, id="a circle"),
    ],
)
def test_tasks(minimum: int | None, tasks: list[dict[str, Any]], waits: tuple[int, int] | None) -> None:
    found = tasks_that_wait({"minAvailable": minimum, "tasks": tasks}, ("spec",))
    assert (found and found[:2]) == waits


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 5) | st.sampled_from(["a", "b"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "replicas", "minAvailable", "dependsOn", "tasks"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["tasks", "minAvailable"]), JSON))
def test_any_shape(job: dict[str, Any]) -> None:
    found = tasks_that_wait(job, ())
    assert found is None or found.path[0] == "tasks"
