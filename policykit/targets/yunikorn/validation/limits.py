"""Checks of the limits of users and groups, within a queue and against the queues above."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from policykit.manifests.path import Path
from policykit.manifests.problem import Problem
from policykit.model.release import Version
from policykit.targets.yunikorn.configuration.queues_yaml import Limit, QueueNode
from policykit.targets.yunikorn.configuration.resources import CountedAmounts, counted, first_excess, minimum
from policykit.targets.yunikorn.names import ROOT
from policykit.targets.yunikorn.validation.problem import problem
from policykit.targets.yunikorn.validation.queues import shown, unreadable
from policykit.targets.yunikorn.versions import LIMITS_COMPARED, LIMITS_COMPARED_WITH_ALL, QUEUE_NAME_SIGNS

ALL = "*"
USER = re.compile(r"[_a-zA-Z][a-zA-Z0-9:#/_.@-]*[$]?\Z")
GROUP = re.compile(r"[_a-zA-Z][a-zA-Z0-9:_.-]*\Z")
_OLD_USER = re.compile(r"[_a-zA-Z][a-zA-Z0-9:_.@-]*[$]?\Z")


def name_patterns(version: Version) -> Mapping[str, re.Pattern[str]]:
    """Key of a list of people to the names that it may have."""
    return {"users": USER if version >= QUEUE_NAME_SIGNS else _OLD_USER, "groups": GROUP}


def own(tree: QueueNode, version: Version) -> Iterator[Problem]:
    """The limits of each queue on their own."""
    for each in tree.walk():
        seen: dict[str, set[str]] = {"users": set(), "groups": set()}
        for number, limit in enumerate(each.queue.limits):
            path = (*each.limits_path, number)
            yield from _people(limit, seen, path, version)
            yield from _amounts(limit, each, path, version)


def _people(limit: Limit, seen: Mapping[str, set[str]], path: Path, version: Version) -> Iterator[Problem]:
    patterns = name_patterns(version)
    if not limit.users and not limit.groups:
        yield problem(path, "limit-nobody", "limit has neither users nor groups")
    for key, names in (("users", limit.users), ("groups", limit.groups)):
        for number, name in enumerate(names):
            here, known = (*path, key, number), seen[key]
            if name != ALL and not patterns[key].match(name):
                told = f" of YuniKorn before {QUEUE_NAME_SIGNS}" if USER.match(name) else ""
                yield problem(here, "limit-name", f"{name!r} is not a valid name in {key} of a limit{told}")
            if name in known:
                yield problem(here, "limit-twice", f"{name} appears twice in {key} of the queue's limits")
            if name != ALL and ALL in known:
                yield problem(here, "limit-order", f"{name} comes after *, which must be last")
            known.add(name)
    if seen["groups"] == {ALL}:
        message = "a limit for group * needs a limit for a named group before it or in the same entry"
        yield problem((*path, "groups"), "limit-group", message)


def _amounts(limit: Limit, each: QueueNode, path: Path, version: Version) -> Iterator[Problem]:
    yield from unreadable(limit.resources, (*path, "maxresources"))
    most = counted(limit.resources)
    zero = limit.resources and len(most) == len(limit.resources) and not any(most.values())
    compared = version >= LIMITS_COMPARED
    if zero and (compared or not limit.applications):
        yield problem((*path, "maxresources"), "limit-zero", "maxresources of a limit is all zeros")
    if not limit.applications and not limit.resources:
        yield problem(path, "limit-empty", "limit has neither maxresources nor maxapplications")
    queue = each.queue
    if queue.applications and not limit.applications and not compared:
        message = (
            f"limit has no maxapplications, which YuniKorn before {LIMITS_COMPARED} requires in queue "
            f"{queue.name}, whose own is {queue.applications}"
        )
        yield problem(path, "limit-applications", message)
    if queue.applications and queue.applications < limit.applications:
        message = (
            f"limit allows {limit.applications} applications, but queue {queue.name} {queue.applications}"
        )
        yield problem((*path, "maxapplications"), "limit-applications", message)
    name = first_excess(counted(queue.resources.maximum), most) if queue.name != ROOT else ""
    if name:
        allowed = counted(queue.resources.maximum)[name]
        message = (
            f"limit allows {shown(name, most[name])} {name}, but max of queue {queue.name} is "
            f"{shown(name, allowed)}"
        )
        yield problem((*path, "maxresources", name), "limit-max", message)


def inherited(tree: QueueNode, version: Version) -> Iterator[Problem]:
    """Limits against those of the queues above for the same name, or for `*`."""
    if version < LIMITS_COMPARED:
        return
    other = ALL if version >= LIMITS_COMPARED_WITH_ALL else ""
    for key in ("users", "groups"):
        yield from _resources(tree, key, {}, other)
        yield from _applications(tree, key, {}, other)


def _names(limit: Limit, key: str) -> tuple[str, ...]:
    return limit.users if key == "users" else limit.groups


def _resources(
    here: QueueNode, key: str, above: Mapping[str, CountedAmounts], other: str
) -> Iterator[Problem]:
    """`other`: the name whose limit counts where there is none for a name."""
    passed = dict(above)
    for number, limit in enumerate(here.queue.limits):
        most = counted(limit.resources)
        for name in _names(limit, key):
            bound = above.get(name, above.get(other))
            over = first_excess(bound, most) if bound is not None else ""
            if bound and over:
                message = (
                    f"limit allows {name} {shown(over, most[over])} {over} in queue {here.queue.name}, "
                    f"but a queue above it allows only {shown(over, bound[over])}"
                )
                yield problem((*here.limits_path, number, "maxresources", over), "limit-above", message)
            passed[name] = minimum(most, above[name]) if name in above else most
    for child in here.children:
        yield from _resources(child, key, passed, other)


def _applications(here: QueueNode, key: str, above: Mapping[str, int], other: str) -> Iterator[Problem]:
    passed = dict(above)
    for number, limit in enumerate(here.queue.limits):
        for name in _names(limit, key):
            bound = above.get(name, above.get(other, 0))
            if bound and not 1 <= limit.applications <= bound:
                message = (
                    f"limit allows {name} {limit.applications or 'any number of'} applications in queue "
                    f"{here.queue.name}, but a queue above it allows only {bound}"
                )
                yield problem((*here.limits_path, number), "limit-applications-above", message)
            passed[name] = limit.applications
    for child in here.children:
        yield from _applications(child, key, passed, other)
