from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from policykit.manifests import writer
from policykit.manifests.document import span
from policykit.manifests.embedded import embedded
from policykit.manifests.parser import parse
from policykit.manifests.path import Path
from policykit.model.queue import Queue
from policykit.targets.yunikorn.configuration import configmap, partition
from policykit.targets.yunikorn.derived.configured import configured
from policykit.targets.yunikorn.generate import generate, text
from policykit.targets.yunikorn.read import place, read
from tests.targets.yunikorn.clusters import cluster, target

QUEUES = "partitions:\n  - name: default\n    queues:\n      - name: root\n"
HEAD = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "yunikorn-configs"}}


def held(data: dict[str, str], **more: Any) -> str:
    return writer.dump({**HEAD, **more, "data": data})


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (QUEUES, [(0, (), None)]),
        (f"---\nkind: Pod\n---\n{QUEUES}", [(1, (), None)]),
        (held({"queues.yaml": QUEUES}), [(0, ("data", "queues.yaml"), ())]),
        (
            held({"service.policyGroup": "mine", "queues.yaml": QUEUES, "mine.yaml": QUEUES}),
            [(0, ("data", "mine.yaml"), ())],
        ),
        (
            writer.dump({"kind": "List", "items": [{}, {**HEAD, "data": {"queues.yaml": QUEUES}}]}),
            [(0, ("items", 1, "data", "queues.yaml"), ())],
        ),
        (
            writer.dump({"yunikornDefaults": {"queues.yaml": QUEUES}}),
            [(0, ("yunikornDefaults", "queues.yaml"), ())],
        ),
        (held({"queues.yaml": QUEUES}, metadata={"name": "other"}), []),
        (held({"queues.yaml": "a: ["}), []),
        (held({"queues.yaml": "5"}), []),
        ("partitions: 5\n", []),
        ("a: [", []),
    ],
    ids=[
        "plain",
        "second-document",
        "config-map",
        "policy-group",
        "list",
        "helm-values",
        "other-config-map",
        "not-yaml",
        "not-queues",
        "no-list",
        "broken",
    ],
)
def test_places(text: str, places: list[tuple[int, Path, Path | None]]) -> None:
    assert [(found.document, found.path, found.inner) for found in read(text)] == places


@given(st.text("partions: -[]{}\n|>", max_size=40))
def test_any_text_is_read(text: str) -> None:
    assert len(read(text)) <= text.count("partitions")


@pytest.mark.parametrize("delivery", ["manifest", "helm-values"])
def test_what_is_generated_reads_back(delivery: str) -> None:
    made = cluster(Queue("a", limit={"cpu": 1500}), Queue("b", "a"), delivery=delivery)
    (found,) = read(generate(made).artifacts[0].text)
    assert found.value == configured(made, target(made)).configuration


def test_the_place_of_a_limit_in_the_file() -> None:
    made = cluster(Queue("a", limit={"cpu": 4000}), Queue("b", "a", limit={"cpu": 1500}))
    file = generate(made).artifacts[0].text
    (found,) = read(file)
    queue = place(found.value, "root.a.b")
    assert queue == ("partitions", 0, "queues", 0, "queues", 0, "queues", 0)
    node: Any = next(iter(parse(file))).root
    for step in found.path:
        node = node.entries[step][1]
    inside = embedded(file, found.path, node)
    inner = next(iter(parse(inside.text))).root
    assert inner is not None
    where = span(inner, (*queue, "resources", "max", "vcore"))
    line, column = inside.place(file, where.line - 1, where.column - 1)
    assert file.splitlines()[line][column:] == "1500m"


@pytest.mark.parametrize(
    ("text", "queue", "path"),
    [
        (QUEUES, "root", ("partitions", 0, "queues", 0)),
        ("partitions: [{queues: [{name: A}, {name: b}]}]", "root.a", ("partitions", 0, "queues", 0)),
        (QUEUES, "root.a", None),
    ],
    ids=["root", "root-inserted", "nowhere"],
)
def test_places_of_queues(text: str, queue: str, path: Path | None) -> None:
    assert place(read(text)[0].value, queue) == path


def test_entries_of_either_config_map() -> None:
    entries = configmap.entries(QUEUES, "mine", {"log.level": "debug"})
    assert entries == {"log.level": "debug", "service.policyGroup": "mine", "mine.yaml": QUEUES}
    assert configmap.entries(QUEUES, "queues", {}) == {"queues.yaml": QUEUES}


def test_reasons_stand_on_top_as_comments() -> None:
    made = cluster(Queue("a"))
    shown = text(configured(made, target(made)))
    assert shown.startswith("# Weight of nvidia.com/gpu: one card of 8 per node outweighs")
    assert partition.read(yaml.safe_load(shown)) == configured(made, target(made)).configuration
