import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.targets.yunikorn import metadata
from policykit.targets.yunikorn.metadata import TaskGroup
from tests.targets.yunikorn.clusters import GIB, GPU

TEXTS = st.dictionaries(st.text(max_size=4), st.text(max_size=4), max_size=2)
MAPS = st.lists(TEXTS, max_size=2).map(tuple)
GROUPS = st.builds(TaskGroup, st.text(max_size=4), st.integers(1, 99), TEXTS, TEXTS, MAPS, TEXTS, MAPS, TEXTS)


@given(st.lists(GROUPS, max_size=3))
def test_what_is_written_reads_back(groups: list[TaskGroup]) -> None:
    found = metadata.read_task_groups(metadata.write_task_groups(groups))
    assert [(each.name, each.fields["minmember"]) for each in found] == [(g.name, g.members) for g in groups]
    assert [each.fields["minresource"] for each in found] == [group.resources for group in groups]


def test_written_in_full() -> None:
    group = TaskGroup(
        "worker",
        4,
        {"cpu": "8", GPU: "8"},
        {"pool": "train"},
        ({"key": "a", "operator": "Exists"},),
        {"nodeAffinity": {}},
        labels={"kind": "training"},
    )
    assert json.loads(metadata.write_task_groups([group])) == [
        {
            "name": "worker",
            "minMember": 4,
            "minResource": {"cpu": "8", GPU: "8"},
            "labels": {"kind": "training"},
            "nodeSelector": {"pool": "train"},
            "tolerations": [{"key": "a", "operator": "Exists"}],
            "affinity": {"nodeAffinity": {}},
        }
    ]


@pytest.mark.parametrize("text", ["", "{", "5", "null", '{"name": "a"}'])
def test_what_is_no_list_has_no_groups(text: str) -> None:
    assert metadata.read_task_groups(text) == ()


def test_keys_are_read_in_any_case() -> None:
    text = '[{"NAME": "a", "minmember": 2, "MINRESOURCE": {"cpu": 1}, "more": 1}]'
    (found,) = metadata.read_task_groups(text)
    assert (found.name, found.fields["minmember"], found.fields["minresource"]) == ("a", 2, {"cpu": 1})
    assert found.inside("minmember") == (0, "minmember")
    assert found.inside("name") == (0, "NAME")


def test_a_placeholder_asks_for_everything_but_pods() -> None:
    asked = {"cpu": 8500, "memory": 4 * GIB, GPU: 8, "pods": 1, "rdma/hca": 0}
    assert metadata.quantities(asked) == {"cpu": "8500m", "memory": "4Gi", GPU: "8"}
