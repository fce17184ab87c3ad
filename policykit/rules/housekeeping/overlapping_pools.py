"""The selector of a pool also matches the nodes of another pool.

The nodes are counted twice, and the generated labels and taints of the pool are also applied to the
nodes of the other pool. It is reported if every node of the other pool has the selected labels, by
its own selector or by the labels in the policy. Naming a node in two pools is an error of the policy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from policykit.linter.rule import Context, DeclaredPolicy, Rule, Violation
from policykit.model.pool import Pool, Shape
from policykit.model.severity import Severity

BAD = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
metadata: {name: demo}
domain: ai.example.com
pools:
  batch:
    usage: batch
    nodes: {selector: {example.com/team: data}}
  serving:
    usage: serving
    nodes: {selector: {example.com/team: data, example.com/tier: front}}
"""
GOOD = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
metadata: {name: demo}
domain: ai.example.com
pools:
  batch:
    usage: batch
    nodes: {selector: {example.com/team: data, example.com/tier: back}}
  serving:
    usage: serving
    nodes: {selector: {example.com/team: data, example.com/tier: front}}
"""


def check(policy: DeclaredPolicy, context: Context) -> Iterator[Violation]:
    pools = policy.cluster.pools
    with_label = _by_label(pools)
    for number, pool in enumerate(pools):
        first_labels = [next(iter(shape.selector.items())) for shape in pool.shapes if shape.selector]
        for place in sorted({place for label in first_labels for place in with_label[label]} - {number}):
            other = pools[place]
            selector = _matching_selector(pool, other)
            # Of two selectors that match each other, the later one is reported.
            if selector and not (place > number and _matching_selector(other, pool)):
                yield Violation(
                    ("pools", pool.name, "nodes", "selector"),
                    f"selector {_text(selector)} of pool {pool.name} also matches nodes of pool {other.name}",
                    f"add a label that the nodes of {other.name} do not have, or merge the two pools",
                    key=True,
                )


def _by_label(pools: Iterable[Pool]) -> Mapping[tuple[str, str], set[int]]:
    """Each label to the positions of the pools with nodes that have it."""
    found: dict[tuple[str, str], set[int]] = {}
    for number, pool in enumerate(pools):
        for shape in pool.shapes:
            for label in _labels(pool, shape).items():
                found.setdefault(label, set()).add(number)
    return found


def _matching_selector(pool: Pool, other: Pool) -> Mapping[str, str]:
    """A selector of a pool that matches a shape of another pool; empty if there is none."""
    for shape in pool.shapes:
        if shape.selector and any(
            shape.selector.items() <= _labels(other, each).items() for each in other.shapes
        ):
            return shape.selector
    return {}


def _labels(pool: Pool, shape: Shape) -> dict[str, str]:
    """Labels that the nodes are known to have."""
    return {**pool.labels, **shape.labels, **shape.selector}


def _text(selector: Mapping[str, str]) -> str:
    return ",".join(f"{key}={value}" for key, value in selector.items())


RULE = Rule(
    code="PK907",
    name="overlapping-pools",
    severity=Severity.WARNING,
    subject=DeclaredPolicy,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
