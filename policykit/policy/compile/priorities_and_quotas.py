"""PriorityClasses, ResourceQuotas and LimitRanges."""

from __future__ import annotations

from policykit.kube.names import dns_label_problem, dns_subdomain_problem, is_extended
from policykit.manifests.path import Path
from policykit.model.pool import Amounts
from policykit.model.quantity import amount_text
from policykit.model.queue import ContainerRange, Priority, Quota
from policykit.policy.compile.amounts import amounts, resource_of
from policykit.policy.compile.draft import Draft, unique
from policykit.policy.compile.references import check_priority_name, check_unique
from policykit.policy.models import queue as written
from policykit.policy.models.queue import Containers

_LIMITABLE = ("cpu", "memory", "ephemeral-storage")
_PARTS = {"default": "default", "default_request": "defaultRequest", "minimum": "min", "maximum": "max"}
"""Field of `ContainerRange` to its key in the policy."""
_LADDER = (
    ("default_request", "default"),
    ("default", "maximum"),
    ("minimum", "default_request"),
    ("default_request", "maximum"),
    ("minimum", "default"),
    ("minimum", "maximum"),
)


def compile_priorities(draft: Draft) -> tuple[Priority, ...]:
    """All PriorityClasses in the policy's order."""
    found = tuple(_priority(draft, name, stated) for name, stated in draft.policy.priorities.items())
    defaults = [priority.name for priority in found if priority.default]
    for name in defaults[1:]:
        message = f"only one PriorityClass can be the default, and {defaults[0]} already is"
        draft.problems.error(("priorities", name, "default"), message, "keep default: true on one of them")
    return found


def _priority(draft: Draft, name: str, stated: written.Priority) -> Priority:
    path: Path = ("priorities", name)
    draft.check(path, f"priority name {name!r}", dns_subdomain_problem(name), key=True)
    if name.startswith("system-"):
        draft.problems.error(
            path, f"priority {name!r}: the prefix system- is reserved for Kubernetes", key=True
        )
    if stated.value is None:
        draft.problems.error(path, f"priority {name!r} has no value", "add value: 1000", key=True)
    return Priority(name, stated.value or 0, stated.preempts, stated.default, stated.description)


def compile_quotas(draft: Draft) -> tuple[Quota, ...]:
    """All ResourceQuotas in the policy's order."""
    found = tuple(_quota(draft, name, stated) for name, stated in draft.policy.quotas.items())
    homes: dict[str, str] = {}
    for quota in found:
        home = homes.setdefault(quota.namespace, quota.name) if quota.containers is not None else quota.name
        if home != quota.name:
            message = (
                f"quota {home} already sets container defaults and bounds for namespace {quota.namespace}"
            )
            draft.problems.error(
                ("quotas", quota.name, "containers"), message, "set them in one quota", key=True
            )
    return found


def _quota(draft: Draft, name: str, stated: written.Quota) -> Quota:
    path: Path = ("quotas", name)
    draft.check(path, f"quota name {name!r}", dns_subdomain_problem(name), key=True)
    namespace = stated.namespace or name
    place = (*path, "namespace") if stated.namespace else path
    draft.check(place, f"namespace {namespace!r}", dns_label_problem(namespace), key=not stated.namespace)
    for resource in stated.limits:
        known = resource in draft.cards or "/" in resource
        if known and is_extended(resource_of(draft, (*path, "limits", resource), resource)):
            message = f"a quota on limits of {resource} has no effect"
            draft.problems.error((*path, "limits", resource), message, "set it under requests", key=True)
    requests = amounts(draft, (*path, "requests"), stated.requests)
    limits = amounts(draft, (*path, "limits"), stated.limits)
    for number, priority in enumerate(stated.priorities):
        check_priority_name(draft, (*path, "priorities", number), priority)
    check_unique(draft, (*path, "priorities"), stated.priorities)
    ranges = _container_range(draft, (*path, "containers"), stated.containers)
    return Quota(namespace, name, requests, limits, stated.pods, unique(stated.priorities), ranges)


def _container_range(draft: Draft, path: Path, stated: Containers | None) -> ContainerRange | None:
    """What containers may and do request; None if the policy sets nothing."""
    if stated is None:
        return None
    found = ContainerRange(
        _amounts(draft, (*path, "default"), stated.default),
        _amounts(draft, (*path, "defaultRequest"), stated.default_request),
        _amounts(draft, (*path, "min"), stated.min),
        _amounts(draft, (*path, "max"), stated.max),
    )
    reported: set[tuple[str, str]] = set()
    for low, high in _LADDER:
        less, more = getattr(found, low), getattr(found, high)
        for resource in sorted(less.keys() & more.keys()):
            if less[resource] > more[resource] and (low, resource) not in reported:
                reported.add((low, resource))
                have, limit = amount_text(resource, less[resource]), amount_text(resource, more[resource])
                message = f"{_PARTS[low]} of {resource} is {have}, above {_PARTS[high]} {limit}"
                draft.problems.error((*path, _PARTS[low], resource), message, "lower it")
    return found


def _amounts(draft: Draft, path: Path, stated: dict[str, str]) -> Amounts:
    for name in stated:
        if name not in _LIMITABLE:
            card = name in draft.cards or "/" in name or name in draft.names("cards")
            message = (
                f"a LimitRange on {name} would give {'cards' if name in draft.cards else 'it'} to containers "
                "that request none"
                if card
                else f"a LimitRange for containers covers cpu, memory and ephemeral-storage, not {name}"
            )
            hint = "limit it in the quota itself, under requests" if card else ""
            draft.problems.error((*path, name), message, hint, key=True)
    return amounts(draft, path, {name: text for name, text in stated.items() if name in _LIMITABLE})
