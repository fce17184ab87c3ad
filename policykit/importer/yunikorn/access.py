"""Who may submit: YuniKorn adds access lists up from the root, a policy states them where they change."""

from __future__ import annotations

from typing import NamedTuple

from policykit.importer.found import Found
from policykit.model.queue import Submitters
from policykit.targets.yunikorn.configuration import acl
from policykit.targets.yunikorn.configuration.queues import Queue
from policykit.targets.yunikorn.derived.submitters import EVERYBODY

_NOBODY = Submitters()


class Access(NamedTuple):
    """Of one queue."""

    granted: Submitters
    """Everyone who its list, and those above, let in."""
    wanted: Submitters
    """What a policy says of it, stated or taken over from its parent."""


def of_root(root: Queue, found: Found) -> Access:
    """A policy lets everybody in where it says nothing."""
    if not _any_list(root):
        found.say("no queue of YuniKorn has submitacl, so nobody may submit; the policy lets everybody")
        return Access(EVERYBODY, EVERYBODY)
    return Access(_people(root, found), EVERYBODY)


def below(above: Access, queue: Queue, found: Found) -> Access:
    """Of a queue, given its parent's."""
    granted = _sum(above.granted, _people(queue, found))
    if not queue.leaf and granted == _NOBODY:
        # Applications stand in leaves: their lists say who comes.
        return Access(granted, above.wanted)
    same = set(granted.users) == set(above.wanted.users) and set(granted.groups) == set(above.wanted.groups)
    return Access(granted, above.wanted if same else granted)


def _any_list(queue: Queue) -> bool:
    return bool(queue.submit or queue.admin) or any(map(_any_list, queue.queues))


def _people(queue: Queue, found: Found) -> Submitters:
    people = acl.read(queue.submit)
    if people is None:
        found.say(f"queue {queue.name}: submitacl {queue.submit!r} is none that YuniKorn takes; left out")
        return _NOBODY
    return people


def _sum(one: Submitters, other: Submitters) -> Submitters:
    if acl.EVERYBODY in (*one.users, *other.users):
        return EVERYBODY
    return Submitters(
        tuple(dict.fromkeys((*one.users, *other.users))), tuple(dict.fromkeys((*one.groups, *other.groups)))
    )
