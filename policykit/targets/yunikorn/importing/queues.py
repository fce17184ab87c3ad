"""Reads YuniKorn's queues back into a policy.

Its access lists add up from the root; a policy states changes only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from policykit.model.inventory import Inventory
from policykit.model.pool import Amounts
from policykit.model.queue import Queue as PolicyQueue
from policykit.model.queue import Submitters
from policykit.namedtuple import NamedTuple
from policykit.targets.yunikorn import queue_tree
from policykit.targets.yunikorn.configuration import access_lists, properties, resources
from policykit.targets.yunikorn.configuration.access_lists import ALL
from policykit.targets.yunikorn.configuration.queues_yaml import Queue, walk
from policykit.targets.yunikorn.names import ROOT
from policykit.targets.yunikorn.queue_tree import without_padding

_NOBODY = Submitters()


class _Access(NamedTuple):
    """Who may submit to a queue."""

    granted: Submitters
    """Everyone allowed by its list and those of its ancestors."""
    wanted: Submitters
    """What the policy states, or the queue inherits from its parent."""


def queue_names(root: Queue, inventory: Inventory) -> dict[str, str]:
    """Full path of each queue to its name in the policy: its own name, or its path if that is ambiguous.

    Queues that other systems define keep those names. YuniKorn uses lower case.
    """
    known = {path: name for name, path in queue_tree.queue_paths(inventory.queues.values()).items()}
    listed = [path.lower() for path, _ in walk(root._replace(name=ROOT))][1:]
    own = Counter(queue_tree.own_name(path) for path in listed)
    taken = frozenset(known.values())
    given: dict[str, str] = {ROOT: ROOT}
    for path in listed:
        short = queue_tree.own_name(path)
        alone = own[short] == 1 and short not in taken and short != ROOT
        given[path] = known.get(path, short if alone else path.removeprefix(f"{ROOT}."))
    return given


def add_queues(root: Queue, given: Mapping[str, str], inventory: Inventory, *, keeps_default: bool) -> None:
    """Adds every queue below root; `default` only if it is more than the fallback."""
    access = _access_to_root(root, inventory)
    for child in root.queues:
        made = Queue(queue_tree.FALLBACK_NAME, submit=child.submit, applications=root.applications)
        if keeps_default or child != made or _access_below(access, child, inventory).wanted != access.wanted:
            _add(child, ROOT, access, given, inventory)


def _add(queue: Queue, above: str, access: _Access, given: Mapping[str, str], inventory: Inventory) -> None:
    path = f"{above}.{queue.name.lower()}"
    name, parent = given[path], given[above] if above != ROOT else ""
    mine = _access_below(access, queue, inventory)
    _report_invalid_amounts(name, queue, inventory)
    offset, reclaimable = _priority(queue)
    share = PolicyQueue(
        name,
        parent,
        guarantee=resources.to_amounts(queue.resources.guaranteed),
        limit=without_padding(resources.to_amounts(queue.resources.maximum)),
        priority=offset,
        reclaimable=reclaimable,
        submit=mine.wanted if mine.wanted != access.wanted else None,
    )
    there = inventory.queues.get(name)
    if there is None:
        inventory.add_queue(share)
        inventory.partial_queues.add(name)
    else:
        _compare(there, share, inventory)
    for child in queue.queues:
        _add(child, path, mine, given, inventory)


def _priority(queue: Queue) -> tuple[int | None, bool]:
    """`priority` and `reclaimable` from the properties."""
    offset = queue.properties.get(properties.OFFSET, "")
    priority = (
        int(offset) if offset.isdecimal() and properties.KNOWN[properties.OFFSET].takes(offset) else None
    )
    return priority, queue.properties.get(properties.PREEMPTION, "").lower() != "disabled"


def _report_invalid_amounts(name: str, queue: Queue, inventory: Inventory) -> None:
    for key, stated in (("guaranteed", queue.resources.guaranteed), ("max", queue.resources.maximum)):
        for resource, text in (stated or {}).items():
            if resource == "cpu":
                inventory.add_remark(
                    f"queue {name}: {key} of cpu has no effect because YuniKorn uses vcore; left out"
                )
            elif resources.quantity(resource, text) is None:
                inventory.add_remark(
                    f"queue {name}: {key} of {resource} is {text!r}, not a valid amount; left out"
                )


def _compare(there: PolicyQueue, here: PolicyQueue, inventory: Inventory) -> None:
    """Reports differences from the same queue in another system's file."""
    pairs: tuple[tuple[str, Amounts, Amounts], ...] = (
        ("guaranteed", {**there.guarantee, **there.deserved}, here.guarantee),
        ("max", there.limit, here.limit),
    )
    for key, ours, theirs in pairs:
        if any(name in ours and ours[name] != amount for name, amount in theirs.items()):
            inventory.add_remark(
                f"queue {here.name}: {key} of YuniKorn differs from another file; that file is used"
            )


def _access_to_root(root: Queue, inventory: Inventory) -> _Access:
    """Access to the root. In a policy everybody may submit by default."""
    if not _any_list(root):
        inventory.add_remark(
            "no queue of YuniKorn has a submitacl, so nobody may submit; the policy allows everybody"
        )
        return _Access(ALL, ALL)
    return _Access(_submitters(root, inventory), ALL)


def _access_below(above: _Access, queue: Queue, inventory: Inventory) -> _Access:
    """Access to a queue, from its parent's."""
    granted = _sum(above.granted, _submitters(queue, inventory))
    if not queue.leaf and granted == _NOBODY:
        # Applications run in leaf queues, whose lists apply.
        return _Access(granted, above.wanted)
    same = set(granted.users) == set(above.wanted.users) and set(granted.groups) == set(above.wanted.groups)
    return _Access(granted, above.wanted if same else granted)


def _any_list(queue: Queue) -> bool:
    return bool(queue.submit or queue.admin) or any(map(_any_list, queue.queues))


def _submitters(queue: Queue, inventory: Inventory) -> Submitters:
    listed = access_lists.read(queue.submit)
    if listed is None:
        inventory.add_remark(
            f"queue {queue.name}: submitacl {queue.submit!r} is invalid in YuniKorn; left out"
        )
        return _NOBODY
    return listed


def _sum(one: Submitters, other: Submitters) -> Submitters:
    if access_lists.EVERYBODY in (*one.users, *other.users):
        return ALL
    return Submitters(
        tuple(dict.fromkeys((*one.users, *other.users))), tuple(dict.fromkeys((*one.groups, *other.groups)))
    )
