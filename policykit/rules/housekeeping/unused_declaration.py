"""A declaration of the policy is never used.

A card that no pool has, a placement that no workload kind names, or a workload kind without a pool is
left over, or its name is misspelt elsewhere. Only the policy's own file is checked, and no base that
other policies extend. Manifests use queues and priorities, so these are not checked.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, DeclaredPolicy, Rule, Violation
from policykit.model.severity import Severity
from policykit.placement.eligible_pools import is_allowed

BAD = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
metadata: {name: demo}
domain: ai.example.com
cards:
  h20: {product: NVIDIA-H20}
  l20: {product: NVIDIA-L20}
pools:
  train: {usage: training, card: h20, nodes: 4}
"""
GOOD = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
metadata: {name: demo}
domain: ai.example.com
cards:
  h20: {product: NVIDIA-H20}
pools:
  train: {usage: training, card: h20, nodes: 4}
"""


def check(policy: DeclaredPolicy, context: Context) -> Iterator[Violation]:
    found = (*_cards(policy), *_placements(policy), *_workloads(policy))
    own = [each for each in found if policy.own(each.path)]
    if own and not policy.base():
        yield from own


def _cards(policy: DeclaredPolicy) -> Iterator[Violation]:
    pools = policy.cluster.pools
    for name in policy.cluster.cards if pools else ():
        if not any(pool.card == name for pool in pools):
            yield Violation(
                ("cards", name), f"no pool has card {name}", "remove it, or give a pool this card", key=True
            )


def _placements(policy: DeclaredPolicy) -> Iterator[Violation]:
    used = {workload.placement_name for workload in policy.cluster.workloads.values()}
    for name, placement in policy.cluster.placements.items():
        # With its own scheduler it is a profile that pods may name directly.
        if name not in used and not placement.scheduler:
            yield Violation(
                ("placements", name),
                f"no workload kind has placement {name}",
                "remove it, or name it in a workload kind",
                key=True,
            )


def _workloads(policy: DeclaredPolicy) -> Iterator[Violation]:
    pools = policy.cluster.pools
    for name, workload in policy.cluster.workloads.items():
        if pools and workload.cards != () and not any(is_allowed(workload, pool) for pool in pools):
            yield Violation(
                ("workloads", name),
                f"no pool has both a usage and a card of workload kind {name}",
                f"its usages are {', '.join(workload.usages) or 'any'}, its cards"
                f" {', '.join(workload.cards or ()) or 'any'}: add one that a pool has",
                key=True,
            )


RULE = Rule(
    code="PK908",
    name="unused-declaration",
    severity=Severity.INFO,
    subject=DeclaredPolicy,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
