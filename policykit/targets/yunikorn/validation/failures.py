"""Problems that the scheduler's validator accepts and that fail, or mean something else, at run time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.manifests.path import Path
from policykit.manifests.problem import Problem
from policykit.model.severity import Severity
from policykit.targets.yunikorn.configuration import access_lists
from policykit.targets.yunikorn.configuration.queues_yaml import Partition, QueueNode
from policykit.targets.yunikorn.configuration.values import CORES, counted
from policykit.targets.yunikorn.validation.problem import problem
from policykit.targets.yunikorn.validation.queues import unreadable


def access_list_problems(tree: QueueNode) -> Iterator[Problem]:
    """Access lists of every queue, except those that the validator refuses."""
    for each in tree.walk():
        for key, text in (("submitacl", each.queue.submit), ("adminacl", each.queue.admin)):
            if len(text.split()) <= 2:
                yield from _list(key, text, each.queue.name, (*each.path, key))


def _list(key: str, text: str, queue: str, path: Path) -> Iterator[Problem]:
    people = access_lists.read(text)
    if people is None:
        message = f"{key} {text!r} has more than one space: creating queue {queue} fails"
        yield problem(path, "acl-spaces", message)
        return
    if "\t" in text.strip("\t"):
        message = f"{key} {text!r} contains a tab, which separates nothing: the whole text is one name"
        yield problem(path, "acl-spaces", message)
        return
    users, _, groups = text.partition(" ")
    if users.endswith(",") and groups.strip(" ,"):
        message = f"{key} {text!r}: names after the space are groups, not users"
        yield problem(path, "acl-comma", message, severity=Severity.WARNING)
        return
    dropped = _dropped(text)
    if dropped:
        nobody = len(dropped) == len(_names(text))
        yield problem(
            path,
            "acl-name",
            f"{key} of queue {queue} has names that YuniKorn ignores: {', '.join(map(_shown, dropped))}",
            "users may contain letters, digits and _ . @ -, groups letters, digits and _ -"
            + ("; nobody is left" if nobody else ""),
            None if nobody else Severity.WARNING,
        )


def _names(text: str) -> list[str]:
    return [name for part in text.split(" ") for name in part.split(",") if name]


def _dropped(text: str) -> tuple[str, ...]:
    """Names that YuniKorn ignores. `*` means everybody only if it is the whole list."""
    people = access_lists.read(text)
    if people is None or people == access_lists.ALL:
        return ()
    beside = [name for name in _names(text) if name == access_lists.EVERYBODY]
    return (*beside, *access_lists.invalid_names(people))


def _shown(name: str) -> str:
    return name if name.isprintable() else repr(name)


def template_amounts(tree: QueueNode) -> Iterator[Problem]:
    """Amounts of child templates that YuniKorn cannot read: creating the queue fails."""
    for each in tree.walk():
        if each.queue.leaf:
            continue  # nothing reads the template of a leaf
        stated = each.queue.template.resources
        for key, texts in (("guaranteed", stated.guaranteed), ("max", stated.maximum)):
            for found in unreadable(texts, (*each.path, "childtemplate", "resources", key)):
                advice = (
                    f"correct it: creating queue {each.queue.name} fails, and with it the whole configuration"
                )
                yield found._replace(help=advice)


_RIGHT_NAMES = {"cpu": CORES, "vcores": CORES, "mem": "memory", "gpu": "nvidia.com/gpu"}
"""Wrong resource names, under which YuniKorn counts nothing, and the right ones."""


def never_counted(name: str) -> str:
    """The right name for a wrong one; empty if the name may be right."""
    return _RIGHT_NAMES.get(name.lower(), "")


def resource_names(partition: Partition, tree: QueueNode, path: Path) -> Iterator[Problem]:
    """Wrong resource names in amounts and weights."""
    for where, stated in stated_amounts(tree):
        for name in stated:
            if right := never_counted(name):
                message = f"YuniKorn counts nothing as {name}: the amount has no effect"
                yield problem((*where, name), "resource-name", message, _write(right), key=True)
    weights = (*path, "nodesortpolicy", "resourceweights")
    for name in partition.node_sort.weights:
        if right := never_counted(name):
            message = f"YuniKorn counts nothing as {name}: the weight has no effect"
            yield problem((*weights, name), "resource-name", message, _write(right), key=True)


def _write(right: str) -> str:
    example = ", or whatever the device plugin calls the card" if "/" in right else ""
    return f"write {right}{example}"


def zeros(tree: QueueNode) -> Iterator[Problem]:
    """YuniKorn treats a max of zeros as no max."""
    for each in tree.walk():
        stated = each.queue.resources.maximum or {}
        most = counted(stated)
        if stated and len(most) == len(stated) and not any(most.values()):
            message = f"max of queue {each.queue.name} is all zeros, which YuniKorn treats as no max"
            yield problem((*each.path, "resources", "max"), "max-zero", message)


def stated_amounts(tree: QueueNode) -> Iterator[tuple[Path, Mapping[str, str]]]:
    """Every map of amounts of queues, child templates and limits, with its path."""
    for each in tree.walk():
        queue = each.queue
        for prefix, resources in (((), queue.resources), (("childtemplate",), queue.template.resources)):
            for key, stated in (("guaranteed", resources.guaranteed), ("max", resources.maximum)):
                yield (*each.path, *prefix, "resources", key), stated or {}
        for number, limit in enumerate(queue.limits):
            yield (*each.limits_path, number, "maxresources"), limit.resources


def capitals(tree: QueueNode) -> Iterator[Problem]:
    """Queue names with capital letters: queues run under their names in lower case."""
    for each in tree.walk():
        name = each.queue.name
        if name != name.lower():
            yield problem((*each.path, "name"), "queue-case", f"queue {name} runs as {name.lower()}")
