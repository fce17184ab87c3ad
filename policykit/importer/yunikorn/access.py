"""Who may submit: YuniKorn's access lists add up from the root; a policy states changes only."""

from __future__ import annotations

from typing import NamedTuple

from policykit.importer.inventory import Inventory
from policykit.model.queue import Submitters
from policykit.targets.yunikorn.configuration import access_lists
from policykit.targets.yunikorn.configuration.access_lists import ALL
from policykit.targets.yunikorn.configuration.queues_yaml import Queue

_NOBODY = Submitters()


class Access(NamedTuple):
    """Who may submit to a queue."""

    granted: Submitters
    """Everyone allowed by its list and those of its ancestors."""
    wanted: Submitters
    """What the policy states, or the queue inherits from its parent."""


def of_root(root: Queue, inventory: Inventory) -> Access:
    """Access to the root. In a policy everybody may submit by default."""
    if not _any_list(root):
        inventory.say(
            "no queue of YuniKorn has a submitacl, so nobody may submit; the policy allows everybody"
        )
        return Access(ALL, ALL)
    return Access(_people(root, inventory), ALL)


def below(above: Access, queue: Queue, inventory: Inventory) -> Access:
    """Access to a queue, from its parent's."""
    granted = _sum(above.granted, _people(queue, inventory))
    if not queue.leaf and granted == _NOBODY:
        # Applications run in leaf queues, whose lists apply.
        return Access(granted, above.wanted)
    same = set(granted.users) == set(above.wanted.users) and set(granted.groups) == set(above.wanted.groups)
    return Access(granted, above.wanted if same else granted)


def _any_list(queue: Queue) -> bool:
    return bool(queue.submit or queue.admin) or any(map(_any_list, queue.queues))


def _people(queue: Queue, inventory: Inventory) -> Submitters:
    people = access_lists.read(queue.submit)
    if people is None:
        inventory.say(f"queue {queue.name}: submitacl {queue.submit!r} is invalid in YuniKorn; left out")
        return _NOBODY
    return people


def _sum(one: Submitters, other: Submitters) -> Submitters:
    if access_lists.EVERYBODY in (*one.users, *other.users):
        return ALL
    return Submitters(
        tuple(dict.fromkeys((*one.users, *other.users))), tuple(dict.fromkeys((*one.groups, *other.groups)))
    )
