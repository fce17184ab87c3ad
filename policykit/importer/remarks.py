"""What nodes show that a policy does not say, for people."""

from __future__ import annotations

from collections.abc import Iterable

from policykit.importer import marks
from policykit.importer.cards import offered
from policykit.importer.found import Found, Node
from policykit.importer.groups import is_control_plane

_SHOWN = 3


def remark(found: Found) -> None:
    """Adds remarks on nodes that are special today."""
    nodes = sorted(found.nodes.values())
    workers = [node for node in nodes if not is_control_plane(node)]
    planes = [node.name for node in nodes if is_control_plane(node)]
    if planes:
        found.say(f"{_listed(planes)}: control plane, closed to other pods, so no pool")
    cordoned = [node.name for node in workers if node.cordoned]
    if cordoned:
        found.say(f"{_listed(cordoned)}: cordoned now; a pool is said to be only where all its nodes are")
    passing = sorted(
        {str(t) for node in workers for t in node.taints if marks.passing(t) and "unschedulable" not in t.key}
    )
    for taint in passing:
        having = [node.name for node in workers if taint in map(str, node.taints)]
        found.say(f"{_listed(having)}: taint {taint} comes and goes by itself; left out")
    silent = [node.name for node in workers if not node.allocatable]
    if silent:
        found.say(f"{_listed(silent)}: no allocatable is reported, so no sizes can be said")
    _failing(workers, found)
    for key in sorted(marks.own_keys(workers)):
        if any(marks.telling(key, node.labels.get(key, "")) for node in workers if key in node.labels):
            found.say(f"label {key} is another one on each node; left out")


def _failing(workers: Iterable[Node], found: Found) -> None:
    for node in workers:
        for resource, number in offered(node).items():
            have = node.allocatable.get(resource, 0)
            if "/" in resource and node.allocatable and have < number:
                found.say(
                    f"node {node.name}: {have} of {number} {resource} work now; the policy says {number}"
                )


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{'node' if len(names) == 1 else 'nodes'} {shown}{more}"
