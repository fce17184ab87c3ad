"""A pool with cards has no repelling taint, although the scheme of the policy uses taints.

Without a NoSchedule or NoExecute taint, pods without cards use the cpu and memory of the pool, and
its cards stay idle. A policy whose scheme sets no such taints is not checked.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, DeclaredPolicy, Rule, Violation
from policykit.model.pool import Pool
from policykit.model.severity import Severity

BAD = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
metadata: {name: demo}
domain: ai.example.com
cards:
  h20: {product: NVIDIA-H20}
pools:
  train: {usage: training, card: h20, nodes: 4}
  spare: {card: h20, nodes: 2, scheme: plain}
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
  spare: {card: h20, nodes: 2}
"""


def check(policy: DeclaredPolicy, context: Context) -> Iterator[Violation]:
    if not policy.cluster.taints_pools:
        return
    for pool in policy.cluster.pools:
        if pool.card and not pool.hard_taints and not pool.unschedulable:
            yield Violation(
                ("pools", pool.name),
                f"pool {pool.name} has cards but {_why(pool)}, so any pod can land there",
                "give it a usage, its own taints, or the scheme of the other pools; if this is intended,"
                " suppress the finding with the reason",
                key=True,
            )


def _why(pool: Pool) -> str:
    if pool.taints:
        return f"its taint {pool.taints[0]} only lowers a score"
    return "no taint"


RULE = Rule(
    code="PK906",
    name="pool-without-taint",
    severity=Severity.INFO,
    subject=DeclaredPolicy,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
