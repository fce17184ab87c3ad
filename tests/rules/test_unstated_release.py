"""Where a policy states no release, only what every supported release refuses is an error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from policykit.errors import PolicykitError
from policykit.model.release import ReleaseFact
from policykit.model.severity import Severity
from policykit.targets import TARGETS
from policykit.targets.releases import facts, table
from tests.clusters import cluster
from tests.rules.test_cases import linted, read

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


def action(fact: ReleaseFact) -> dict[str, Any]:
    name, _, key = fact.name.partition(": ")
    made: dict[str, Any] = {
        **volcano({"name": "predicates"}),
        "actions": f"enqueue, allocate, {name}, backfill",
    }
    return {**made, "configurations": [{"name": name, "arguments": {key: "${VALUE}"}}]} if key else made


def policies(fact: ReleaseFact) -> dict[str, Any]:
    """A job with an event, as `PodPending of a job's policies`, or an action."""
    event = fact.name.partition(" ")[0] if fact.what == "event" else "PodFailed"
    name = fact.name if fact.what == "policy action" else "RestartJob"
    made = job(ReleaseFact("job plugin", "svc"))
    made["spec"]["policies"] = [{"event": event, "action": name, "timeout": "5m"}]
    return made


def extension_point(fact: ReleaseFact) -> dict[str, Any]:
    plugin, _, point = fact.name.partition(" at ")
    others = [{"name": "*"}] if point == "queueSort" else []
    chosen: dict[str, Any] = {point: {"enabled": [{"name": plugin}], "disabled": others}}
    if point == "score":
        chosen["preScore"] = {"enabled": [{"name": plugin}]}
    return scheduler({"plugins": chosen})


def scheduler(profile: dict[str, Any]) -> dict[str, Any]:
    named = {"schedulerName": "koord-scheduler", **profile}
    return {"apiVersion": KUBE_SCHEDULER, "kind": "KubeSchedulerConfiguration", "profiles": [named]}


def volcano_argument(fact: ReleaseFact) -> dict[str, Any]:
    plugin, _, key = fact.name.partition(": ")
    return volcano({"name": plugin, "arguments": {key: "${VALUE}"}})


def scheduler_plugin(fact: ReleaseFact) -> dict[str, Any]:
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


def integration(fact: ReleaseFact) -> dict[str, Any]:
    head = {"apiVersion": "config.kueue.x-k8s.io/v1beta1", "kind": "Configuration"}
    selector = {"matchLabels": {"kueue-managed": "true"}}
    listed = {"frameworks": ["pod", fact.name]}
    return {**head, "managedJobsNamespaceSelector": selector, "integrations": listed}


STATABLE = ("volcano", "koordinator", "yunikorn", "kueue")
"""Targets whose release a policy states; that of Kubernetes is `kubernetes`."""
MADE: dict[tuple[str, str], Callable[[ReleaseFact], Any]] = {
    ("volcano", "plugin"): lambda fact: volcano({"name": fact.name}),
    ("volcano", "argument"): volcano_argument,
    ("volcano", "action"): action,
    ("volcano", "action argument"): action,
    ("volcano", "flag"): lambda fact: volcano({"name": "proportion", fact.name: True}),
    ("volcano", "job plugin"): job,
    ("volcano", "event"): policies,
    ("volcano", "policy action"): policies,
    ("koordinator", "extension point"): extension_point,
    ("koordinator", "plugin"): scheduler_plugin,
    ("koordinator", "argument"): koordinator_argument,
    ("coscheduling", "plugin argument"): coscheduling_argument,
    ("kubernetes", "scheduler field"): scheduler_field,
    ("kubernetes", "scheduler plugin"): scheduler_plugin,
    ("kueue", "integration"): integration,
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
        "resource",
        "chart value",
        "job plugin argument",
    }
)
"""What a release does, or what the rule of its own object is tested for."""


DATED_FIELDS = (("volcano", "field"), ("koordinator", "field"))
"""Those of objects and of lists in args, which the cases of their rules have."""


def dated() -> Iterator[Any]:
    for target in TARGETS:
        for fact in facts(target):
            if fact.what not in NOT_IN_A_FILE and (target.name, fact.what) not in DATED_FIELDS:
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


FAMILIES = {
    "gangs": ("volcano",),
    "queues": ("volcano", "koordinator", "yunikorn"),
    **{name: (name,) for name in STATABLE},
}
"""Folder of rules to the systems whose release they ask."""


def unstated_cases() -> Iterator[Any]:
    """The cases of these rules, without the releases of their policies."""
    for path in sorted(Path(__file__).parent.glob("*/cases/*.yaml")):
        names = FAMILIES.get(path.parent.parent.name)
        data = read(path) if names else {}
        for case in (*data.get("bad", ()), *data.get("good", ())):
            policy = case.get("policy", data.get("policy")) or {"scheme": "plain"}
            if isinstance(policy, dict):
                yield pytest.param(path.stem, names, policy, case, id=f"{path.stem}: {case['name']}")


@pytest.mark.parametrize(("rule", "names", "policy", "case"), list(unstated_cases()))
def test_errors_hold_for_every_release(
    rule: str, names: tuple[str, ...], policy: dict[str, Any], case: dict[str, Any]
) -> None:
    """One error is as good as another of the same rule, or on the same line."""

    def found(versions: dict[str, str]) -> set[tuple[str, int]]:
        stated = {key: value for key, value in policy.items() if key != "kubernetes"}
        targets = {name: {**(policy.get("targets", {}).get(name) or {})} for name in STATABLE}
        for name, options in targets.items():
            options.pop("version", None)
            options.update({"version": versions[name]} if name in versions else {})
        stated["targets"] = {**policy.get("targets", {}), **targets}
        report = linted(
            rule, {"case.yaml": case["manifest"].encode()}, cluster(stated), case.get("complete", True)
        )
        errors = (each for each in report.findings if each.severity is Severity.ERROR)
        return {(each.code, each.span.line) for each in errors}

    unstated = found({})
    for name in names if unstated else ():
        for version in releases(name):
            try:
                stated = found({name: version})
            except PolicykitError:
                continue  # what the policy asks of its target is newer
            lacking = {
                (code, line)
                for code, line in unstated
                if not any(code == other or line == at for other, at in stated)
            }
            assert not lacking, f"{name} {version}"


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
