from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from policykit.manifests import writer
from policykit.targets.volcano.objects import hypernodes
from policykit.targets.volcano.objects.hypernodes import HyperNode, Member, Requirement
from tests.shared import SHARED

NAMES = st.from_regex(r"[a-z0-9]([-a-z0-9.]{0,10}[a-z0-9])?", fullmatch=True)
REQUIREMENTS = st.builds(
    Requirement, NAMES, st.sampled_from(["In", "Exists"]), st.lists(NAMES, max_size=2).map(tuple)
)
LABELS = st.dictionaries(NAMES, NAMES, max_size=2)
MEMBERS = (
    st.tuples(st.sampled_from(["Node", "HyperNode"]), NAMES).map(lambda each: Member(*each))
    | NAMES.map(lambda pattern: Member("Node", pattern=pattern))
    | st.tuples(LABELS, st.lists(REQUIREMENTS, max_size=2)).map(
        lambda each: Member("Node", labels=each[0], requirements=tuple(each[1]))
    )
)
HYPER_NODES = st.builds(
    HyperNode, NAMES, st.integers(0, 9), st.lists(MEMBERS, max_size=3).map(tuple), st.just("") | NAMES
)


@given(HYPER_NODES)
def test_what_is_written_reads_back(hyper_node: HyperNode) -> None:
    assert hypernodes.read(hypernodes.write(hyper_node)) == hyper_node
    assert hypernodes.read(yaml.safe_load(writer.dump(hypernodes.write(hyper_node)))) == hyper_node


def test_written_in_full() -> None:
    members = (
        Member("HyperNode", "rack-1"),
        Member("Node", pattern="^gpu-"),
        Member("Node", labels={"rack": "r1"}, requirements=(Requirement("zone", "DoesNotExist"),)),
    )
    written = hypernodes.write(HyperNode("zone-a", 2, members, "zone"))
    assert written == {
        "apiVersion": "topology.volcano.sh/v1alpha1",
        "kind": "HyperNode",
        "metadata": {"name": "zone-a"},
        "spec": {
            "tier": 2,
            "tierName": "zone",
            "members": [
                {"type": "HyperNode", "selector": {"exactMatch": {"name": "rack-1"}}},
                {"type": "Node", "selector": {"regexMatch": {"pattern": "^gpu-"}}},
                {
                    "type": "Node",
                    "selector": {
                        "labelMatch": {
                            "matchLabels": {"rack": "r1"},
                            "matchExpressions": [{"key": "zone", "operator": "DoesNotExist"}],
                        }
                    },
                },
            ],
        },
    }


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({}, HyperNode("", 0, ())),
        ({"spec": {"tier": "1", "members": {}}}, HyperNode("", 0, ())),
        ({"spec": {"tier": 1, "members": [3, {"type": "Node"}]}}, HyperNode("", 1, (Member("Node"),))),
        (
            {"spec": {"members": [{"type": "Node", "selector": {"name": "n1", "labelMatch": []}}]}},
            HyperNode("", 0, (Member("Node"),)),
        ),
    ],
    ids=["empty", "types", "members", "old-form"],
)
def test_other_shapes_are_empty(data: dict[str, Any], expected: HyperNode) -> None:
    assert hypernodes.read(data) == expected


@pytest.mark.skipif(SHARED is None, reason="needs ../shared")
def test_published_ones_are_read_whole() -> None:
    assert SHARED is not None
    found = []
    for path in sorted((SHARED / "corpus/volcano").glob("*.yaml")):
        for data in yaml.safe_load_all(path.read_text()):
            if isinstance(data, dict) and data.get("kind") == "HyperNode":
                read = hypernodes.read(data)
                assert hypernodes.read(hypernodes.write(read)) == read
                found.append(read.name)
    assert found
