"""A newer generation over an older one: what is gone is pruned, the rest is changed in place."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from policykit.manifests.writer import dump, dump_all
from policykit.policy.load import load
from policykit.workspace.files import read
from tests.cluster.cluster import Cluster
from tests.cluster.test_apply import generated
from tests.cluster.test_live import Person

OLDER: dict[str, Any] = {
    "apiVersion": "policykit.io/v1alpha1",
    "kind": "Policy",
    "metadata": {"name": "demo"},
    "domain": "a.example.com",
    "cards": {"h20": {"product": "NVIDIA-H20"}},
    "pools": {"train": {"usage": "training", "card": "h20", "nodes": 4}},
    "targets": {"volcano": {}, "kueue": {}},
    "queues": {
        "research": {"limit": {"h20": 16}},
        "product": {"weight": 2, "limit": {"h20": 8}},
    },
    "priorities": {"urgent": {"value": 1000}, "normal": {"value": 10}},
    "quotas": {"research": {"namespace": "default", "requests": {"h20": 16}}},
}


def newer() -> dict[str, Any]:
    """Another limit, a queue more, a queue and a priority less."""
    policy = deepcopy(OLDER)
    policy["queues"]["research"]["limit"]["h20"] = 24
    policy["queues"]["evaluation"] = {"limit": {"h20": 4}}
    policy["quotas"]["research"]["requests"]["h20"] = 24
    del policy["queues"]["product"]
    del policy["priorities"]["normal"]
    return policy


def objects_of(folder: Path, policy: dict[str, Any]) -> list[dict[str, Any]]:
    """What a policy generates; it is left in the folder."""
    (folder / "policykit.yaml").write_text(dump(policy))
    return generated(load(str(folder / "policykit.yaml"), read).cluster)


def names(objects: list[dict[str, Any]]) -> set[tuple[str, str]]:
    return {(one["kind"], one["metadata"]["name"]) for one in objects}


def apply(cluster: Cluster, objects: list[dict[str, Any]]) -> list[str]:
    """Applies a generation, and prunes what an earlier one had and this one has not."""
    words = ("apply", "--validate=strict", "--prune", "--applyset=configmap/demo", "-n", "default", "-f", "-")
    text = dump_all(objects)
    return cluster.plane.kubectl(*words, text=text, KUBECTL_APPLYSET="true").splitlines()


@pytest.mark.usefixtures("defined")
def test_an_older_generation_is_replaced(cluster: Cluster) -> None:
    (cluster.folder / ".git").mkdir()
    before = objects_of(cluster.folder, OLDER)
    apply(cluster, before)
    after = objects_of(cluster.folder, newer())
    lines = apply(cluster, after)
    gone = names(before) - names(after)
    assert len(gone) >= 3
    assert len([line for line in lines if line.endswith(" pruned")]) == len(gone)
    for kind, name in gone:
        assert "NotFound" in cluster.kubectl("get", kind_of(before, kind), name, fails=True)
    again = [line for line in apply(cluster, after) if not line.endswith((" unchanged", " applyset"))]
    assert again == []
    result = Person(cluster.folder, cluster.plane, cluster.plane.token).run("gen", "--check", "--live")
    cluster.delete(after)
    assert (result.code, result.err.count("differs"), result.err.count("missing")) == (0, 0, 0)


@pytest.mark.usefixtures("defined")
def test_what_nobody_pruned_is_found(cluster: Cluster) -> None:
    """By the label that the kustomization gives the objects, and nothing else."""
    (cluster.folder / ".git").mkdir()
    person = Person(cluster.folder, cluster.plane, cluster.plane.token)
    before = objects_of(cluster.folder, OLDER)
    assert person.run("gen", "-o", "generated").code == 0
    cluster.kubectl("apply", "-k", str(cluster.folder / "generated"))
    after = objects_of(cluster.folder, newer())
    assert person.run("gen", "-o", "generated", "--prune").code == 0
    cluster.kubectl("apply", "-k", str(cluster.folder / "generated"))
    result = person.run("gen", "--check", "--live")
    cluster.delete([*before, *after])
    gone = names(before) - names(after)
    assert result.code == 1
    assert result.err.count("is no longer generated") == len(gone)
    assert (result.err.count("differs"), result.err.count("missing")) == (0, 0)


def kind_of(objects: list[dict[str, Any]], kind: str) -> str:
    """With its group: several systems have a Queue."""
    group = next(one["apiVersion"] for one in objects if one["kind"] == kind).rpartition("/")[0]
    return f"{kind}.{group}" if group else kind


def test_the_value_of_a_priority_cannot_be_changed(cluster: Cluster) -> None:
    """The class must be deleted first: the server says so, and `gen --check --live` names it."""
    (cluster.folder / ".git").mkdir()
    policy = deepcopy(OLDER)
    before = [one for one in objects_of(cluster.folder, policy) if one["kind"] == "PriorityClass"]
    cluster.apply(before)
    policy["priorities"]["urgent"]["value"] = 2000
    after = [one for one in objects_of(cluster.folder, policy) if one["kind"] == "PriorityClass"]
    text = yaml.safe_dump_all(after)
    refused = cluster.kubectl("apply", "--validate=strict", "-f", "-", text=text, fails=True)
    assert "value: Forbidden: may not be changed in an update" in refused
    result = Person(cluster.folder, cluster.plane, cluster.plane.token).run("gen", "--check", "--live")
    assert result.code == 1
    assert "PriorityClass urgent differs" in result.err
