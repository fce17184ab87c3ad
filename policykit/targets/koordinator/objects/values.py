"""Values in Koordinator's objects: text in labels and annotations, and names of resources."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from policykit.manifests.shape import text
from policykit.model.pool import Amounts
from policykit.model.release import Version
from policykit.targets.koordinator.versions import GPU_SPLIT


def parsed(data: object) -> Any:
    """The value of a JSON text; None if it is not JSON."""
    try:
        return json.loads(text(data))
    except (ValueError, RecursionError):
        return None


def compact(data: object) -> str:
    """JSON on one line, for annotations."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def present(**fields: Any) -> dict[str, Any]:
    """The fields that are not empty, in their order."""
    return {name: value for name, value in fields.items() if value not in (None, "", {}, [])}


GPU = "koordinator.sh/gpu"
"""100 of it are one card."""
GPU_PARTS = ("koordinator.sh/gpu-core", "koordinator.sh/gpu-memory-ratio")
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
    if version >= GPU_SPLIT and GPU in found:
        amount = found.pop(GPU)
        for part in GPU_PARTS:
            found.setdefault(part, amount)
    return dict(sorted(found.items()))
