"""Queues of YuniKorn as the shares of a policy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from policykit.importer.found import Found
from policykit.importer.yunikorn import access
from policykit.importer.yunikorn.access import Access
from policykit.model.pool import Amounts
from policykit.model.queue import Queue as Share
from policykit.targets.yunikorn.configuration import properties, resources
from policykit.targets.yunikorn.configuration.queues import ROOT, Queue, walk
from policykit.targets.yunikorn.derived import paths
from policykit.targets.yunikorn.derived.shares import as_meant


def names(root: Queue, found: Found) -> dict[str, str]:
    """Whole path of each queue to its name in the policy: its own, or its path where two have the same.

    Queues that another system's files name already keep those names. YuniKorn runs all in small letters.
    """
    known = {path: name for name, path in paths.paths(found.queues.values()).items()}
    listed = [path.lower() for path, _ in walk(root._replace(name=ROOT))][1:]
    own = Counter(paths.own_name(path) for path in listed)
    taken = frozenset(known.values())
    given: dict[str, str] = {ROOT: ROOT}
    for path in listed:
        short = paths.own_name(path)
        alone = own[short] == 1 and short not in taken and short != ROOT
        given[path] = known.get(path, short if alone else path.removeprefix(f"{ROOT}."))
    return given


def add(root: Queue, given: Mapping[str, str], found: Found, *, keeps_default: bool) -> None:
    """Every queue below root; `default` unless it only serves the fallback."""
    people = access.of_root(root, found)
    for child in root.queues:
        made = Queue(paths.DEFAULT, submit=child.submit, applications=root.applications)
        if keeps_default or child != made or access.below(people, child, found).wanted != people.wanted:
            _add(child, ROOT, people, given, found)


def _add(queue: Queue, above: str, people: Access, given: Mapping[str, str], found: Found) -> None:
    path = f"{above}.{queue.name.lower()}"
    name, parent = given[path], given[above] if above != ROOT else ""
    mine = access.below(people, queue, found)
    _say_unreadable(name, queue, found)
    offset, reclaimable = _stated(queue)
    share = Share(
        name,
        parent,
        guarantee=resources.to_amounts(queue.resources.guaranteed),
        limit=as_meant(resources.to_amounts(queue.resources.maximum)),
        priority=offset,
        reclaimable=reclaimable,
        submit=mine.wanted if mine.wanted != people.wanted else None,
    )
    there = found.queues.get(name)
    if there is None:
        found.add_queue(share)
        found.lesser.add(name)
    else:
        _compare(there, share, found)
    for child in queue.queues:
        _add(child, path, mine, given, found)


def _stated(queue: Queue) -> tuple[int | None, bool]:
    """priority and reclaimable, as their properties have them."""
    offset = queue.properties.get(properties.OFFSET, "")
    priority = (
        int(offset) if offset.isdecimal() and properties.KNOWN[properties.OFFSET].takes(offset) else None
    )
    return priority, queue.properties.get(properties.PREEMPTION, "").lower() != "disabled"


def _say_unreadable(name: str, queue: Queue, found: Found) -> None:
    for key, stated in (("guaranteed", queue.resources.guaranteed), ("max", queue.resources.maximum)):
        for resource, text in (stated or {}).items():
            if resource == "cpu":
                found.say(
                    f"queue {name}: {key} of cpu counts for no pod of YuniKorn, which has vcore; left out"
                )
            elif resources.quantity(resource, text) is None:
                found.say(f"queue {name}: {key} of {resource} is {text!r}, which is no amount; left out")


def _compare(there: Share, here: Share, found: Found) -> None:
    """Another system's file has the queue: it says at least as much, and should say the same."""
    pairs: tuple[tuple[str, Amounts, Amounts], ...] = (
        ("guaranteed", {**there.guarantee, **there.deserved}, here.guarantee),
        ("max", there.limit, here.limit),
    )
    for key, ours, theirs in pairs:
        if any(name in ours and ours[name] != amount for name, amount in theirs.items()):
            found.say(f"queue {here.name}: {key} of YuniKorn differs from another file's; the first is taken")
