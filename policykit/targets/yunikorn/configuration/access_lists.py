"""Access lists: `users groups`, two comma-separated lists with exactly one space between them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from policykit.model.queue import Queue, Submitters

EVERYBODY = "*"
ALL = Submitters((EVERYBODY,))
_NOBODY = Submitters()
_USER = re.compile(r"[_a-zA-Z][a-zA-Z0-9_.@-]*[$]?\Z")
_GROUP = re.compile(r"[_a-zA-Z][a-zA-Z0-9_-]*\Z")


def write(people: Submitters) -> str:
    """The text of an access list; empty for nobody."""
    if EVERYBODY in (*people.users, *people.groups):
        return EVERYBODY
    users, groups = ",".join(people.users), ",".join(people.groups)
    return f"{users} {groups}" if groups else users


def read(text: str) -> Submitters | None:
    """Users and groups of an access list; None if creating the queue would fail (core acl.go, 1.9)."""
    parts = text.split(" ")
    if len(parts) > 2:
        return None
    users, groups = (*(tuple(filter(None, part.split(","))) for part in parts), ())[:2]
    if (EVERYBODY,) in (users, groups):
        return ALL
    return Submitters(users, groups)


def invalid_names(people: Submitters) -> tuple[str, ...]:
    """Names that YuniKorn drops from an access list because it does not accept them."""
    users = [user for user in people.users if user != EVERYBODY and not _USER.match(user)]
    groups = [group for group in people.groups if group != EVERYBODY and not _GROUP.match(group)]
    return (*users, *groups)


def submit_lists(queues: Sequence[Queue], everybody_else: Sequence[str] = ()) -> dict[str, Submitters]:
    """Queue, or "" for the root, to its access list. Queues without a list are left out.

    An access list applies to every queue below, so if one of those admits fewer users, the list goes
    to the children instead. `everybody_else`: further queues below the root that admit everybody.
    """
    known = {queue.name for queue in queues}
    children: dict[str, list[Queue]] = {}
    for queue in queues:
        children.setdefault(queue.parent if queue.parent in known else "", []).append(queue)
    found: dict[str, Submitters] = {}
    _grant("", ALL, children, found)
    if "" not in found:
        found.update(dict.fromkeys(everybody_else, ALL))
    return found


def _grant(
    name: str,
    people: Submitters,
    children: Mapping[str, Sequence[Queue]],
    found: dict[str, Submitters],
    granted: Submitters = _NOBODY,
) -> None:
    """Adds the lists of a queue and those below it. `granted`: whom the lists above already admit."""
    more = not _is_subset(people, granted)
    if more and all(_is_subset(people, other) for other in _submitters_below(name, people, children)):
        granted = found[name] = people
    for child in children.get(name, ()):
        own = people if child.submit is None else child.submit
        _grant(child.name, own, children, found, granted)


def _submitters_below(
    name: str, people: Submitters, children: Mapping[str, Sequence[Queue]]
) -> list[Submitters]:
    """Who may submit to each queue below one."""
    found: list[Submitters] = []
    for child in children.get(name, ()):
        own = people if child.submit is None else child.submit
        found += [own, *_submitters_below(child.name, own, children)]
    return found


def _is_subset(people: Submitters, others: Submitters) -> bool:
    """Whether `others` contains all of `people`."""
    if EVERYBODY in others.users:
        return True
    return set(people.users) <= set(others.users) and set(people.groups) <= set(others.groups)
