"""The queues of a policy as YuniKorn's tree, with what the options say of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from policykit.model.queue import Queue as Share
from policykit.model.queue import Submitters
from policykit.targets.release import Version
from policykit.targets.yunikorn.configuration import acl, properties
from policykit.targets.yunikorn.configuration.queues import ROOT, Queue
from policykit.targets.yunikorn.configuration.resources import Resources
from policykit.targets.yunikorn.derived import submitters
from policykit.targets.yunikorn.derived.paths import DEFAULT, own_name
from policykit.targets.yunikorn.options import Options, QueueOptions


class TreePlan(NamedTuple):
    """What the tree is made of."""

    shares: Sequence[Share]
    resources: Mapping[str, Resources]
    options: Options
    version: Version
    holding: frozenset[str] = frozenset()
    """Queues that hold queues: of the policy, or made by placement rules."""


def build(made: TreePlan) -> Queue:
    """`root` with everything below it."""
    fallback = _needs_fallback(made)
    granted = submitters.lists(made.shares, (DEFAULT,) if fallback else ())
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


def _below(name: str, made: TreePlan) -> list[Share]:
    known = {share.name for share in made.shares}
    return [share for share in made.shares if (share.parent if share.parent in known else "") == name]


def _queue(share: Share, made: TreePlan, granted: Mapping[str, Submitters], above: int) -> Queue:
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


def _properties(share: Share) -> dict[str, str]:
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
    unknown = acl.invalid_names(people)
    return acl.write(
        Submitters(
            tuple(user for user in people.users if user not in unknown),
            tuple(group for group in people.groups if group not in unknown),
        )
    )
