"""Who is affected by a change: workloads that land elsewhere or nowhere, queues and quotas, running pods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from policykit.kube.podsets import queues
from policykit.model.cluster import Cluster
from policykit.model.pool import Amounts
from policykit.model.quantity import amount_text
from policykit.namedtuple import NamedTuple
from policykit.placement.capacity import pods_in
from policykit.placement.eligible_pools import product_of
from policykit.placement.review import Review
from policykit.plan.nodes import NodeGroup
from policykit.plan.replacements import LATER, REPLACED, ROLLED, changed_fields, never_ends, replacement
from policykit.plan.workloads import Acceptance, Template, Workload, template
from policykit.targets import TARGETS

NOWHERE, FEWER, ELSEWHERE, GANG, UNPATCHED, QUEUE, QUOTA = (
    *("nowhere", "fewer nodes", "elsewhere", "gang", "unpatched", "queue", "quota"),
)
REPLACED_OBJECT, ROLLED_OBJECT, EVICTED, MOVED = "replaced", "rolled", "evicted", "on moved nodes"
KINDS = (
    *(
        NOWHERE,
        GANG,
        EVICTED,
        UNPATCHED,
        QUEUE,
        QUOTA,
        FEWER,
        ELSEWHERE,
        REPLACED_OBJECT,
        ROLLED_OBJECT,
        MOVED,
    ),
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


def effects(
    before: Cluster, after: Cluster, acceptance: Acceptance, found: Sequence[Workload]
) -> tuple[Effect, ...]:
    """Everything that manifests show, the worst first."""
    reported = [
        *(each for workload in found for each in _of_workload(workload, acceptance)),
        *_queues(before, after, found),
        *_quotas(before, after, found),
    ]
    return tuple(sorted(reported, key=lambda each: KINDS.index(each.kind)))


def _of_workload(workload: Workload, acceptance: Acceptance) -> Iterator[Effect]:
    old, new = workload.before, workload.after
    if old is None or new is None or not is_judged(new):
        return
    was, now = template(old), template(new)
    yield from _placement(
        workload, _sizes(acceptance, was, old, after=False), _sizes(acceptance, now, new, after=True)
    )
    yield from _gang(workload, old, new, acceptance, (was, now))
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
    groups = list(acceptance.accepting(one, after=after))
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


def _gang(
    workload: Workload, old: Review, new: Review, acceptance: Acceptance, templates: tuple[Template, Template]
) -> Iterator[Effect]:
    """A gang that fitted on the accepting nodes when they were empty, and does not any more."""
    needs = new.pod_set.replicas if new.workload and new.workload.gang == "all" else None
    if not needs:
        return
    fits = [
        _pods(acceptance.accepting(one, after=after), one.requests, after=after)
        for one, after in zip(templates, (False, True), strict=True)
    ]
    was, now = fits
    if was is not None and now is not None and now < needs <= was:
        message = f"the gang of {needs} pods no longer fits: its nodes hold {now}, before {was}"
        yield Effect(GANG, workload.title, message, workload.path)


def _pods(groups: Iterable[NodeGroup], request: Amounts, *, after: bool) -> int | None:
    total = 0
    for group in groups:
        pool = group.after if after else group.before
        shapes = [shape._replace(maximum=group.nodes) for shape in pool.shapes] if pool else []
        pods = pods_in(shapes, request)
        if pods is None:
            return None
        total += pods
    return total


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
    if what.how == ROLLED and never_ends(manifest.data, manifest.kind):
        means += "; with maxUnavailable 0 it never ends if no card is free"
    kinds = {ROLLED: ROLLED_OBJECT, REPLACED: REPLACED_OBJECT, LATER: ROLLED_OBJECT}
    yield Effect(kinds[what.how], workload.title, means, workload.path)


def _changed(old: Review, new: Review) -> frozenset[str]:
    """Names of what differs between the templates of two pod sets."""
    names = {"labels"} if old.pod_set.labels != new.pod_set.labels else set()
    if old.pod_set.annotations != new.pod_set.annotations:
        names.add("annotations")
    return frozenset(names) | changed_fields(old.pod_set.spec, new.pod_set.spec)


def _queues(before: Cluster, after: Cluster, found: Sequence[Workload]) -> Iterator[Effect]:
    """Queues that are deleted while manifests name them, and limits below what manifests request."""
    old, new = ({queue.name: queue for queue in cluster.queues} for cluster in (before, after))
    used = _requests(found, lambda review: _queue_of(review, old.keys() | new.keys()))
    for name, workloads in used.items():
        total = _total(workloads)
        if name in old and name not in new:
            yield Effect(
                QUEUE, f"queue {name}", f"is deleted, but {_users(workloads)} still name{_s(workloads)} it"
            )
        elif name in old:
            yield from _lowered(f"queue {name}", QUEUE, "limit", old[name].limit, new[name].limit, total)


def _quotas(before: Cluster, after: Cluster, found: Sequence[Workload]) -> Iterator[Effect]:
    known = {(quota.namespace, quota.name): quota for quota in before.quotas}
    used = _requests(found, lambda review: review.manifest.namespace or review.namespace)
    for quota in after.quotas:
        old = known.get((quota.namespace, quota.name))
        if old is not None and not quota.priorities:
            who = f"quota {quota.namespace}/{quota.name}"
            total = _total(used.get(quota.namespace, []))
            yield from _lowered(who, QUOTA, "requests", old.requests, quota.requests, total)


def _lowered(who: str, kind: str, what: str, old: Amounts, new: Amounts, used: Amounts) -> Iterator[Effect]:
    for resource, most in sorted(new.items()):
        need = used.get(resource, 0)
        if most < old.get(resource, most + 1) and most < need:
            text = {name: amount_text(resource, value) for name, value in (("most", most), ("need", need))}
            message = (
                f"{what} of {resource} falls to {text['most']}, but the manifests request {text['need']}"
            )
            yield Effect(kind, who, message)


def _requests(found: Sequence[Workload], of: Callable[[Review], str]) -> dict[str, list[Workload]]:
    used: dict[str, list[Workload]] = {}
    for workload in found:
        if workload.after is not None and (name := of(workload.after)):
            used.setdefault(name, []).append(workload)
    return used


def _queue_of(review: Review, names: Iterable[str]) -> str:
    known = frozenset(names)
    for target in TARGETS:
        written = queues.read(review.manifest.data, review.pod_set, target.name) if target.queues else None
        if written is not None:
            last = written.value.rpartition(".")[2]
            return written.value if written.value in known else last if last in known else ""
    return ""


def _total(workloads: Sequence[Workload]) -> Amounts:
    total: dict[str, int] = {}
    for workload in workloads:
        review = workload.after
        for resource, amount in review.requests.items() if review else ():
            total[resource] = total.get(resource, 0) + amount * (
                (review.pod_set.replicas if review else 0) or 0
            )
    return total


def _users(workloads: Sequence[Workload]) -> str:
    titles = list(dict.fromkeys(workload.title for workload in workloads))
    more = f" and {len(titles) - 1} more" if len(titles) > 1 else ""
    return titles[0] + more


def _s(workloads: Sequence[Workload]) -> str:
    return "s" if len({workload.title for workload in workloads}) == 1 else ""
