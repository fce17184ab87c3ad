"""Who is affected by a change: workloads that land elsewhere or nowhere, queues and quotas, running pods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policykit.kube.rollouts import adds_first
from policykit.namedtuple import NamedTuple
from policykit.placement.eligible_pools import product_of
from policykit.placement.review import Review
from policykit.plan.replacements import LATER, REPLACED, ROLLED, changed_fields, replacement
from policykit.plan.workloads import Acceptance, Template, Workload, template

NOWHERE, FEWER, ELSEWHERE, GANG, UNPATCHED = "nowhere", "fewer nodes", "elsewhere", "gang", "unpatched"
PRIORITY, QUEUE, QUOTA = "priority", "queue", "quota"
REPLACED_OBJECT, ROLLED_OBJECT, EVICTED, MOVED = "replaced", "rolled", "evicted", "on moved nodes"
KINDS = (
    *(NOWHERE, GANG, PRIORITY, EVICTED, UNPATCHED, QUEUE, QUOTA),
    *(FEWER, ELSEWHERE, REPLACED_OBJECT, ROLLED_OBJECT, MOVED),
)
"""The worst first."""


class Effect(NamedTuple):
    """One thing that somebody will notice."""

    kind: str
    who: str
    """An object, a queue or a quota."""
    message: str
    path: str = ""
    nodes: tuple[int, int] | None = None
    """Accepting nodes before and after."""
    cards: tuple[int, int] | None = None


class Sizes(NamedTuple):
    """What accepts a pod set at one time."""

    nodes: int
    cards: int
    pools: tuple[str, ...]


def workload_effects(acceptance: Acceptance, found: Iterable[Workload]) -> Iterator[Effect]:
    """What the pod sets of the manifests will notice; what becomes of an object is listed once."""
    objects: dict[Effect, None] = {}
    for workload in found:
        for effect in _of_workload(workload, acceptance):
            if effect.kind not in (REPLACED_OBJECT, ROLLED_OBJECT):
                yield effect
            elif effect not in objects:
                objects[effect] = None
                yield effect


def _of_workload(workload: Workload, acceptance: Acceptance) -> Iterator[Effect]:
    old, new = workload.before, workload.after
    if old is None or new is None or not is_judged(new):
        return
    was, now = template(old), template(new)
    yield from _placement(
        workload, _sizes(acceptance, was, old, after=False), _sizes(acceptance, now, new, after=True)
    )
    if len(_cards(old)) == 1 and len(_cards(new)) > 1:
        cards = ", ".join(_cards(new))
        message = (
            f"`policykit patch` will refuse it: {cards} offer what it requests. Pass --card, or patch it "
            "before the change"
        )
        yield Effect(UNPATCHED, workload.title, message, workload.path)
    if changes_pods(old, new):
        yield from _replacement(workload, old, new)


def changes_pods(old: Review, new: Review) -> bool:
    """Whether the pod template differs, in placement or anything else."""
    return (old.pod_set.spec, old.pod_set.labels, old.pod_set.annotations) != (
        new.pod_set.spec,
        new.pod_set.labels,
        new.pod_set.annotations,
    )


def is_judged(review: Review) -> bool:
    """Whether where a pod set lands is decided by its manifest and the policy alone."""
    return review.is_final and review.is_covered and not review.pod_set.stored and not review.pod_set.per_node


def _sizes(acceptance: Acceptance, one: Template, review: Review, *, after: bool) -> Sizes:
    groups = acceptance.accepting(one, after=after)
    pools = [pool for group in groups if (pool := group.after if after else group.before)]
    cards = sum(
        group.nodes
        * max((pool.shapes[0].allocatable.get(name, 0) for name in review.card_resources), default=0)
        for group, pool in zip(groups, pools, strict=True)
    )
    return Sizes(
        sum(group.nodes for group in groups), cards, tuple(dict.fromkeys(pool.name for pool in pools))
    )


def _placement(workload: Workload, was: Sizes, now: Sizes) -> Iterator[Effect]:
    if was.nodes and not now.nodes:
        message = f"lands nowhere; before on {_named(was)}"
        yield Effect(NOWHERE, workload.title, message, workload.path, (was.nodes, 0), (was.cards, 0))
    elif now.nodes < was.nodes:
        message = f"lands on {_named(now)}; before on {_named(was)}"
        yield Effect(
            FEWER, workload.title, message, workload.path, (was.nodes, now.nodes), (was.cards, now.cards)
        )
    elif was.nodes and set(was.pools).isdisjoint(now.pools):
        message = f"lands on {_named(now)}; before on {_named(was)}"
        yield Effect(
            ELSEWHERE, workload.title, message, workload.path, (was.nodes, now.nodes), (was.cards, now.cards)
        )


def _named(sizes: Sizes) -> str:
    nodes = f"{sizes.nodes} node{'' if sizes.nodes == 1 else 's'}"
    cards = f" with {sizes.cards} cards" if sizes.cards else ""
    return f"{nodes}{cards} ({', '.join(sizes.pools)})" if sizes.pools else "no node"


def _cards(review: Review) -> tuple[str, ...]:
    """Cards that `patch` would have to choose between."""
    if not review.card_resources or review.workload is None or review.cluster is None:
        return ()
    pools = review.eligible_pools or ()
    named = [pool for pool in pools if product_of(review.cluster, pool) in review.products]
    return tuple(dict.fromkeys(pool.card for pool in named or pools))


def _replacement(workload: Workload, old: Review, new: Review) -> Iterator[Effect]:
    manifest = new.manifest
    what = replacement(manifest.data, manifest.group, manifest.kind, _changed(old, new))
    if what is None:
        return
    means = what.means
    replicas = new.pod_set.replicas or 0
    if what.how == ROLLED and adds_first(manifest.data, manifest.group, manifest.kind, replicas):
        room = "card" if new.card_resources else "room"
        means += f"; none of its {replicas} may go before a new one is ready, so without a free {room} "
        means += "it never ends: set maxUnavailable to 1"
    kinds = {ROLLED: ROLLED_OBJECT, REPLACED: REPLACED_OBJECT, LATER: ROLLED_OBJECT}
    yield Effect(kinds[what.how], workload.title, means, workload.path)


def _changed(old: Review, new: Review) -> frozenset[str]:
    """Names of what differs between the templates of two pod sets."""
    names = {"labels"} if old.pod_set.labels != new.pod_set.labels else set()
    if old.pod_set.annotations != new.pod_set.annotations:
        names.add("annotations")
    return frozenset(names) | changed_fields(old.pod_set.spec, new.pod_set.spec)
