"""What differs between two policies, as objects and nodes see it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from policykit.linter.finding import listed
from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.pool import Amounts, Pool
from policykit.model.quantity import amount_text
from policykit.model.queue import Priority, Queue, Quota, Tenant
from policykit.model.workload import WorkloadKind
from policykit.namedtuple import NamedTuple
from policykit.plan.replacements import PRIORITY_CLASS

_LISTS = frozenset({"labels", "taints", "usages", "cards", "limit", "guarantee", "deserved"})
"""Details of which only the items that differ are shown."""
ADDED, CHANGED, REMOVED, REPLACED = "+", "~", "-", "-/+"


class Change(NamedTuple):
    """One difference; a name is on both sides, what was added or removed on one."""

    sign: str
    """+, ~, - or -/+: deleted and created again."""
    what: str
    """policy, target, card, pool, workload kind, queue, priority, tenant or quota."""
    name: str
    details: tuple[str, ...] = ()
    """Field, value before and value after, as text."""
    note: str = ""
    """What the change means for objects that exist."""


def changes(before: Cluster, after: Cluster) -> tuple[Change, ...]:
    """All differences: settings of the whole policy first, then parts in the order of the policies."""
    return (
        *_whole(before, after),
        *_targets(before, after),
        *_parts("card", before.cards, after.cards, _card),
        *_parts("pool", _named(before.pools), _named(after.pools), _pool),
        *_parts("workload kind", before.workloads, after.workloads, _kind),
        *_parts("queue", _named(before.queues), _named(after.queues), _queue),
        *map(_replaced, _parts("priority", _named(before.priorities), _named(after.priorities), _priority)),
        *_parts("tenant", _named(before.tenants), _named(after.tenants), _tenant),
        *_parts("quota", _quotas(before.quotas), _quotas(after.quotas), _quota),
    )


def _whole(before: Cluster, after: Cluster) -> Iterator[Change]:
    fields = {
        "metadata.name": (before.name, after.name),
        "usage key": (before.usage_key, after.usage_key),
        "Kubernetes": (before.kubernetes_version, after.kubernetes_version),
        "generate.out": (before.output, after.output),
        "control plane taint": (_text(before.control_plane_taint), _text(after.control_plane_taint)),
    }
    for name, (old, new) in fields.items():
        if old != new:
            yield Change(CHANGED, "policy", name, (f"{old or 'none'} -> {new or 'none'}",))


def _targets(before: Cluster, after: Cluster) -> Iterator[Change]:
    for change in _parts("target", before.targets, after.targets, _target):
        if change.sign == CHANGED and _is_release_alone(change.name, before, after):
            continue
        old = before.targets[change.name].scheduler_name if change.sign == REMOVED else ""
        kinds = [kind.name for kind in after.workloads.values() if old and kind.scheduler == old]
        note = f"schedulerName {old} stays in pods of workload kind {listed(kinds)}" if kinds else change.note
        yield change._replace(note=note)


def _is_release_alone(name: str, before: Cluster, after: Cluster) -> bool:
    """Whether only the release of a target changes, and it is that of Kubernetes, which the policy has."""
    old, new = before.targets[name], after.targets[name]
    own = old.version == before.kubernetes_version and new.version == after.kubernetes_version
    return own and _target(old._replace(version="")) == _target(new._replace(version=""))


_Details = Callable[[Any], Mapping[str, str]]


def _parts(
    what: str, before: Mapping[str, Any], after: Mapping[str, Any], details: _Details
) -> Iterator[Change]:
    for name in (*before, *(name for name in after if name not in before)):
        if name not in after:
            guarded = getattr(before[name], "protected", False)
            note = f"protected: needs `policykit gen --allow-removal {name}`" if guarded else ""
            yield Change(REMOVED, what, name, tuple(_set(details(before[name]))), note)
        elif name not in before:
            yield Change(ADDED, what, name, tuple(_set(details(after[name]))))
        elif found := tuple(_different(details(before[name]), details(after[name]))):
            yield Change(CHANGED, what, name, found)


def _set(details: Mapping[str, str]) -> Iterator[str]:
    yield from (f"{field} {value}" for field, value in details.items() if value)


def _different(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    for field, old in before.items():
        new = after[field]
        if field in _LISTS and old != new:
            was, now = (text.split(", ") if text else [] for text in (old, new))
            items = [f"-{each}" for each in was if each not in now]
            items += [f"+{each}" for each in now if each not in was]
            yield f"{field} {' '.join(items) or 'in another order'}"
        elif old != new:
            yield f"{field} {old or 'none'} -> {new or 'none'}"


def _target(target: TargetSettings) -> Mapping[str, str]:
    return {
        "release": target.version or "not stated (the newest known)",
        "delivery": target.delivery,
        "schedulerName": target.scheduler_name,
        "namespace": target.namespace,
    }


def _card(card: Any) -> Mapping[str, str]:
    return {"product": card.product, "label": card.product_key, "resource": card.resource}


def _pool(pool: Pool) -> Mapping[str, str]:
    return {
        "usage": pool.usage,
        "card": pool.card,
        "nodes": nodes_text(pool),
        "labels": ", ".join(f"{key}={value}" for key, value in sorted(pool.labels.items())),
        "taints": ", ".join(str(taint) for taint in sorted(pool.taints)),
        "sizes": "; ".join(_sizes(pool)),
        "sharing": pool.sharing.mode if pool.sharing.mode != "none" else "",
        "unschedulable": "yes" if pool.unschedulable else "",
    }


def _sizes(pool: Pool) -> list[str]:
    """What nodes offer, once for each size."""
    return list(dict.fromkeys(_amounts(shape.allocatable) for shape in pool.shapes if shape.allocatable))


def nodes_text(pool: Pool) -> str:
    """4, 0 to 12, or 2 or more."""
    low = sum(shape.minimum for shape in pool.shapes)
    bounds = [shape.maximum for shape in pool.shapes]
    high = None if None in bounds else sum(bound or 0 for bound in bounds)
    if high is None:
        return f"{low} or more"
    return str(low) if low == high else f"{low} to {high}"


def _kind(kind: WorkloadKind) -> Mapping[str, str]:
    return {
        "usages": ", ".join(kind.usages),
        "prefer": ", ".join(f"{usage} {weight}" for usage, weight in kind.prefer.items()),
        "cards": "any" if kind.cards is None else ", ".join(kind.cards) or "none",
        "scheduler": kind.scheduler,
        "gang": kind.gang,
        "placement": kind.placement_name or kind.placement,
        "priorityClass": kind.priority_class,
        "queue": kind.queue,
    }


def _queue(queue: Queue) -> Mapping[str, str]:
    return {
        "parent": queue.parent,
        "weight": str(queue.weight),
        "guarantee": _amounts(queue.guarantee),
        "deserved": _amounts(queue.deserved),
        "limit": _amounts(queue.limit),
        "reclaimable": "" if queue.reclaimable else "no",
    }


def _priority(priority: Priority) -> Mapping[str, str]:
    return {
        "value": str(priority.value),
        "preempts": "yes" if priority.preempts else "no",
        "default": "yes" if priority.default else "",
    }


def _replaced(change: Change) -> Change:
    """The value and the preemption policy of a PriorityClass cannot be changed in place."""
    fixed = any(detail.startswith(("value ", "preempts ")) for detail in change.details)
    if change.sign == CHANGED and fixed:
        return change._replace(sign=REPLACED, note=PRIORITY_CLASS.means)
    return change


def _tenant(tenant: Tenant) -> Mapping[str, str]:
    return {"namespaces": ", ".join(tenant.namespaces), "queue": tenant.queue}


def _quotas(quotas: Iterable[Quota]) -> Mapping[str, Quota]:
    return {f"{quota.namespace}/{quota.name}": quota for quota in quotas}


def _quota(quota: Quota) -> Mapping[str, str]:
    return {
        "requests": _amounts(quota.requests),
        "limits": _amounts(quota.limits),
        "pods": "" if quota.pods is None else str(quota.pods),
    }


def _amounts(amounts: Amounts) -> str:
    return ", ".join(f"{name} {amount_text(name, amount)}" for name, amount in sorted(amounts.items()))


def _named(parts: Iterable[Any]) -> Mapping[str, Any]:
    return {part.name: part for part in parts}


def _text(value: object) -> str:
    return "" if value is None else str(value)
