"""A card whose nodes get taints, and whose daemons get no tolerations for them.

With the taints, `policykit gen` writes the tolerations that the device plugin and the labeller of the
card need, as values of their charts. For a card of a maker that the catalogue does not know there is
nothing to write: the daemons stay out, and without the device plugin the nodes offer no card at all.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.subjects import Declared
from policykit.model.severity import Severity
from policykit.model.taint import Taint
from policykit.targets.nodes.daemons import unknown_vendor_taints
from policykit.targets.nodes.generate import taints_nodes

BAD = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
metadata: {name: demo}
domain: ai.example.com
cards:
  npu: {resource: example.com/npu, perNode: 8}
pools:
  infer: {usage: inference, card: npu, nodes: 4}
"""
GOOD = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
metadata: {name: demo}
domain: ai.example.com
cards:
  h20: {product: NVIDIA-H20}
pools:
  infer: {usage: inference, card: h20, nodes: 4}
"""


def check(policy: Declared, context: Context) -> Iterator[Violation]:
    if not taints_nodes(policy.cluster):
        return
    for card, taints in unknown_vendor_taints(policy.cluster).items():
        yield Violation(
            ("cards", card),
            f"nodes with card {card} get {_said(taints)}, and nothing is generated that lets its daemons"
            f" tolerate it: {policy.cluster.cards[card].resource} is no resource of the catalogue",
            "give the device plugin and the other daemons of the card tolerations by hand, then say so in a"
            " suppression here; or take the taints off its pools",
            key=True,
        )


def _said(taints: tuple[Taint, ...]) -> str:
    word = "taint" if len(taints) == 1 else "taints"
    return f"{word} {', '.join(map(str, taints))}"


RULE = Rule(
    code="PK912",
    name="daemon-values-missing",
    severity=Severity.WARNING,
    subject=Declared,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
