"""Access lists down the tree: YuniKorn adds them up from the root, a policy states them per queue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from policykit.model.queue import Queue, Submitters
from policykit.targets.yunikorn.configuration import acl

EVERYBODY = Submitters((acl.EVERYBODY,))
_NOBODY = Submitters()


def lists(queues: Sequence[Queue], everybody_else: Sequence[str] = ()) -> dict[str, Submitters]:
    """Queue, or "" for the root, to those its access list names; a queue that is missing has no list.

    An access list applies to every queue below, so if one of those admits fewer people, the list goes
    to the children instead. `everybody_else`: further queues below the root without a list.
    """
    known = {queue.name for queue in queues}
    children: dict[str, list[Queue]] = {}
    for queue in queues:
        children.setdefault(queue.parent if queue.parent in known else "", []).append(queue)
    found: dict[str, Submitters] = {}
    _place("", EVERYBODY, children, found)
    if "" not in found:
        found.update(dict.fromkeys(everybody_else, EVERYBODY))
    return found


def _place(
    name: str,
    people: Submitters,
    children: Mapping[str, Sequence[Queue]],
    found: dict[str, Submitters],
    granted: Submitters = _NOBODY,
) -> None:
    """Writes the list of one queue, and of those below; `granted`: whom the lists above let in already."""
    more = not _within(people, granted)
    if more and all(_within(people, other) for other in _below(name, people, children)):
        granted = found[name] = people
    for child in children.get(name, ()):
        own = people if child.submit is None else child.submit
        _place(child.name, own, children, found, granted)


def _below(name: str, people: Submitters, children: Mapping[str, Sequence[Queue]]) -> list[Submitters]:
    """Who may submit to each queue below one."""
    found: list[Submitters] = []
    for child in children.get(name, ()):
        own = people if child.submit is None else child.submit
        found += [own, *_below(child.name, own, children)]
    return found


def _within(people: Submitters, others: Submitters) -> bool:
    """Whether everyone of `people` is among `others`."""
    if acl.EVERYBODY in others.users:
        return True
    return set(people.users) <= set(others.users) and set(people.groups) <= set(others.groups)
