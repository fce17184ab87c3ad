"""A pool with cards that any pod can land on, in a policy that keeps pods off its pools by taints.

Without a taint that repels (NoSchedule, NoExecute), pods that need no card take its cpu and memory,
and its cards stand idle. Where the scheme puts no such taint on pools, that is the design, and the
rule is silent.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.subjects import Declared
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


def check(policy: Declared, context: Context) -> Iterator[Violation]:
    if not policy.cluster.taints_pools:
        return
    for pool in policy.cluster.pools:
        if pool.card and not pool.hard_taints and not pool.unschedulable:
            yield Violation(
                ("pools", pool.name),
                f"pool {pool.name} has cards, and {_why(pool)}: any pod can land there",
                "give it a usage, taints of its own, or the scheme of the other pools; if it is meant so, say"
                " why in a suppression",
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
    subject=Declared,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
