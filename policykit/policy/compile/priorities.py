"""PriorityClasses and ResourceQuotas."""

from __future__ import annotations

from policykit.kube.names import dns_label_problem, dns_subdomain_problem, is_extended
from policykit.manifests.path import Path
from policykit.model.queue import Priority, Quota
from policykit.policy.compile.amounts import amounts, resource_of
from policykit.policy.compile.draft import Draft
from policykit.policy.models import priority as written


def compile_priorities(draft: Draft) -> tuple[Priority, ...]:
    """All PriorityClasses in the policy's order."""
    found = tuple(_priority(draft, name, stated) for name, stated in draft.policy.priorities.items())
    defaults = [priority.name for priority in found if priority.default]
    for name in defaults[1:]:
        message = f"one PriorityClass is the default, {defaults[0]} is already"
        draft.problems.error(("priorities", name, "default"), message, "keep default: true in one of them")
    return found


def _priority(draft: Draft, name: str, stated: written.Priority) -> Priority:
    path: Path = ("priorities", name)
    draft.check(path, f"priority name {name!r}", dns_subdomain_problem(name), key=True)
    if name.startswith("system-"):
        draft.problems.error(path, f"priority {name!r}: names with system- are Kubernetes' own", key=True)
    if stated.value is None:
        draft.problems.error(path, f"priority {name!r} has no value", "add value: 1000", key=True)
    return Priority(name, stated.value or 0, stated.preempts, stated.default, stated.description)


def compile_quotas(draft: Draft) -> tuple[Quota, ...]:
    """All ResourceQuotas in the policy's order."""
    return tuple(_quota(draft, name, stated) for name, stated in draft.policy.quotas.items())


def _quota(draft: Draft, name: str, stated: written.Quota) -> Quota:
    path: Path = ("quotas", name)
    draft.check(path, f"quota name {name!r}", dns_subdomain_problem(name), key=True)
    namespace = stated.namespace or name
    place = (*path, "namespace") if stated.namespace else path
    draft.check(place, f"namespace {namespace!r}", dns_label_problem(namespace), key=not stated.namespace)
    for resource in stated.limits:
        known = resource in draft.cards or "/" in resource
        if known and is_extended(resource_of(draft, (*path, "limits", resource), resource)):
            message = f"a quota on limits of {resource} never counts anything"
            draft.problems.error((*path, "limits", resource), message, "say it under requests", key=True)
    requests = amounts(draft, (*path, "requests"), stated.requests)
    limits = amounts(draft, (*path, "limits"), stated.limits)
    return Quota(namespace, name, requests, limits, stated.pods)
