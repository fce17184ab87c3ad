"""Plugins of Volcano Jobs: their names, arguments, and first releases."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from policykit.manifests.path import Path
from policykit.manifests.problem import Problem
from policykit.namedtuple import NamedTuple
from policykit.targets.volcano.versions import UPGRADE, Release, not_yet, suggestion

_FLAG = re.compile(r"--?([A-Za-z][A-Za-z-]*)(?:=(.*))?\Z", re.DOTALL)


class Flag(NamedTuple):
    """An argument of a plugin."""

    kind: str = "text"
    """text, number, switch, or task: the name of a task of the job."""
    since: Release = ()
    default: str = ""
    """Whether the named task must exist."""


class JobPlugin(NamedTuple):
    """A plugin that Jobs may name."""

    flags: Mapping[str, Flag] = {}
    since: Release = ()


_TASK, _NUMBER, _SWITCH = Flag("task"), Flag("number"), Flag("switch")
_WAIT = (1, 14)

JOB_PLUGINS: Mapping[str, JobPlugin] = {
    "env": JobPlugin(),
    "svc": JobPlugin(
        {
            "publish-not-ready-addresses": _SWITCH,
            "disable-network-policy": _SWITCH,
            "inject-hosts-env": Flag("switch", (1, 16)),
        }
    ),
    "ssh": JobPlugin(
        {
            "ssh-key-file-path": Flag(),
            "ssh-private-key": Flag(),
            "ssh-public-key": Flag(),
            "ssh-port": Flag("number", (1, 15)),
        }
    ),
    "tensorflow": JobPlugin(
        {"ps": _TASK, "worker": _TASK, "chief": _TASK, "evaluator": _TASK, "port": _NUMBER}
    ),
    "pytorch": JobPlugin(
        {
            "master": _TASK,
            "worker": _TASK,
            "port": _NUMBER,
            "wait-master-enabled": Flag("switch", _WAIT),
            "wait-master-timeout": Flag("number", _WAIT),
            "wait-master-image": Flag("text", _WAIT),
        }
    ),
    # The webhook refuses a job without the master's task.
    "mpi": JobPlugin({"master": Flag("task", (), "master"), "worker": _TASK, "port": _NUMBER}),
    "hcclrank": JobPlugin({"master": _TASK, "worker": _TASK}, (1, 12, 3)),
    "ray": JobPlugin(
        {
            "head": _TASK,
            "worker": _TASK,
            "headContainer": Flag(),
            "workerContainer": Flag(),
            "port": _NUMBER,
            "dashboardPort": _NUMBER,
            "clientPort": _NUMBER,
        },
        (1, 13),
    ),
}


def check(plugins: Mapping[str, Sequence[str]], have: Release | None) -> Iterator[Problem]:
    """Mistakes in a job's plugins (name to arguments); paths are those of a name or an argument.

    `have` is the release; None: the newest. The webhook rejects an unknown name; an
    unknown argument is only logged, and the arguments after it have no effect either.
    """
    for name, arguments in plugins.items():
        plugin = JOB_PLUGINS.get(name)
        if plugin is None:
            advice = suggestion(name, JOB_PLUGINS, "job plugins")
            yield Problem((name,), f"Volcano has no job plugin {name}", advice, key=True)
            continue
        if message := not_yet(f"job plugin {name}", plugin.since, have):
            yield Problem((name,), message, UPGRADE, key=True)
        for number, argument in enumerate(arguments):
            yield from _argument(name, plugin, argument, (name, number), have)


def _argument(
    name: str, plugin: JobPlugin, argument: str, path: Path, have: Release | None
) -> Iterator[Problem]:
    matched = _FLAG.match(argument)
    if matched is None:
        yield Problem(path, f"argument {argument!r} of job plugin {name} is not of the form --name=value")
        return
    option, flag = f"--{matched[1]}", plugin.flags.get(matched[1])
    if flag is None:
        advice = suggestion(option, (f"--{each}" for each in plugin.flags), "arguments")
        yield Problem(path, f"job plugin {name} has no argument {option}", advice)
        return
    what = f"argument {option} of job plugin {name}"
    if message := not_yet(what, flag.since, have):
        yield Problem(path, message, UPGRADE)
    if problem := _problem(flag, matched[2]):
        yield Problem(path, f"{what} {problem}")


def _problem(flag: Flag, value: str | None) -> str:
    if flag.kind == "switch":
        return "" if value in (None, "true", "false") else f"is {value!r}, not true or false"
    if not value:
        return "has no value"
    return f"is {value!r}, not a whole number" if flag.kind == "number" and not value.isdecimal() else ""


def roles(name: str, arguments: Sequence[str]) -> dict[str, str]:
    """Role (master, worker, ...) to the name of the task that a job must have for it."""
    flags = JOB_PLUGINS[name].flags if name in JOB_PLUGINS else {}
    found = {role: flag.default for role, flag in flags.items() if flag.default}
    for argument in arguments:
        matched = _FLAG.match(argument)
        if matched and matched[2] and flags.get(matched[1], Flag()).kind == "task":
            found[matched[1]] = matched[2]
    return found
