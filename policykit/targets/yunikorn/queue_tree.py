"""The queues of a policy as YuniKorn's tree: paths, amounts, and the options of each queue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from policykit.errors import PolicykitError
from policykit.model.pool import Amounts
from policykit.model.queue import Queue as PolicyQueue
from policykit.model.queue import Submitters
from policykit.model.release import Version
from policykit.namedtuple import NamedTuple
from policykit.targets.yunikorn.configuration import access_lists, properties
from policykit.targets.yunikorn.configuration.queues_yaml import Queue
from policykit.targets.yunikorn.configuration.values import Resources, from_amounts
from policykit.targets.yunikorn.names import ROOT
from policykit.targets.yunikorn.options import QueueOptions, YuniKornOptions

FALLBACK_NAME = "default"


def own_name(name: str) -> str:
    """A queue's name below its parent: the part after the last dot, as dots separate names of a path."""
    return name.rpartition(".")[2]


def queue_paths(queues: Iterable[PolicyQueue]) -> dict[str, str]:
    """Queue of the policy to its full path. A queue whose parent is not among them is a child of root."""
    known = {queue.name: queue for queue in queues}
    return {name: ".".join((ROOT, *_steps(queue, known))) for name, queue in known.items()}


def _steps(queue: PolicyQueue, known: Mapping[str, PolicyQueue]) -> tuple[str, ...]:
    steps: list[str] = []
    seen: set[str] = set()
    here: PolicyQueue | None = queue
    while here is not None and here.name not in seen:
        seen.add(here.name)
        steps.append(own_name(here.name))
        here = known.get(here.parent)
    return tuple(reversed(steps))


def checked_paths(queues: Iterable[PolicyQueue]) -> dict[str, str]:
    """The paths, which must be unique. Raises PolicykitError for two queues with one path, and for `root`."""
    found = queue_paths(queues)
    places: dict[str, str] = {}
    for name, path in found.items():
        if own_name(name) == ROOT:
            raise PolicykitError(
                f"queue {name} is named root, which YuniKorn creates itself",
                "rename the queue",
                path=("queues", name),
            )
        if path in places:
            raise PolicykitError(
                f"queues {places[path]} and {name} are both {path} in YuniKorn, where dots separate names",
                "rename one of them after the last dot",
                path=("queues", name),
            )
        places[path] = name
    return found


UNLIMITED = 10**18
"""Amount of a resource that is added to a max of zeros: YuniKorn treats zeros alone as no max."""
_UNLIMITED_TEXT = "1E"
_PADDING_RESOURCES = ("pods", "ephemeral-storage", "memory", "hugepages-2Mi", "hugepages-1Gi")


class TreeResources(NamedTuple):
    """Amounts by queue, and notices about what they cannot express."""

    resources: Mapping[str, Resources]
    notices: tuple[str, ...] = ()


def tree_resources(queues: Sequence[PolicyQueue], *, deserved: bool) -> TreeResources:
    """Amounts of each queue. `deserved`: guarantee the deserved amounts of queues that have some."""
    limits, over = _capped_limits(queues)
    found = {
        queue.name: Resources(
            from_amounts({**queue.guarantee, **(queue.deserved if deserved else {})}) or None,
            _maximum(limits[queue.name], _resources_limited_above(queue, queues)) or None,
        )
        for queue in queues
    }
    return TreeResources(found, (*_deserved_notices(queues, deserved=deserved), *over))


def _maximum(limit: Amounts, above: frozenset[str]) -> dict[str, str]:
    """The limit, padded if it is all zeros. `above`: resources in the limits of parent queues."""
    stated = from_amounts(limit)
    if not limit or any(limit.values()):
        return stated
    beside = next((name for name in _PADDING_RESOURCES if name not in {*limit, *above}), None)
    return {**stated, beside: _UNLIMITED_TEXT} if beside else stated


def _resources_limited_above(queue: PolicyQueue, queues: Sequence[PolicyQueue]) -> frozenset[str]:
    known = {each.name: each for each in queues}
    found: set[str] = set()
    here = known.get(queue.parent)
    while here is not None:
        found |= here.limit.keys()
        here = known.get(here.parent)
    return frozenset(found)


def without_padding(limit: Amounts) -> dict[str, int]:
    """A limit without the padding of a max that is all zeros."""
    nonzero = {name: amount for name, amount in limit.items() if amount}
    if len(nonzero) == 1 and len(limit) > 1 and next(iter(nonzero.values())) == UNLIMITED:
        return {name: amount for name, amount in limit.items() if not amount}
    return dict(limit)


def _capped_limits(queues: Sequence[PolicyQueue]) -> tuple[dict[str, Amounts], list[str]]:
    """Limits, none above that of a parent: YuniKorn would refuse the file."""
    known = {queue.name: queue for queue in queues}
    found: dict[str, Amounts] = {}
    over: dict[str, None] = {}
    for queue in queues:
        limit = dict(queue.limit)
        above = known.get(queue.parent)
        while above is not None:
            for name in sorted(limit.keys() & above.limit.keys()):
                if limit[name] > above.limit[name]:
                    limit[name] = above.limit[name]
                    over[queue.name] = None
            above = known.get(above.parent)
        found[queue.name] = limit
    if not over:
        return found, []
    return found, [
        f"limit of queue {', '.join(over)} is more than one above it allows, which YuniKorn refuses: the "
        "smaller one is written"
    ]


def _deserved_notices(queues: Sequence[PolicyQueue], *, deserved: bool) -> list[str]:
    named = ", ".join(queue.name for queue in queues if queue.deserved)
    if not named:
        return []
    if deserved:
        free = any(queue.deserved and queue.guarantee for queue in queues)
        return [
            "YuniKorn has one amount, guaranteed, which is lent while unused and taken back by preemption. "
            f"For queue {named} it is written from deserved"
            + (", so what guarantee keeps free is lent too" if free else "")
        ]
    return [
        f"deserved of queue {named} is left out: YuniKorn has one amount, guaranteed, and deserved "
        "does not fit into that of the queues above. Nearest: guarantee, which is written"
    ]


class TreeInput(NamedTuple):
    """What the tree is built from."""

    queues: Sequence[PolicyQueue]
    resources: Mapping[str, Resources]
    options: YuniKornOptions
    version: Version
    holding: frozenset[str] = frozenset()
    """Queues that have children, of the policy or created by placement rules."""


def build_root(given: TreeInput) -> Queue:
    """`root` with everything below it."""
    fallback = _needs_fallback(given)
    granted = access_lists.submit_lists(given.queues, (FALLBACK_NAME,) if fallback else ())
    of_root = given.options.queue_options(ROOT)
    children = [_queue(each, given, granted, of_root.applications) for each in _below("", given)]
    if fallback:
        children.append(
            Queue(
                FALLBACK_NAME,
                submit=_access_list(granted.get(FALLBACK_NAME)),
                applications=of_root.applications,
            )
        )
    root = Queue(ROOT, parent=True, submit=_access_list(granted.get("")), applications=of_root.applications)
    return _with_options(root, of_root, given.version)._replace(queues=tuple(children))


def _needs_fallback(given: TreeInput) -> bool:
    """Whether queue `default` is the fallback without being a queue of the policy."""
    taken = {own_name(each.name) for each in _below("", given)}
    return (
        given.options.rules is None and given.options.fallback == FALLBACK_NAME and FALLBACK_NAME not in taken
    )


def _below(name: str, given: TreeInput) -> list[PolicyQueue]:
    known = {each.name for each in given.queues}
    return [each for each in given.queues if (each.parent if each.parent in known else "") == name]


def _queue(
    queue: PolicyQueue, given: TreeInput, granted: Mapping[str, Submitters], applications_above: int
) -> Queue:
    stated = given.options.queue_options(queue.name)
    # Below a queue with maxapplications every queue needs one.
    applications = stated.applications or applications_above
    children = tuple(_queue(child, given, granted, applications) for child in _below(queue.name, given))
    written = Queue(
        own_name(queue.name),
        parent=bool(children) or queue.name in given.holding,
        submit=_access_list(granted.get(queue.name)),
        resources=given.resources[queue.name],
        applications=applications,
        properties=_properties(queue),
        queues=children,
    )
    return _with_options(written, stated, given.version)


def _properties(queue: PolicyQueue) -> dict[str, str]:
    found: dict[str, str] = {}
    if queue.priority is not None:
        found[properties.OFFSET] = str(queue.priority)
    if not queue.reclaimable:
        found[properties.PREEMPTION] = "disabled"
    return found


def _with_options(queue: Queue, stated: QueueOptions, version: Version) -> Queue:
    return queue._replace(
        admin=_access_list(stated.admins),
        properties={**queue.properties, **_supported_properties(stated.properties, version)},
        template=stated.template._replace(
            properties=_supported_properties(stated.template.properties, version)
        ),
        limits=stated.limits,
    )


def _supported_properties(stated: Mapping[str, str], version: Version) -> dict[str, str]:
    """Properties that a release reads, under the names it uses."""
    read = {name: text for name, text in stated.items() if not properties.problem(name, text, version)}
    return properties.release_names(read, version)


def _access_list(people: Submitters | None) -> str:
    """An access list, without the names that YuniKorn cannot read."""
    if people is None:
        return ""
    unknown = access_lists.invalid_names(people)
    return access_lists.write(
        Submitters(
            tuple(user for user in people.users if user not in unknown),
            tuple(group for group in people.groups if group not in unknown),
        )
    )
