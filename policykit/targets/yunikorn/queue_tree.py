"""The queues of a policy as YuniKorn's tree: their paths, their amounts, and what the options say of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from policykit.errors import PolicykitError
from policykit.model.pool import Amounts
from policykit.model.queue import Queue as PolicyQueue
from policykit.model.queue import Submitters
from policykit.targets.release import Version
from policykit.targets.yunikorn.configuration import access_lists, properties, resources
from policykit.targets.yunikorn.configuration.queues_yaml import Queue
from policykit.targets.yunikorn.configuration.resources import Resources
from policykit.targets.yunikorn.names import ROOT
from policykit.targets.yunikorn.options import Options, QueueOptions

DEFAULT = "default"


def own_name(name: str) -> str:
    """A queue's name within the one above it: what follows the last dot, since dots divide paths."""
    return name.rpartition(".")[2]


def queue_paths(queues: Iterable[PolicyQueue]) -> dict[str, str]:
    """Queue of the policy to its whole path. A parent that is not among them counts as the root."""
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
    """The paths, which must differ. Raises PolicykitError for two queues in one place, and for `root`."""
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
"""Added to a max that is all zeros, which YuniKorn would treat as no max."""
_TEXT = "1E"
_BESIDE = ("pods", "ephemeral-storage", "memory", "hugepages-2Mi", "hugepages-1Gi")


class Shares(NamedTuple):
    """Amounts by queue, and what they do not say."""

    resources: Mapping[str, Resources]
    notices: tuple[str, ...] = ()


def shares(queues: Sequence[PolicyQueue], *, deserved: bool) -> Shares:
    """Amounts of each queue of a tree; `deserved`: guarantee what is deserved, where that is set."""
    limits, over = _limits(queues)
    found = {
        queue.name: Resources(
            resources.from_amounts({**queue.guarantee, **(queue.deserved if deserved else {})}) or None,
            _maximum(limits[queue.name], _named_above(queue, queues)) or None,
        )
        for queue in queues
    }
    return Shares(found, (*_said_of_deserved(queues, deserved=deserved), *over))


def _maximum(limit: Amounts, above: frozenset[str]) -> dict[str, str]:
    """A limit that YuniKorn takes for one: not all zero. `above`: what limits of queues above name."""
    stated = resources.from_amounts(limit)
    if not limit or any(limit.values()):
        return stated
    beside = next((name for name in _BESIDE if name not in {*limit, *above}), None)
    return {**stated, beside: _TEXT} if beside else stated


def _named_above(queue: PolicyQueue, queues: Sequence[PolicyQueue]) -> frozenset[str]:
    known = {each.name: each for each in queues}
    found: set[str] = set()
    here = known.get(queue.parent)
    while here is not None:
        found |= here.limit.keys()
        here = known.get(here.parent)
    return frozenset(found)


def as_meant(limit: Amounts) -> dict[str, int]:
    """A limit without the amount added to one that is all zeros."""
    meant = {name: amount for name, amount in limit.items() if amount}
    if len(meant) == 1 and len(limit) > 1 and next(iter(meant.values())) == UNLIMITED:
        return {name: amount for name, amount in limit.items() if not amount}
    return dict(limit)


def _limits(queues: Sequence[PolicyQueue]) -> tuple[dict[str, Amounts], list[str]]:
    """No queue may have more than one above it: YuniKorn refuses the file."""
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


def _said_of_deserved(queues: Sequence[PolicyQueue], *, deserved: bool) -> list[str]:
    named = ", ".join(queue.name for queue in queues if queue.deserved)
    if not named:
        return []
    if deserved:
        free = any(queue.deserved and queue.guarantee for queue in queues)
        return [
            "YuniKorn knows one promise, guaranteed: lent while it is not used, taken back by preemption. Of "
            f"queue {named} it is written from deserved"
            + ("; what guarantee keeps free is not kept" if free else "")
        ]
    return [
        f"deserved of queue {named} is left out: YuniKorn knows one promise, guaranteed, and written as that "
        "it would not fit into the queues above. Nearest: guarantee, which is written"
    ]


class TreePlan(NamedTuple):
    """What the tree is made of."""

    shares: Sequence[PolicyQueue]
    resources: Mapping[str, Resources]
    options: Options
    version: Version
    holding: frozenset[str] = frozenset()
    """Queues that hold queues: of the policy, or made by placement rules."""


def build(made: TreePlan) -> Queue:
    """`root` with everything below it."""
    fallback = _needs_fallback(made)
    granted = access_lists.submit_lists(made.shares, (DEFAULT,) if fallback else ())
    of_root = made.options.of(ROOT)
    children = [_queue(share, made, granted, of_root.applications) for share in _below("", made)]
    if fallback:
        children.append(
            Queue(DEFAULT, submit=_written(granted.get(DEFAULT)), applications=of_root.applications)
        )
    root = Queue(ROOT, parent=True, submit=_written(granted.get("")), applications=of_root.applications)
    return _with_options(root, of_root, made.version)._replace(queues=tuple(children))


def _needs_fallback(made: TreePlan) -> bool:
    """Whether the queue `default` is the fallback, and not one of the policy's."""
    taken = {own_name(share.name) for share in _below("", made)}
    return made.options.rules is None and made.options.fallback == DEFAULT and DEFAULT not in taken


def _below(name: str, made: TreePlan) -> list[PolicyQueue]:
    known = {share.name for share in made.shares}
    return [share for share in made.shares if (share.parent if share.parent in known else "") == name]


def _queue(share: PolicyQueue, made: TreePlan, granted: Mapping[str, Submitters], above: int) -> Queue:
    stated = made.options.of(share.name)
    # Below a queue with maxapplications every queue needs one.
    applications = stated.applications or above
    children = tuple(_queue(child, made, granted, applications) for child in _below(share.name, made))
    queue = Queue(
        own_name(share.name),
        parent=bool(children) or share.name in made.holding,
        submit=_written(granted.get(share.name)),
        resources=made.resources[share.name],
        applications=applications,
        properties=_properties(share),
        queues=children,
    )
    return _with_options(queue, stated, made.version)


def _properties(share: PolicyQueue) -> dict[str, str]:
    found: dict[str, str] = {}
    if share.priority is not None:
        found[properties.OFFSET] = str(share.priority)
    if not share.reclaimable:
        found[properties.PREEMPTION] = "disabled"
    return found


def _with_options(queue: Queue, stated: QueueOptions, version: Version) -> Queue:
    return queue._replace(
        admin=_written(stated.admins),
        properties={**queue.properties, **_known(stated.properties, version)},
        template=stated.template._replace(properties=_known(stated.template.properties, version)),
        limits=stated.limits,
    )


def _known(stated: Mapping[str, str], version: Version) -> dict[str, str]:
    """Properties that a release reads, as it spells them."""
    read = {name: text for name, text in stated.items() if not properties.problem(name, text, version)}
    return properties.written(read, version)


def _written(people: Submitters | None) -> str:
    """An access list of those whom YuniKorn can name."""
    if people is None:
        return ""
    unknown = access_lists.invalid_names(people)
    return access_lists.write(
        Submitters(
            tuple(user for user in people.users if user not in unknown),
            tuple(group for group in people.groups if group not in unknown),
        )
    )
