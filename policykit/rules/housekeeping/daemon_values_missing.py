"""The nodes of a card get taints, but its daemons get no tolerations for them.

`policykit gen` writes the tolerations that the device plugin and the labeller of a card need as
values of their charts. For a card whose vendor is not in the catalogue it cannot: the daemons do not
run there, and without the device plugin the nodes offer no cards.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, DeclaredPolicy, Rule, Violation
from policykit.model.pool import Taint
from policykit.model.severity import Severity
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


def check(policy: DeclaredPolicy, context: Context) -> Iterator[Violation]:
    if not taints_nodes(policy.cluster):
        return
    for card, taints in unknown_vendor_taints(policy.cluster).items():
        yield Violation(
            ("cards", card),
            f"nodes with card {card} get {_taint_list(taints)}, but no tolerations are generated for its"
            f" daemons: {policy.cluster.cards[card].resource} is not in the catalogue",
            "add tolerations to the device plugin and the other daemons of the card, then suppress this"
            " finding with that reason; or remove the taints of its pools",
            key=True,
        )


def _taint_list(taints: tuple[Taint, ...]) -> str:
    word = "taint" if len(taints) == 1 else "taints"
    return f"{word} {', '.join(map(str, taints))}"


RULE = Rule(
    code="PK912",
    name="daemon-values-missing",
    severity=Severity.WARNING,
    subject=DeclaredPolicy,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
