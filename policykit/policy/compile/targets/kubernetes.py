"""Kubernetes' own part of the policy."""

from __future__ import annotations

from policykit.model.cluster import Target
from policykit.policy.compile.draft import Draft

_DEFAULT_SCHEDULER = "default-scheduler"


def target(draft: Draft) -> Target:
    """Kubernetes as a target: it is always there."""
    return Target("kubernetes", draft.policy.kubernetes, "manifest", _DEFAULT_SCHEDULER)
