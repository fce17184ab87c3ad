"""Tenants; each namespace belongs to one."""

from __future__ import annotations

from policykit.kube.names import dns_label_problem, label_value_problem
from policykit.manifests.path import Path
from policykit.model.tenant import Tenant
from policykit.policy.compile.draft import Draft, unique
from policykit.policy.compile.known import known_queue, once
from policykit.policy.compile.people import check_people


def compile_tenants(draft: Draft) -> tuple[Tenant, ...]:
    """All tenants in the policy's order."""
    homes: dict[str, str] = {}
    return tuple(_tenant(draft, name, homes) for name in draft.policy.tenants)


def _tenant(draft: Draft, name: str, homes: dict[str, str]) -> Tenant:
    path: Path = ("tenants", name)
    stated = draft.policy.tenants[name]
    draft.check(path, f"tenant name {name!r}", label_value_problem(name), key=True)
    for number, namespace in enumerate(stated.namespaces):
        place = (*path, "namespaces", number)
        draft.check(place, f"namespace {namespace!r}", dns_label_problem(namespace))
        home = homes.setdefault(namespace, name)
        if home != name:
            message = f"namespace {namespace} already belongs to tenant {home}"
            draft.problems.error(place, message, "a namespace has one tenant: list it once")
    once(draft, (*path, "namespaces"), stated.namespaces)
    known_queue(draft, (*path, "queue"), stated.queue)
    check_people(draft, path, stated.users, stated.groups)
    return Tenant(name, unique(stated.namespaces), stated.queue, unique(stated.users), unique(stated.groups))
