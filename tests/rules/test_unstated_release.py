"""Where a policy states no release, only what every supported release refuses is an error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml

from policykit.model.release import ReleaseFact
from policykit.model.severity import Severity
from policykit.targets import TARGETS
from policykit.targets.releases import facts, table
from tests.clusters import cluster
from tests.rules.test_cases import linted

POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "a", "namespace": "b"},
    "spec": {"containers": [{"name": "c", "image": "registry.example/c:1"}]},
}
KUBE_SCHEDULER = "kubescheduler.config.k8s.io/v1"


def pod(what: str) -> Callable[[ReleaseFact], Any]:
    return lambda fact: {**POD, "metadata": {**POD["metadata"], what: {fact.name: stated(fact)}}}


def stated(fact: ReleaseFact) -> str:
    """A value that has the part which is dated."""
    return f'{{"{fact.part_name}": null}}' if fact.part.startswith("/") else fact.part or "true"


def volcano(plugin: dict[str, Any]) -> dict[str, Any]:
    """The scheduler's configuration with one plugin more."""
    return {"actions": "enqueue, allocate, backfill", "tiers": [{"plugins": [{"name": "gang"}, plugin]}]}


def scheduler(profile: dict[str, Any]) -> dict[str, Any]:
    named = {"schedulerName": "koord-scheduler", **profile}
    return {"apiVersion": KUBE_SCHEDULER, "kind": "KubeSchedulerConfiguration", "profiles": [named]}


def volcano_argument(fact: ReleaseFact) -> dict[str, Any]:
    plugin, _, key = fact.name.partition(": ")
    return volcano({"name": plugin, "arguments": {key: "${VALUE}"}})


def koordinator_plugin(fact: ReleaseFact) -> dict[str, Any]:
    return scheduler({"plugins": {"multiPoint": {"enabled": [{"name": fact.name}]}}})


def koordinator_argument(fact: ReleaseFact) -> dict[str, Any]:
    plugin, _, key = fact.name.partition(": ")
    return scheduler({"pluginConfig": [{"name": plugin, "args": {key: "${VALUE}"}}]})


def coscheduling_argument(fact: ReleaseFact) -> dict[str, Any]:
    config = {"name": "Coscheduling", "args": {fact.name.removeprefix("Coscheduling: "): "${VALUE}"}}
    return scheduler({"schedulerName": "gangs", "pluginConfig": [config]})


def scheduler_field(fact: ReleaseFact) -> dict[str, Any]:
    if fact.name.endswith("Timeout"):
        return scheduler({"pluginConfig": [{"name": "DynamicResources", "args": {fact.name: "5s"}}]})
    return scheduler({"plugins": {fact.name: {"enabled": []}}})


def job(fact: ReleaseFact) -> dict[str, Any]:
    task = {"name": "worker", "replicas": 1, "template": {"spec": {**POD["spec"], "restartPolicy": "Never"}}}
    spec = {"schedulerName": "volcano", "minAvailable": 1, "plugins": {fact.name: []}, "tasks": [task]}
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": POD["metadata"],
        "spec": spec,
    }


def queues(more: dict[str, Any], queue: dict[str, Any]) -> dict[str, Any]:
    root = {"name": "root", "submitacl": "*", "queues": [{"name": "a", **queue}]}
    return {"partitions": [{"name": "default", "queues": [root], **more}]}


def setting(fact: ReleaseFact) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "yunikorn-configs", "namespace": "yunikorn"},
        "data": {fact.name: "1"},
    }


def partition(fact: ReleaseFact) -> dict[str, Any]:
    """`preemption.quotapreemptionenabled of a partition`, and others."""
    values: dict[str, Any] = {
        "statedumpfilepath": {"statedumpfilepath": "/tmp/state"},
        "usergroupresolver": {"usergroupresolver": {"type": "os"}},
        "preemption.quotapreemptionenabled": {"preemption": {"quotapreemptionenabled": True}},
    }
    return queues(values[fact.name.partition(" of ")[0]], {})


STATABLE = ("volcano", "koordinator", "yunikorn", "kueue")
"""Targets whose release a policy states; that of Kubernetes is `kubernetes`."""
MADE: dict[tuple[str, str], Callable[[ReleaseFact], Any]] = {
    ("volcano", "plugin"): lambda fact: volcano({"name": fact.name}),
    ("volcano", "argument"): volcano_argument,
    ("volcano", "job plugin"): job,
    ("koordinator", "plugin"): koordinator_plugin,
    ("koordinator", "argument"): koordinator_argument,
    ("coscheduling", "plugin argument"): coscheduling_argument,
    ("kubernetes", "scheduler field"): scheduler_field,
    ("yunikorn", "setting"): setting,
    ("yunikorn", "property"): lambda fact: queues({}, {"properties": {fact.name: fact.part or "1"}}),
    ("yunikorn", "field"): partition,
}
"""System and kind of fact to an object that has it. Labels and annotations are tried on a pod."""
NOT_IN_A_FILE = frozenset(
    {
        "formula",
        "default",
        "check",
        "crash",
        "value",
        "apiVersion",
        "gate on",
        "kind",
        "annotation of owner",
        "scheduler args",
    }
)
"""What a release does, or what the rule of its own object is tested for."""


def dated() -> Iterator[Any]:
    for target in TARGETS:
        for fact in facts(target):
            if fact.what not in NOT_IN_A_FILE:
                name = f"{target.name}: {fact.what} {fact.name} {fact.part}".strip()
                yield pytest.param(target.name, fact, id=name)


@pytest.mark.parametrize(("name", "fact"), list(dated()))
def test_what_only_some_releases_know_is_no_error(name: str, fact: ReleaseFact) -> None:
    metadata = {
        "label": pod("labels"),
        "annotation": pod("annotations"),
        "topology request": pod("annotations"),
    }
    data = (MADE.get((name, fact.what)) or metadata[fact.what])(fact)
    targets: dict[str, Any] = {each: {} for each in STATABLE}
    unstated = errors(data, {"targets": targets})
    for version in releases(name) if unstated else ():
        stated = (
            {"kubernetes": version, "targets": targets}
            if name == "kubernetes"
            else {"targets": {**targets, name: {"version": version}}}
        )
        assert unstated <= errors(data, stated), version


def releases(name: str) -> list[str]:
    known = next(table(target) for target in TARGETS if target.name == name)
    assert known is not None
    return [str(version) for version in known.minors] if name in (*STATABLE, "kubernetes") else []


def errors(data: dict[str, Any], policy: dict[str, Any]) -> set[tuple[str, int]]:
    """Codes of the errors with their lines."""
    report = linted("unknown-field", {_file(data): yaml.safe_dump(data).encode()}, cluster(policy))
    return {(each.code, each.span.line) for each in report.findings if each.severity is Severity.ERROR}


def _file(data: dict[str, Any]) -> str:
    """Where the program looks for such data."""
    if "partitions" in data:
        return "queues.yaml"
    return "volcano-scheduler.conf" if "tiers" in data else "case.yaml"
