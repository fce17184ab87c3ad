"""Commands that make live nodes match the policy, in a safe order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from policykit.importer.node_differences import Difference
from policykit.namedtuple import NamedTuple
from policykit.targets.nodes.existing_nodes import EVICTS
from policykit.targets.nodes.shell import BATCH, command

_LABEL = "kubectl label nodes --overwrite"
_UNLABEL = "kubectl label nodes"
_TAINT = "kubectl taint nodes --overwrite"
_UNTAINT = "kubectl taint nodes"
_SET = ("missing-taint", "wrong-taint")


class Step(NamedTuple):
    """Commands that can run one after another."""

    note: str
    """Precondition, for the user."""
    commands: tuple[str, ...]


def steps(found: Sequence[Difference], cloud: bool = False) -> tuple[Step, ...]:
    """Labels, then new taints, then taints to remove; nodes with the same change share a command.

    A taint is removed after its replacement is set; in between any pod could be placed there.
    `cloud`: nodes are recreated from node pools, which must have the same labels and taints.
    """
    made = (
        Step("Labels. They do not move any pod by themselves.", tuple(_labels(found))),
        Step(_before_taints(found), tuple(_taints(found))),
        Step(
            "Removal of taints that are not in the policy, after its own taints are set.",
            tuple(_removed_taints(found, "extra-taint")),
        ),
        Step(
            "Removal of taints with keys that the policy does not have: an earlier policy may have set\n"
            "them, or somebody else. Find out first.",
            tuple(_removed_taints(found, "foreign-taint")),
        ),
    )
    kept = tuple(step for step in made if step.commands)
    if kept and cloud:
        says = "Nodes that the cloud recreates lose all this: set it in their node pool as well."
        kept = (kept[0]._replace(note=f"{says}\n{kept[0].note}"), *kept[1:])
    return kept


def _before_taints(found: Iterable[Difference]) -> str:
    says = (
        "Taints. Before this step, node daemons (nodes/daemons of `policykit gen`) and workloads that\n"
        "should stay (workloads/) must tolerate them."
    )
    evicting = any(each.taint and each.taint.evicts for each in found if each.kind in _SET)
    return f"{says}\n{EVICTS}" if evicting else says


def _labels(found: Iterable[Difference]) -> Iterator[str]:
    wanted: dict[str, list[str]] = {}
    unwanted: dict[str, list[str]] = {}
    for each in found:
        if each.label:
            key, value = each.label
            if each.kind == "extra-label":
                unwanted.setdefault(each.node, []).append(f"{key}-")
            else:
                wanted.setdefault(each.node, []).append(f"{key}={value}")
    yield from _joined(_LABEL, wanted)
    yield from _joined(_UNLABEL, unwanted)


def _removed_taints(found: Iterable[Difference], kind: str) -> Iterator[str]:
    unwanted: dict[str, list[str]] = {}
    for each in found:
        if each.taint and each.kind == kind:
            unwanted.setdefault(each.node, []).append(f"{each.taint}-")
    yield from _joined(_UNTAINT, unwanted)


def _taints(found: Iterable[Difference]) -> Iterator[str]:
    wanted: dict[str, list[str]] = {}
    for each in found:
        if each.taint and each.kind in _SET:
            wanted.setdefault(each.node, []).append(str(each.taint))
    yield from _joined(_TAINT, wanted)


def _joined(words: str, by_node: dict[str, list[str]]) -> Iterator[str]:
    """One command for the nodes that need the same, in batches."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for node in sorted(by_node):
        if not node.startswith("-"):  # no node is called so, and kubectl would take it for an option
            alike.setdefault(tuple(by_node[node]), []).append(node)
    for arguments, nodes in alike.items():
        for start in range(0, len(nodes), BATCH):
            yield command(words, nodes[start : start + BATCH], arguments)
