"""Faults of Volcano's configuration and of its own kinds."""

from collections.abc import Iterator
from typing import Any

from policykit.manifests.patch import APPEND, Patch
from policykit.manifests.path import Path
from tests.mutation.clean import Subject
from tests.mutation.fault import Change, Inject, fault, misspelt, put, remove, rename, replace
from tests.mutation.places import at, is_extract, limits


def _conf(subject: Subject) -> bool:
    return subject.manifest.kind == "volcano-scheduler.conf"


_GROUPED = """\
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: grouped}
spec: {weight: 1, affinity: {nodeGroupAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [a100]}}}
"""


def _grouped_queue(subject: Subject) -> Iterator[Change]:
    """A queue of node groups beside a configuration without the plugin that reads them."""
    text = subject.text
    if _conf(subject) and text.lstrip().startswith("apiVersion:") and "nodegroup" not in text:
        yield Change(text=text.rstrip("\n") + "\n" + _GROUPED)


def _actions(change: Any) -> Inject:
    def inject(subject: Subject) -> Iterator[Change]:
        actions = at(subject, ("actions",))
        if _conf(subject) and isinstance(actions, str):
            for made in change(actions):
                if made != actions:
                    yield replace(("actions",), made)

    return inject


def _misspelt_action(actions: str) -> Iterator[str]:
    words = [word.strip() for word in actions.split(",")]
    for index, word in enumerate(words):
        yield ", ".join([*words[:index], misspelt(word), *words[index + 1 :]])


def _plugins(subject: Subject) -> Iterator[tuple[Path, dict[str, Any]]]:
    tiers = at(subject, ("tiers",)) if _conf(subject) else None
    for tier, each in enumerate(tiers if isinstance(tiers, list) else ()):
        plugins = each.get("plugins") if isinstance(each, dict) else None
        for index, plugin in enumerate(plugins if isinstance(plugins, list) else ()):
            if isinstance(plugin, dict) and isinstance(plugin.get("name"), str):
                yield ("tiers", tier, "plugins", index), plugin


def _plugin_misspelt(subject: Subject) -> Iterator[Change]:
    for path, plugin in _plugins(subject):
        yield replace((*path, "name"), misspelt(plugin["name"]))


def _switch_misspelt(subject: Subject) -> Iterator[Change]:
    for path, plugin in _plugins(subject):
        for key in plugin:
            if key.startswith("enable"):
                yield rename((*path, key), misspelt(key))


def _arguments(subject: Subject) -> Iterator[tuple[Path, Any]]:
    for path, plugin in _plugins(subject):
        arguments = plugin.get("arguments")
        for key, value in arguments.items() if isinstance(arguments, dict) else ():
            yield (*path, "arguments", key), value


def _argument_misspelt(subject: Subject) -> Iterator[Change]:
    for path, _ in _arguments(subject):
        if not str(path[-1]).startswith("binpack.resources."):
            yield rename(path, misspelt(str(path[-1])))


def _argument_quoted(subject: Subject) -> Iterator[Change]:
    yield from (replace(path, str(value)) for path, value in _arguments(subject) if type(value) is int)


def _argument_outside(subject: Subject) -> Iterator[Change]:
    for path, plugin in _plugins(subject):
        arguments = plugin.get("arguments")
        if isinstance(arguments, dict) and arguments:
            moved = [Patch("add", (*path, str(key)), value) for key, value in arguments.items()]
            yield Change((Patch("remove", (*path, "arguments")), *moved))


def _another(name: str, beside: str) -> Inject:
    """A plugin that does not go with one that is there."""

    def inject(subject: Subject) -> Iterator[Change]:
        for path, plugin in _plugins(subject):
            if plugin["name"] == beside:
                yield put((*path[:-1], APPEND), {"name": name})

    return inject


def _job(subject: Subject) -> bool:
    return subject.manifest.kind == "Job" and subject.manifest.group == "batch.volcano.sh"


def _tasks(subject: Subject) -> list[Any]:
    tasks = at(subject, ("spec", "tasks")) if _job(subject) else None
    return tasks if isinstance(tasks, list) else []


def _same_name(subject: Subject) -> Iterator[Change]:
    tasks = _tasks(subject)
    for index, task in enumerate(tasks[1:], 1):
        if "name" in task and "name" in tasks[0]:
            yield replace(("spec", "tasks", index, "name"), tasks[0]["name"])


def _same_event(subject: Subject) -> Iterator[Change]:
    policies = at(subject, ("spec", "policies")) if _job(subject) else None
    for policy in policies if isinstance(policies, list) else ():
        yield put(("spec", "policies", APPEND), {**policy, "action": "AbortJob"})


def _policy(field: str, value: str) -> Inject:
    def inject(subject: Subject) -> Iterator[Change]:
        policies = at(subject, ("spec", "policies")) if _job(subject) else None
        for index, policy in enumerate(policies if isinstance(policies, list) else ()):
            if field in policy:
                yield replace(("spec", "policies", index, field), value)

    return inject


def _job_plugin(subject: Subject) -> Iterator[Change]:
    plugins = at(subject, ("spec", "plugins")) if _job(subject) else None
    for name in plugins if isinstance(plugins, dict) else ():
        yield rename(("spec", "plugins", name), misspelt(name))


def _depends(subject: Subject) -> Iterator[Change]:
    for index in range(1, len(_tasks(subject))):
        yield put(("spec", "tasks", index, "dependsOn"), {"name": ["nobody"]})


def _no_tasks(subject: Subject) -> Iterator[Change]:
    if _tasks(subject):
        yield replace(("spec", "tasks"), [])


def _task_name(subject: Subject) -> Iterator[Change]:
    for index, task in enumerate(_tasks(subject)):
        if isinstance(task, dict):
            yield put(("spec", "tasks", index, "name"), "Worker_1")


def _spec(kind: str, path: Path, value: Any) -> Inject:
    def inject(subject: Subject) -> Iterator[Change]:
        if subject.manifest.kind == kind and "volcano.sh" in subject.manifest.group:
            there = at(subject, path[:-1])
            if isinstance(there, (dict, list)):
                yield put(path, value)

    return inject


def _members(subject: Subject) -> Iterator[Change]:
    members = at(subject, ("spec", "members")) if subject.manifest.kind == "HyperNode" else None
    for index, member in enumerate(members if isinstance(members, list) else ()):
        if isinstance(member, dict) and isinstance(member.get("selector"), dict):
            yield remove(("spec", "members", index, "selector"))
            yield replace(("spec", "members", index, "type"), "node")


def _flow(subject: Subject) -> Iterator[Change]:
    flows = at(subject, ("spec", "flows")) if subject.manifest.kind == "JobFlow" else None
    listed = flows if isinstance(flows, list) else []
    for index in range(len(listed)):
        yield put(("spec", "flows", index, "dependsOn"), {"targets": ["nobody"]})
        if index:
            yield replace(("spec", "flows", index, "name"), listed[0]["name"])


def _preempting(actions: str) -> Iterator[str]:
    words = [word.strip() for word in actions.split(",")]
    if "enqueue" in words and "preempt" not in words:
        at_end = len(words) - ("backfill" in words)
        yield ", ".join([*words[:at_end], "preempt", *words[at_end:]])


def _spreading(subject: Subject) -> Iterator[Change]:
    """nodeorder spreads again what binpack packs."""
    names = {plugin["name"] for _, plugin in _plugins(subject)}
    for path, plugin in _plugins(subject):
        quiet = at(subject, (*path, "arguments", "leastrequested.weight")) == 0
        if plugin["name"] == "nodeorder" and "binpack" in names and quiet:
            yield put((*path, "arguments", "leastrequested.weight"), 1)


def _without(name: str) -> Inject:
    """A plugin that the policy asks for is taken out."""

    def inject(subject: Subject) -> Iterator[Change]:
        volcano = subject.cluster is not None and "volcano" in subject.cluster.targets
        for path, plugin in _plugins(subject) if volcano else ():
            if plugin["name"] == name:
                yield remove(path)

    return inject


def _vgpu(subject: Subject) -> Iterator[Change]:
    """Cores of a card, but of no card."""
    if subject.cluster is None and len(subject.pod_sets) == 1:
        for path, name, _ in limits(subject):
            if name == "nvidia.com/gpu":
                others = {key: value for key, value in at(subject, path).items() if key != name}
                yield replace(path[:-1], {"limits": {**others, "volcano.sh/vgpu-cores": 50}})


def _no_tier(subject: Subject) -> Iterator[Change]:
    """A topology that must be kept, and no word of how close."""
    volcanos = subject.manifest.kind == "PodGroup" and subject.manifest.group == "scheduling.volcano.sh"
    if volcanos and not is_extract(subject):
        yield put(("spec", "networkTopology"), {"mode": "hard"})


def _role(subject: Subject) -> Iterator[Change]:
    """A plugin is told of a task that is not there."""
    names = [task.get("name") for task in _tasks(subject) if isinstance(task, dict)]
    plugins = at(subject, ("spec", "plugins"))
    if len(names) > 1 and all(names) and not (isinstance(plugins, dict) and "pytorch" in plugins):
        yield put(("spec", "plugins", "pytorch"), ["--master=nobody", f"--worker={names[1]}"])


_JOB = "PK510 PK004"


def _no_svc(subject: Subject) -> Iterator[Change]:
    """The plugin that writes the lists of hosts is left out."""
    plugins = at(subject, ("spec", "plugins")) if subject.manifest.kind == "Job" else None
    alone = isinstance(plugins, dict) and {*plugins} <= {"env", "ssh", "svc"} and "svc" in plugins
    if alone and "/etc/volcano/" in str(at(subject, ("spec", "tasks"))):
        yield remove(("spec", "plugins", "svc"))


FAULTS = (
    fault("lists of hosts that nothing writes", "PK515", _no_svc),
    fault("a misspelt action", "PK501", _actions(_misspelt_action)),
    fault(
        "an action with a capital",
        "PK501",
        _actions(lambda actions: [actions.replace("allocate", "Allocate")]),
    ),
    fault("actions with semicolons", "PK501", _actions(lambda actions: [actions.replace(",", ";")])),
    fault("a comma behind the last action", "PK501", _actions(lambda actions: [f"{actions.rstrip()},"])),
    fault("a misspelt plugin", "PK502", _plugin_misspelt),
    fault("a misspelt switch of a plugin", "PK503", _switch_misspelt),
    fault("a misspelt argument", "PK503", _argument_misspelt),
    fault("an argument in quotes", "PK504", _argument_quoted),
    fault("arguments beside arguments", "PK503", _argument_outside),
    fault("capacity beside proportion", "PK505", _another("capacity", "proportion")),
    fault("proportion beside capacity", "PK505", _another("proportion", "capacity")),
    fault("preempt behind enqueue", "PK506", _actions(_preempting)),
    fault("scores against each other", "PK507 PK508", _spreading),
    fault("no plugin for gangs", "PK508 PK506", _without("gang")),
    fault("no plugin that packs", "PK508", _without("binpack")),
    fault("a PodGroup of fewer than none", "PK512 PK004", _spec("PodGroup", ("spec", "minMember"), -1)),
    fault("cores of no card", "PK516", _vgpu),
    fault("a hard topology without a tier", "PK514", _no_tier),
    fault("a plugin for a task that is not there", "PK515 PK510", _role),
    fault("two tasks of one name", "PK510", _same_name),
    fault("two policies of one event", "PK510", _same_event),
    fault("an unknown event", _JOB, _policy("event", "PodFail")),
    fault("an unknown action of a policy", _JOB, _policy("action", "Restart")),
    fault("an unknown plugin of a job", "PK510 PK515", _job_plugin),
    fault("a task that waits for nobody", "PK510 PK308", _depends),
    fault("a job without tasks", _JOB, _no_tasks),
    fault("a task name with capitals", _JOB, _task_name),
    fault("a negative maxRetry", _JOB, _spec("Job", ("spec", "maxRetry"), -1)),
    fault("a negative time to live", _JOB, _spec("Job", ("spec", "ttlSecondsAfterFinished"), -1)),
    fault("a member of a HyperNode that nothing selects", "PK513 PK004", _members),
    fault("a HyperNode without tier", "PK513 PK004", _spec("HyperNode", ("spec", "tier"), "one")),
    fault("node groups without their plugin", "PK518", _grouped_queue, elsewhere=True),
    fault("a flow that leads nowhere", "PK510", _flow),
    fault(
        "both topology tiers",
        "PK309",
        _spec(
            "PodGroup",
            ("spec", "networkTopology"),
            {"mode": "hard", "highestTierAllowed": 1, "highestTierName": "rack"},
        ),
    ),
)
