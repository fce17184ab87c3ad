"""ResourceQuotas: limits on the total of a namespace."""

from __future__ import annotations

from policykit.kube.names import dns_label_problem, dns_subdomain_problem, is_extended
from policykit.manifests.path import Path
from policykit.model.queue import Quota
from policykit.policy.compile.amounts import amounts, resource_of
from policykit.policy.compile.containers import container_range
from policykit.policy.compile.draft import Draft, unique
from policykit.policy.compile.known import known_priority, once
from policykit.policy.models import priority as written


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
        known_priority(draft, (*path, "priorities", number), priority)
    once(draft, (*path, "priorities"), stated.priorities)
    ranges = container_range(draft, (*path, "containers"), stated.containers)
    return Quota(namespace, name, requests, limits, stated.pods, unique(stated.priorities), ranges)
