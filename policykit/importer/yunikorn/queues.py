"""YuniKorn's queues as queues of the policy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from policykit.importer.inventory import Inventory
from policykit.importer.yunikorn import access
from policykit.importer.yunikorn.access import Access
from policykit.model.pool import Amounts
from policykit.model.queue import Queue as Share
from policykit.targets.yunikorn import queue_tree
from policykit.targets.yunikorn.configuration import properties, resources
from policykit.targets.yunikorn.configuration.queues_yaml import Queue, walk
from policykit.targets.yunikorn.names import ROOT
from policykit.targets.yunikorn.queue_tree import without_padding


def names(root: Queue, inventory: Inventory) -> dict[str, str]:
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


def add(root: Queue, given: Mapping[str, str], inventory: Inventory, *, keeps_default: bool) -> None:
    """Adds every queue below root; `default` only if it is more than the fallback."""
    people = access.of_root(root, inventory)
    for child in root.queues:
        made = Queue(queue_tree.FALLBACK_NAME, submit=child.submit, applications=root.applications)
        if keeps_default or child != made or access.below(people, child, inventory).wanted != people.wanted:
            _add(child, ROOT, people, given, inventory)


def _add(queue: Queue, above: str, people: Access, given: Mapping[str, str], inventory: Inventory) -> None:
    path = f"{above}.{queue.name.lower()}"
    name, parent = given[path], given[above] if above != ROOT else ""
    mine = access.below(people, queue, inventory)
    _report_invalid_amounts(name, queue, inventory)
    offset, reclaimable = _priority(queue)
    share = Share(
        name,
        parent,
        guarantee=resources.to_amounts(queue.resources.guaranteed),
        limit=without_padding(resources.to_amounts(queue.resources.maximum)),
        priority=offset,
        reclaimable=reclaimable,
        submit=mine.wanted if mine.wanted != people.wanted else None,
    )
    there = inventory.queues.get(name)
    if there is None:
        inventory.add_queue(share)
        inventory.yunikorn_only.add(name)
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
                inventory.say(
                    f"queue {name}: {key} of cpu has no effect because YuniKorn uses vcore; left out"
                )
            elif resources.quantity(resource, text) is None:
                inventory.say(f"queue {name}: {key} of {resource} is {text!r}, not a valid amount; left out")


def _compare(there: Share, here: Share, inventory: Inventory) -> None:
    """Reports differences from the same queue in another system's file."""
    pairs: tuple[tuple[str, Amounts, Amounts], ...] = (
        ("guaranteed", {**there.guarantee, **there.deserved}, here.guarantee),
        ("max", there.limit, here.limit),
    )
    for key, ours, theirs in pairs:
        if any(name in ours and ours[name] != amount for name, amount in theirs.items()):
            inventory.say(
                f"queue {here.name}: {key} of YuniKorn differs from another file; that file is used"
            )
