"""Everything of Volcano in a text, with where it stands."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.catalogue.volcano.configuration import Configuration, Plugin
from policykit.manifests import writer
from policykit.manifests.embedded import embedded
from policykit.manifests.parser import parse
from policykit.model.queue import Queue
from policykit.targets.reading import Read
from policykit.targets.volcano.generate import generate
from policykit.targets.volcano.jobs.objects import Job
from policykit.targets.volcano.objects import queues
from policykit.targets.volcano.objects.hypernodes import HyperNode
from policykit.targets.volcano.objects.podgroups import PodGroup
from policykit.targets.volcano.read import objects, read
from tests.shared import SHARED
from tests.targets.volcano.clusters import GPU, cluster

CONF = """\
actions: "allocate, backfill"
tiers:
- plugins:
  - name: binpack
    arguments: {binpack.weight: 3}
"""
BINPACK = Plugin("binpack", {}, {"binpack.weight": 3}, ("tiers", 0, "plugins", 0))
READ = Configuration(("allocate", "backfill"), ((BINPACK,),))


def inside(lead: str, indent: int) -> str:
    return lead + "".join(f"{' ' * indent}{line}\n" for line in CONF.splitlines())


@pytest.mark.parametrize(
    ("text", "document", "path", "inner"),
    [
        pytest.param(CONF, 0, (), None, id="bare"),
        pytest.param(
            inside("# first\n---\nkind: ConfigMap\ndata:\n  volcano-scheduler.conf: |\n", 4),
            0,
            ("data", "volcano-scheduler.conf"),
            (),
            id="config-map",
        ),
        pytest.param(
            inside("a: 1\n---\ncustom:\n  scheduler_config_override: |\n", 4),
            1,
            ("custom", "scheduler_config_override"),
            (),
            id="helm-values",
        ),
        pytest.param(
            inside(
                "kind: HelmRelease\nspec:\n  values:\n    custom:\n      scheduler_config_override: |\n", 8
            ),
            0,
            ("spec", "values", "custom", "scheduler_config_override"),
            (),
            id="helm-release",
        ),
        pytest.param(
            inside(
                "kind: List\nitems:\n- kind: Secret\n"
                "- kind: ConfigMap\n  data:\n    volcano-scheduler.conf: |\n",
                6,
            ),
            0,
            ("items", 1, "data", "volcano-scheduler.conf"),
            (),
            id="list",
        ),
    ],
)
def test_a_configuration_wherever_it_stands(text: str, document: int, path: Any, inner: Any) -> None:
    assert read(text) == [Read(READ, document, path, inner)]


def test_the_place_of_a_plugin_in_the_outer_file() -> None:
    text = inside("custom:\n  scheduler_config_override: |\n", 4)
    found = read(text)[0]
    node: Any = next(iter(parse(text))).root
    for step in found.path:
        node = node.entries[step][1]
    held = embedded(text, found.path, node)
    inner: Any = next(iter(parse(held.text))).root
    for step in found.value.plugin("binpack").path:
        inner = inner.entries[step][1] if isinstance(inner.entries, dict) else inner.entries[step]
    line, column = held.place(text, inner.start.line, inner.start.column)
    assert text.splitlines()[line][column:] == "name: binpack"


def test_objects_in_their_order() -> None:
    text = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: a}
spec: {capability: {nvidia.com/gpu: 8}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: g, namespace: ml}
spec: {minMember: 4}
---
apiVersion: kai.scheduler/v2
kind: Queue
metadata: {name: another-systems}
---
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {name: rack-1}
spec: {tier: 1, members: []}
"""
    assert read(text) == [
        Read(Queue("a", limit={GPU: 8})),
        Read(PodGroup("ml", "g", 4), 1),
        Read(HyperNode("rack-1", 1, ()), 3),
    ]


def test_what_is_generated_reads_back() -> None:
    wanted = (Queue("a", deserved={GPU: 8}), Queue("b", "a", deserved={GPU: 4}))
    text = "".join(
        artifact.text
        for artifact in generate(cluster(queues=wanted)).artifacts
        if artifact.path.endswith("queues.yaml")
    )
    assert [found.value for found in read(text)] == list(wanted)
    assert [found.document for found in read(text)] == [0, 1]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "3",
        "kind: ConfigMap\ndata: 3\n",
        "custom: {scheduler_config_override: 7}",
        "a: [",
        "kind: List\nitems: 3",
    ],
)
def test_nothing_of_volcano(text: str) -> None:
    assert read(text) == []


@given(
    st.text(max_size=60) | st.sampled_from(["tiers: {}", "tiers:\n- plugins: 3\n", "kind: Queue\nspec: 3"])
)
def test_any_text_is_read(text: str) -> None:
    assert isinstance(read(text), list)


def test_two_queues_written_as_a_list() -> None:
    text = writer.dump(
        {"apiVersion": "v1", "kind": "List", "items": [queues.write(Queue("a")), queues.write(Queue("b"))]}
    )
    assert [(found.value, found.path) for found in read(text)] == [
        (Queue("a"), ("items", 0)),
        (Queue("b"), ("items", 1)),
    ]


@pytest.mark.skipif(SHARED is None, reason="needs ../shared")
def test_real_configurations_are_found() -> None:
    assert SHARED is not None
    names = sorted((SHARED / "corpus/volcano").glob("*scheduler*conf*.yaml"))
    found = {path.name: [each.value for each in read(path.read_text())] for path in names}
    assert len(found) >= 10
    assert all(len(each) == 1 and each[0].actions and each[0].tiers for each in found.values())


OBJECTS = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: a}
spec: {capability: {cpu: 4}}
---
apiVersion: v1
kind: List
items:
  - {apiVersion: v1, kind: Pod}
  - {apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: g}, spec: {minMember: 2}}
  - {apiVersion: batch/v1, kind: Job, metadata: {name: not-volcano}}
  - {apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j}, spec: {minAvailable: 3}}
---
{apiVersion: topology.volcano.sh/v1alpha1, kind: HyperNode, metadata: {name: h}, spec: {tier: 1}}
---
[: not yaml
"""


def test_every_object_with_where_it_stands() -> None:
    assert objects(OBJECTS) == [
        Read(Queue("a", limit={"cpu": 4000}), 0, ()),
        Read(PodGroup("", "g", 2), 1, ("items", 1)),
        Read(Job("", "j", (), min_available=3), 1, ("items", 3)),
        Read(HyperNode("h", 1, ()), 2, ()),
    ]
