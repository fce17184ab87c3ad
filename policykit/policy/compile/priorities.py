"""PriorityClasses."""

from __future__ import annotations

from policykit.kube.names import dns_subdomain_problem
from policykit.manifests.path import Path
from policykit.model.queue import Priority
from policykit.policy.compile.draft import Draft
from policykit.policy.models import priority as written


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
