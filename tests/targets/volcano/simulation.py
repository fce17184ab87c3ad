"""Nodes scored as Volcano would: binpack and every part of nodeorder."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from policykit.model.pool import Amounts
from policykit.targets.volcano.scheduler.scoring import Scoring
from tests.targets.volcano import node_scores as scores


class Node(NamedTuple):
    allocatable: Amounts
    used: Amounts = {}
    preference: int = 0
    """Sum of the weights of the pod's preferred terms that it matches."""
    others: Mapping[str, int] = {}
    """Normalised scores of tainttoleration, imagelocality, podtopologyspread."""


def totals(
    scoring: Scoring, nodes: Sequence[Node], asked: Amounts, *, normalised: bool = True
) -> list[float]:
    """`normalised`: nodeaffinity as since 1.15.1; before, the sums of the weights were added as they are."""
    raw = [node.preference for node in nodes]
    affinity = scores.node_affinity(raw) if normalised else raw
    return [_total(scoring, node, asked, near) for node, near in zip(nodes, affinity, strict=True)]


def _total(scoring: Scoring, node: Node, asked: Amounts, affinity: int) -> float:
    parts = {
        "leastrequested": scores.least_requested(asked, node.used, node.allocatable),
        "mostrequested": scores.most_requested(asked, node.used, node.allocatable),
        "balancedresource": scores.balanced_resource(asked, node.used, node.allocatable),
        "nodeaffinity": affinity,
        **node.others,
    }
    packed = scores.binpack(asked, node.used, node.allocatable, scoring.resources, scoring.binpack)
    return packed + scores.nodeorder(parts, scoring.parts)


def place(
    scoring: Scoring, nodes: Sequence[Node], asked: Amounts, pods: int, *, spread: bool = True
) -> list[int | None]:
    """Node of each pod in turn, None where it fits nowhere; ties go to the last node.

    `spread`: podtopologyspread gives 100 to the node with the fewest pods placed here, else 0.
    """
    nodes, placed = list(nodes), list[int | None]()
    for _ in range(pods):
        fewest = min(placed.count(number) for number in range(len(nodes)))
        seen = [
            node._replace(
                others={
                    "tainttoleration": 100,
                    "podtopologyspread": 100 if spread and placed.count(number) == fewest else 0,
                }
            )
            for number, node in enumerate(nodes)
        ]
        fitting = [number for number, node in enumerate(seen) if _fits(node, asked)]
        if not fitting:
            placed.append(None)
            continue
        scored = totals(scoring, [seen[number] for number in fitting], asked)
        chosen = max(zip(scored, fitting, strict=True))[1]
        used = nodes[chosen].used
        nodes[chosen] = nodes[chosen]._replace(
            used={**used, **{name: used.get(name, 0) + amount for name, amount in asked.items()}}
        )
        placed.append(chosen)
    return placed


def _fits(node: Node, asked: Amounts) -> bool:
    return all(node.used.get(r, 0) + a <= node.allocatable.get(r, 0) for r, a in asked.items())
