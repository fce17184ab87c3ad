from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from policykit.manifests import writer
from policykit.targets.volcano.objects import podgroups
from policykit.targets.volcano.objects.podgroups import PodGroup
from policykit.targets.volcano.objects.topology import NetworkTopology
from tests.shared import SHARED
from tests.targets.volcano.clusters import GIB, GPU
from tests.targets.volcano.objects.test_queues import AMOUNTS, NAMES

TEXT = st.just("") | NAMES
BOUNDS = (
    st.none()
    | st.tuples(st.sampled_from(["hard", "soft"]), st.none() | st.integers(0, 5)).map(
        lambda b: NetworkTopology(*b)
    )
    | NAMES.map(lambda name: NetworkTopology("hard", None, name))
)
GROUPS = st.builds(
    PodGroup,
    namespace=TEXT,
    name=NAMES,
    min_member=st.integers(0, 99),
    queue=TEXT,
    priority_class=TEXT,
    min_resources=AMOUNTS,
    bound=BOUNDS,
    min_task_member=st.dictionaries(NAMES, st.integers(0, 9), max_size=2),
)


@given(GROUPS)
def test_what_is_written_reads_back(group: PodGroup) -> None:
    assert podgroups.read(podgroups.write(group)) == group
    assert podgroups.read(yaml.safe_load(writer.dump(podgroups.write(group)))) == group


def test_written_in_full() -> None:
    group = PodGroup(
        "team-a", "llm", 4, "a", "high", {GPU: 32, "memory": GIB}, NetworkTopology("hard", 1), {"worker": 3}
    )
    written = podgroups.write(group)
    assert written == {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "llm", "namespace": "team-a"},
        "spec": {
            "minMember": 4,
            "minTaskMember": {"worker": 3},
            "queue": "a",
            "priorityClassName": "high",
            "minResources": {"memory": "1Gi", GPU: "32"},
            "networkTopology": {"mode": "hard", "highestTierAllowed": 1},
        },
    }


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"metadata": [], "spec": "x"},
        {"spec": {"minMember": "4", "queue": 1, "minTaskMember": {"a": "b"}}},
    ],
    ids=["empty", "shapes", "types"],
)
def test_other_shapes_are_empty(data: dict[str, Any]) -> None:
    assert podgroups.read(data) == PodGroup("", "", 0)


@pytest.mark.skipif(SHARED is None, reason="needs ../shared")
def test_valid_by_the_crd() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    assert SHARED is not None
    crd = yaml.safe_load((SHARED / "corpus/crds/volcano/scheduling.volcano.sh_podgroups.yaml").read_text())
    served = {version["name"]: version for version in crd["spec"]["versions"]}
    schema = served["v1beta1"]["schema"]["openAPIV3Schema"]
    group = PodGroup("a", "b", 4, "q", "high", {GPU: 8}, NetworkTopology("soft", tier_name="rack"), {"w": 4})
    written = podgroups.write(group)
    jsonschema.validate(written, schema)
    assert set(written["spec"]) <= set(schema["properties"]["spec"]["properties"])
