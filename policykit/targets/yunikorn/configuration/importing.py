"""Reads a partition back into a policy: its queues, placement rules and other options.

Its access lists add up from the root; a policy states changes only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from policykit.model.inventory import Inventory
from policykit.model.pool import Amounts
from policykit.model.queue import Queue as PolicyQueue
from policykit.model.queue import Submitters
from policykit.namedtuple import NamedTuple
from policykit.targets.import_values import quantities, without_empty
from policykit.targets.yunikorn import queue_tree
from policykit.targets.yunikorn.configuration import access_lists, placement_rules, properties, values
from policykit.targets.yunikorn.configuration.access_lists import ALL
from policykit.targets.yunikorn.configuration.placement_rules import KNOWN, Rule
from policykit.targets.yunikorn.configuration.queues_yaml import (
    DEFAULT,
    DEFAULT_SORT,
    ChildTemplate,
    Configuration,
    Limit,
    Partition,
    Queue,
    walk,
)
from policykit.targets.yunikorn.configuration.values import CORES
from policykit.targets.yunikorn.names import ROOT
from policykit.targets.yunikorn.options import FALLBACK
from policykit.targets.yunikorn.queue_tree import FALLBACK_NAME as DEFAULT_QUEUE
from policykit.targets.yunikorn.queue_tree import without_padding
from policykit.targets.yunikorn.versions import parse

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
        guarantee=values.to_amounts(queue.resources.guaranteed),
        limit=without_padding(values.to_amounts(queue.resources.maximum)),
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
            elif values.quantity(resource, text) is None:
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


def add_queue_options(root: Queue, given: Mapping[str, str], inventory: Inventory) -> None:
    """Adds the settings of every queue. `given` maps full path to the name in the policy."""
    stated = dict(_all(root, ROOT, 0, given, inventory))
    if stated:
        inventory.option(TARGET, "queues", stated)


def _all(
    queue: Queue, path: str, above: int, given: Mapping[str, str], inventory: Inventory
) -> Iterator[tuple[str, dict[str, Any]]]:
    """`above`: maxapplications of the parent, which a queue inherits."""
    stated = _options(given[path], queue, above, inventory)
    if stated:
        yield given[path], stated
    for child in queue.queues:
        yield from _all(child, f"{path}.{child.name.lower()}", queue.applications, given, inventory)


def _options(name: str, queue: Queue, above: int, inventory: Inventory) -> dict[str, Any]:
    admins = access_lists.read(queue.admin)
    if admins is None:
        inventory.add_remark(f"queue {name}: adminacl {queue.admin!r} is invalid in YuniKorn; left out")
    return without_empty(
        admins=without_empty(**admins._asdict()) if admins else None,
        maxApplications=queue.applications if queue.applications not in (0, above) else None,
        properties=_properties(name, queue.properties, inventory, shared=name != ROOT),
        childTemplate=_template(name, queue.template, inventory),
        limits=[_limit(limit) for limit in queue.limits],
    )


def _properties(
    name: str, stated: Mapping[str, str], inventory: Inventory, *, shared: bool
) -> dict[str, str]:
    """Properties with an effect; `shared`: without those that the queue itself states in a policy."""
    kept: dict[str, str] = {}
    newest = parse("")
    for key, text in properties.newest_names(stated).items():
        problem = properties.problem(key, text, newest)
        if problem:
            inventory.add_remark(f"queue {name}: property {key} {problem}; left out")
        elif not (shared and _of_policy(key, text)):
            kept[key] = text
    return kept


def _of_policy(key: str, text: str) -> bool:
    """Whether the queue's `priority` or `reclaimable` states it."""
    if key == properties.OFFSET:
        return text.isdecimal()
    return key == properties.PREEMPTION and text.lower() == "disabled"


def _template(name: str, template: ChildTemplate, inventory: Inventory) -> dict[str, Any]:
    return without_empty(
        maxApplications=template.applications or None,
        guarantee=quantities(values.to_amounts(template.resources.guaranteed)),
        limit=quantities(values.to_amounts(template.resources.maximum)),
        properties=_properties(name, template.properties, inventory, shared=False),
    )


def _limit(limit: Limit) -> dict[str, Any]:
    return without_empty(
        description=limit.description,
        users=limit.users,
        groups=limit.groups,
        max=quantities(values.to_amounts(limit.resources)),
        maxApplications=limit.applications or None,
    )


TARGET = "yunikorn"


def add_partition(configuration: Configuration, inventory: Inventory) -> None:
    """Adds the partition that Kubernetes uses, and reports the others."""
    ours = next((p for p in configuration.partitions if p.name.lower() in ("", DEFAULT)), None)
    for partition in configuration.partitions:
        if partition is not ours:
            inventory.add_remark(
                f"partition {partition.name} of YuniKorn: Kubernetes uses only `default`; left out"
            )
    if ours is not None:
        _add_whole(ours, inventory)


def _add_whole(partition: Partition, inventory: Inventory) -> None:
    root = _root(partition)
    names = queue_names(root, inventory)
    _add_rules(partition.rules, names, inventory)
    keeps_default = not _is_standard(partition)
    add_queues(root, names, inventory, keeps_default=keeps_default)
    add_queue_options(root, names, inventory)
    if partition.preemption.enabled is not None and inventory.preemption.reclaim is None:
        inventory.preemption = inventory.preemption._replace(reclaim=partition.preemption.enabled)
    if partition.preemption.quota is not None:
        inventory.option(TARGET, "quotaPreemption", partition.preemption.quota)
    _node_sort(partition, inventory)
    if partition.group_resolver:
        inventory.add_remark(
            f"usergroupresolver {partition.group_resolver} of YuniKorn: "
            "a policy has no field for it; left out"
        )


def _root(partition: Partition) -> Queue:
    """The whole tree, with the root that YuniKorn adds if the file has none."""
    top = partition.queues or ()
    if partition.inserted_root:
        return Queue(ROOT, True, limits=partition.limits, queues=top)
    return top[0]._replace(limits=top[0].limits or partition.limits)


def _is_standard(partition: Partition) -> bool:
    """Whether the queue `default` exists only because the rules end in it."""
    known = placement_rules.parse_standard_rules(partition.rules)
    return known is not None and known[1] == f"{ROOT}.{DEFAULT_QUEUE}"


def _node_sort(partition: Partition, inventory: Inventory) -> None:
    sort = partition.node_sort
    if sort.type not in ("", "fair", "binpacking"):
        inventory.add_remark(
            f"nodesortpolicy {sort.type} of YuniKorn is neither fair nor binpacking; left out"
        )
    else:
        weights = sort.weights or DEFAULT_SORT.weights
        named = {"cpu" if name == CORES else name: weight for name, weight in weights.items()}
        inventory.option(TARGET, "nodeSort", {"type": sort.type or DEFAULT_SORT.type, "weights": named})


def _add_rules(rules: tuple[Rule, ...], names: Mapping[str, str], inventory: Inventory) -> None:
    """Adds the rules. `names` maps the full path of a queue to its name in the policy."""
    known = placement_rules.parse_standard_rules(rules)
    if known is None:
        inventory.option(
            TARGET, "placementRules", [_rule(rule) for rule in rules if _usable(rule, inventory)]
        )
        return
    below, fallback = known
    if below:
        inventory.option(TARGET, "namespaceQueues", names.get(below, below))
    if names.get(fallback, fallback.removeprefix(f"{ROOT}.")) != FALLBACK:
        inventory.option(TARGET, "fallback", names.get(fallback, fallback))


def _usable(rule: Rule, inventory: Inventory) -> bool:
    unknown = [each.name for each in rule.chain if each.name.lower() not in KNOWN]
    if unknown:
        inventory.add_remark(f"placement rule {unknown[0]!r} does not exist in YuniKorn; left out")
    return not unknown


def _rule(rule: Rule) -> dict[str, Any]:
    chosen = rule.filter
    return without_empty(
        name=rule.name.lower(),
        value=rule.value,
        create=rule.create or None,
        filter=without_empty(
            type="deny" if chosen.type == "deny" else "", users=chosen.users, groups=chosen.groups
        ),
        parent=_rule(rule.parent) if rule.parent else None,
    )
