"""Checks of partitions, queues, amounts and limits, as in YuniKorn's validator."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from policykit.manifests.path import Path
from policykit.manifests.problem import Problem
from policykit.model.quantity import amount_text
from policykit.model.release import Version
from policykit.namedtuple import NamedTuple
from policykit.targets.yunikorn.configuration.queues_yaml import (
    DEFAULT,
    Configuration,
    Limit,
    Partition,
    QueueNode,
)
from policykit.targets.yunikorn.configuration.values import (
    CORES,
    CountedAmounts,
    counted,
    first_excess,
    minimum,
    quantity,
    total,
)
from policykit.targets.yunikorn.names import ROOT
from policykit.targets.yunikorn.validation.problem import problem
from policykit.targets.yunikorn.versions import LIMITS_COMPARED, LIMITS_COMPARED_WITH_ALL, QUEUE_NAME_SIGNS

QUEUE_NAME = re.compile(r"[a-zA-Z0-9_:#/@-]{1,64}\Z")
"""A queue's own name: no dots, which separate the names of a path."""
_OLD_QUEUE_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
SORT_TYPES = ("", "fair", "binpacking")


def partitions(configuration: Configuration) -> Iterator[Problem]:
    """Names are unique, ignoring case; an empty name is the default partition."""
    seen: set[str] = set()
    for number, partition in enumerate(configuration.partitions):
        name = partition.name.lower() or DEFAULT
        path: Path = ("partitions", number)
        if name in seen:
            yield problem((*path, "name"), "partition-name", f"partition {name} is defined twice")
        seen.add(name)
        if partition.queues is None:
            yield problem(path, "no-queues", f"partition {name} has no queues")


def root(partition: Partition, tree: QueueNode, version: Version) -> Iterator[Problem]:
    """Root has no amounts of its own; limits are on it or on the partition."""
    resources = tree.queue.resources
    for key, stated in (("guaranteed", resources.guaranteed), ("max", resources.maximum)):
        if stated is not None:
            path = (*tree.path, "resources", key)
            yield problem(
                path, "root-resources", "root is the whole cluster and cannot have guaranteed or max"
            )
    both = not partition.inserted_root and partition.limits and (partition.queues or ())[0].limits
    if both and both != partition.limits and version >= LIMITS_COMPARED_WITH_ALL:
        yield problem(tree.limits_path, "root-limits", "the partition and root have different limits")


def queues(tree: QueueNode, version: Version) -> Iterator[Problem]:
    """Access lists and names."""
    for each in tree.walk():
        for key, text in (("adminacl", each.queue.admin), ("submitacl", each.queue.submit)):
            if len(text.split()) > 2:
                message = f"{key} {text!r} has more than two parts"
                yield problem((*each.path, key), "acl", message)
        seen: set[str] = set()
        for child in each.children:
            name = child.queue.name
            if not QUEUE_NAME.match(name):
                fault = f"queue name {name!r} is invalid: use 1 to 64 letters, digits and _ : # / @ -"
                yield problem((*child.path, "name"), "queue-name", fault)
            elif version < QUEUE_NAME_SIGNS and not _OLD_QUEUE_NAME.match(name):
                fault = f"queue name {name!r} requires YuniKorn {QUEUE_NAME_SIGNS} or later"
                yield problem((*child.path, "name"), "queue-name", fault)
            if name.lower() in seen:
                message = f"queue {name} is defined twice below {each.queue.name}"
                yield problem((*child.path, "name"), "queue-name-twice", message)
            seen.add(name.lower())


def node_sort(partition: Partition, path: Path) -> Iterator[Problem]:
    sort, path = partition.node_sort, (*path, "nodesortpolicy")
    if sort.type not in SORT_TYPES:
        yield problem((*path, "type"), "node-sort", f"{sort.type!r} is neither fair nor binpacking")
    for name, weight in sort.weights.items():
        if weight < 0:
            where = (*path, "resourceweights", name)
            yield problem(where, "node-sort", f"weight of {name} is negative: {weight}")


def resources(tree: QueueNode) -> Iterator[Problem]:
    """Amounts are valid and fit into those above. Resources that only one side names are not compared."""
    found: list[Problem] = []
    _guaranteed(tree, {}, found)
    yield from found


def _guaranteed(here: QueueNode, above: CountedAmounts, found: list[Problem]) -> dict[str, int]:
    """The guarantee that counts for the levels above. `above` is the smallest max of its ancestors."""
    stated = here.queue.resources
    for key, texts in (("guaranteed", stated.guaranteed), ("max", stated.maximum)):
        found.extend(unreadable(texts, (*here.path, "resources", key)))
    own, most = counted(stated.guaranteed), counted(stated.maximum)
    merged = minimum(most, above)
    compared = (
        (most, own, _GUARANTEED_OVER_MAX),
        (above, most, _MAX_OVER_ANCESTOR),
    )
    found.extend(problem for each in compared for problem in _fits(here, *each))
    below = total([_guaranteed(child, merged, found) for child in here.children])
    found.extend(_fits(here, own, below, _SUM_OVER_GUARANTEED))
    found.extend(_fits(here, merged, below, _SUM_OVER_MAX))
    return own if any(own.values()) else below


class _Comparison(NamedTuple):
    kind: str
    key: str
    """The field that is at fault."""
    message: str


_GUARANTEED_OVER_MAX = _Comparison(
    "max-guaranteed",
    "guaranteed",
    "queue {queue} is guaranteed {smaller} {resource}, but its max is {larger}",
)
_MAX_OVER_ANCESTOR = _Comparison(
    "max-above",
    "max",
    "max {resource} of queue {queue} is {smaller}, but a queue above it allows only {larger}",
)
_SUM_OVER_GUARANTEED = _Comparison(
    "guaranteed-sum",
    "guaranteed",
    "the queues below {queue} are guaranteed {smaller} {resource} in total, but {queue} only {larger}",
)
_SUM_OVER_MAX = _Comparison(
    "max-sum",
    "max",
    "the queues below {queue} are guaranteed {smaller} {resource} in total, "
    "but {queue} may use only {larger}",
)


def _fits(
    here: QueueNode, larger: CountedAmounts, smaller: CountedAmounts, compared: _Comparison
) -> Iterator[Problem]:
    name = first_excess(larger, smaller)
    if name:
        message = compared.message.format(
            queue=here.queue.name,
            resource=name,
            smaller=shown(name, smaller[name]),
            larger=shown(name, larger[name]),
        )
        yield problem((*here.path, "resources", compared.key, name), compared.kind, message)


def shown(name: str, amount: int) -> str:
    """An amount as written in manifests: 500m of vcore, 4Gi of memory."""
    return amount_text("cpu" if name == CORES else name, amount)


def unreadable(texts: Mapping[str, str] | None, path: Path) -> Iterator[Problem]:
    """Amounts that YuniKorn cannot read."""
    for name, text in (texts or {}).items():
        if quantity(name, text) is None:
            suffixes = "k M G T P E or Ki Mi Gi Ti Pi Ei" + (", or m" if name == CORES else "")
            message = f"{text!r} is not a valid amount of {name}: use a whole number, optionally with"
            yield problem((*path, name), "amount", f"{message} {suffixes}")


def applications(tree: QueueNode) -> Iterator[Problem]:
    """Below a queue with maxapplications every queue has one, and none has more."""
    for each in tree.walk():
        most = each.queue.applications
        for child in each.children if most else ():
            own, path = child.queue.applications, (*child.path, "maxapplications")
            if not own:
                message = f"queue {child.queue.name} has no maxapplications, but {each.queue.name} has {most}"
                yield problem(child.path, "applications", message)
            elif own > most:
                message = (
                    f"queue {child.queue.name} allows {own} applications, but {each.queue.name} only {most}"
                )
                yield problem(path, "applications", message)


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
                releases = f" of YuniKorn before {QUEUE_NAME_SIGNS}" if USER.match(name) else ""
                yield problem(
                    here, "limit-name", f"{name!r} is not a valid name in {key} of a limit{releases}"
                )
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
