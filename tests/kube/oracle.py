"""What kube-scheduler and the API server do with one node: compared with cases taken from the real ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from policykit.kube import affinity as affinities
from policykit.kube import nodes
from policykit.kube.affinity import NodeAffinity
from policykit.kube.names import label_key_problem, label_value_problem
from policykit.kube.tolerations import EFFECTS, tolerates, untolerated
from policykit.model.pool import Pool
from policykit.model.taint import Taint, Toleration

CORDON = Taint("node.kubernetes.io/unschedulable")
"""Taint that the scheduler derives from spec.unschedulable."""


def filters(
    node: Pool,
    tolerations: Sequence[Toleration],
    affinity: NodeAffinity,
    *,
    comparison: bool = False,
) -> tuple[str, ...]:
    """Every filter that rejects the node of a one-node pool, in the scheduler's order.

    Of NodeUnschedulable, TaintToleration, NodeAffinity; the scheduler itself stops at the
    first. `comparison` as in `tolerations.tolerates`. Source: kubernetes v1.36 plugins.
    """
    failing: list[str] = []
    if node.unschedulable and not any(tolerates(t, CORDON, comparison=comparison) for t in tolerations):
        failing.append("NodeUnschedulable")
    if untolerated(node.taints, tolerations, comparison=comparison) is not None:
        failing.append("TaintToleration")
    if not affinities.matches(affinity, nodes.labels_of(node), nodes.name_of(node)):
        failing.append("NodeAffinity")
    return tuple(failing)


def untolerated_soft(taints: Iterable[Taint], tolerations: Iterable[Toleration]) -> int:
    """Number of PreferNoSchedule taints that are not tolerated: TaintToleration's raw score (v1.36)."""
    soft = [t for t in tolerations if t.effect in ("", "PreferNoSchedule")]
    return sum(
        taint.effect == "PreferNoSchedule" and not any(tolerates(t, taint) for t in soft) for taint in taints
    )


def taint_problems(taints: Sequence[Taint]) -> tuple[tuple[int, str, str], ...]:
    """Why the API server rejects a node's taints: (position in the list, field, message).

    Source: `validateNodeTaints` in kubernetes `pkg/apis/core/validation` (v1.36).
    """
    found: list[tuple[int, str, str]] = []
    seen: set[tuple[str, str]] = set()
    for position, (key, value, effect) in enumerate(taints):
        if problem := label_key_problem(key):
            found.append((position, "key", f"key {key!r} {problem}"))
        if problem := label_value_problem(value):
            found.append((position, "value", f"value {value!r} {problem}"))
        if effect not in EFFECTS:
            written = f"effect {effect!r}" if effect else "effect is missing, it"
            found.append((position, "effect", f"{written} must be one of {', '.join(EFFECTS)}"))
        if (key, effect) in seen:
            found.append((position, "key", f"key {key!r} has a second taint with effect {effect!r}"))
        seen.add((key, effect))
    return tuple(found)
