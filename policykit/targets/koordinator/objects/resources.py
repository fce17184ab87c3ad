"""The resource names under which Koordinator counts the requests of pods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from policykit.model.pool import Amounts
from policykit.model.release import Version

GPU = "koordinator.sh/gpu"
"""100 of it are one card."""
GPU_PARTS = ("koordinator.sh/gpu-core", "koordinator.sh/gpu-memory-ratio")
GPU_SPLIT_SINCE = Version(1, 6, 0)
"""First release whose webhook replaces `GPU` in pods by `GPU_PARTS`, each with the same amount."""
OVERCOMMITTED: Mapping[str, tuple[str, str]] = {
    "mid": ("kubernetes.io/mid-cpu", "kubernetes.io/mid-memory"),
    "batch": ("kubernetes.io/batch-cpu", "kubernetes.io/batch-memory"),
}
"""Class of pods to the resources that replace their requests of cpu and memory at admission."""


def policy_amounts(found: Amounts, names: Iterable[str]) -> dict[str, int]:
    """Amounts of the named resources of a policy, from those that Koordinator counts."""
    first = GPU_PARTS[0]
    every = {GPU: found[first], **found} if first in found else found
    return {name: every[name] for name in names if name in every}


def admitted_amounts(wanted: Amounts, version: Version) -> dict[str, int]:
    """Amounts under the names that pods have after admission, sorted. Parts that are also stated win."""
    found = dict(wanted)
    if version >= GPU_SPLIT_SINCE and GPU in found:
        amount = found.pop(GPU)
        for part in GPU_PARTS:
            found.setdefault(part, amount)
    return dict(sorted(found.items()))
