from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from policykit.manifests import writer
from policykit.targets.yunikorn.configuration import queues_yaml
from policykit.targets.yunikorn.configuration.placement_rules import Filter, Rule
from policykit.targets.yunikorn.configuration.queues_yaml import (
    ChildTemplate,
    Configuration,
    Limit,
    NodeSort,
    Partition,
    Preemption,
    Queue,
)
from policykit.targets.yunikorn.configuration.values import Resources

TEXT = st.text("abz019.:*- ", max_size=6)
TEXTS = st.dictionaries(TEXT, TEXT, max_size=2)
NAMES = st.lists(TEXT, max_size=2).map(tuple)
COUNTS = st.integers(0, 1 << 40)
FLAGS = st.none() | st.booleans()
RESOURCES = st.builds(Resources, st.none() | TEXTS, st.none() | TEXTS)
LIMITS = st.lists(st.builds(Limit, TEXT, NAMES, NAMES, TEXTS, COUNTS), max_size=2).map(tuple)
FILTERS = st.builds(Filter, TEXT, NAMES, NAMES)
RULES = st.recursive(
    st.builds(Rule, TEXT, TEXT, st.booleans(), FILTERS),
    lambda parents: st.builds(Rule, TEXT, TEXT, st.booleans(), FILTERS, parents),
    max_leaves=3,
)


def queues(children: Any) -> Any:
    return st.builds(
        Queue,
        TEXT,
        st.booleans(),
        TEXT,
        TEXT,
        RESOURCES,
        COUNTS,
        TEXTS,
        st.builds(ChildTemplate, COUNTS, TEXTS, RESOURCES),
        LIMITS,
        children,
    )


QUEUES = st.recursive(
    queues(st.just(())), lambda below: queues(st.lists(below, max_size=2).map(tuple)), max_leaves=4
)
WEIGHTS = st.dictionaries(TEXT, st.integers(0, 9) | st.floats(0, 9), max_size=2)
PARTITIONS = st.builds(
    Partition,
    TEXT,
    st.none() | st.lists(QUEUES, max_size=2).map(tuple),
    st.lists(RULES, max_size=2).map(tuple),
    LIMITS,
    st.builds(Preemption, FLAGS, FLAGS),
    st.builds(NodeSort, TEXT, WEIGHTS),
    TEXT,
)
CONFIGURATIONS = st.builds(Configuration, st.lists(PARTITIONS, max_size=2).map(tuple), TEXT)


@given(CONFIGURATIONS)
def test_what_is_written_reads_back(configuration: Configuration) -> None:
    written = queues_yaml.write(configuration)
    assert queues_yaml.read(written) == configuration
    assert queues_yaml.read(yaml.safe_load(writer.dump(written))) == configuration


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["partitions", "queues", "name", "limits", "resources", "max", "filter", "users"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(ANYTHING)
def test_any_shape_is_read(data: object) -> None:
    assert queues_yaml.read({"partitions": data}).checksum == ""


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (None, Configuration()),
        ({"partitions": [{}]}, Configuration((Partition("", None),))),
        (
            {"partitions": [{"name": "default", "queues": [None, [], {"name": 5, "parent": "yes"}]}]},
            Configuration((Partition("default", (Queue(""), Queue("5", parent=True))),)),
        ),
        (
            {"partitions": [{"name": "x", "preemption": {"enabled": "off"}, "queues": None}]},
            Configuration((Partition("x", None, preemption=Preemption(enabled=False)),)),
        ),
    ],
    ids=["nothing", "empty", "odd-queues", "words-of-yaml-1.1"],
)
def test_other_shapes_read_as_defaults(data: object, expected: Configuration) -> None:
    assert queues_yaml.read(data) == expected


@pytest.mark.parametrize(
    ("names", "inserted"),
    [([], True), (["root"], False), (["Root"], False), (["a"], True), (["root", "a"], True)],
    ids=["none", "root", "any-case", "other", "two"],
)
def test_a_root_is_inserted_unless_there_is_one_alone(names: list[str], inserted: bool) -> None:
    assert Partition("default", tuple(map(Queue, names))).inserted_root is inserted


def test_written_in_full() -> None:
    queue = Queue(
        "a",
        submit="ann dev",
        resources=Resources({"vcore": "4"}, {}),
        limits=(Limit("", ("*",), (), {"vcore": "1"}, 2),),
    )
    written = queues_yaml.write(
        Configuration(
            (
                Partition(
                    queues=(Queue("root", parent=True, queues=(queue,)),),
                    rules=(Rule("tag", "namespace", create=True, parent=Rule("fixed", "root.a")),),
                    preemption=Preemption(enabled=False),
                    node_sort=NodeSort("binpacking", {"vcore": 1.0, "memory": 0.5}),
                ),
            )
        )
    )
    assert written == {
        "partitions": [
            {
                "name": "default",
                "nodesortpolicy": {"type": "binpacking", "resourceweights": {"memory": 0.5, "vcore": 1}},
                "preemption": {"enabled": False},
                "placementrules": [
                    {
                        "name": "tag",
                        "value": "namespace",
                        "create": True,
                        "parent": {"name": "fixed", "value": "root.a"},
                    }
                ],
                "queues": [
                    {
                        "name": "root",
                        "parent": True,
                        "queues": [
                            {
                                "name": "a",
                                "submitacl": "ann dev",
                                "resources": {"guaranteed": {"vcore": "4"}, "max": {}},
                                "limits": [
                                    {"users": ["*"], "maxapplications": 2, "maxresources": {"vcore": "1"}}
                                ],
                            }
                        ],
                    }
                ],
            }
        ]
    }
