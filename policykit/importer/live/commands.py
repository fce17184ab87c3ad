"""The commands that would make live nodes what the policy says, in the order they are safe in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from policykit.importer.live.differences import Difference
from policykit.targets.nodes.shell import BATCH, command

_LABEL = "kubectl label nodes --overwrite"
_UNLABEL = "kubectl label nodes"
_TAINT = "kubectl taint nodes --overwrite"
_UNTAINT = "kubectl taint nodes"


class Step(NamedTuple):
    """Commands that may be run one after the other."""

    says: str
    """What must be so before them."""
    commands: tuple[str, ...]


def steps(found: Sequence[Difference], cloud: bool = False) -> tuple[Step, ...]:
    """Labels, taints that come, taints that go; nodes that need the same are in one command.

    A taint goes after the one in its place has come: in between, any pod could be placed there.
    `cloud`: nodes are made anew from node pools, which must say the same.
    """
    made = (
        Step("Labels. They move no pod by themselves.", tuple(_labels(found))),
        Step(
            "Taints, last: the node daemons must tolerate them by now (nodes/daemons of `policykit gen`),\n"
            "and so must the workloads that are to stay (workloads/).",
            tuple(_taints(found)),
        ),
        Step("Taints that the policy does not have, after those that it has.", tuple(_extra_taints(found))),
    )
    kept = tuple(step for step in made if step.commands)
    if kept and cloud:
        says = "Nodes that the cloud makes anew lose all this: set it in their node pool as well."
        kept = (kept[0]._replace(says=f"{says}\n{kept[0].says}"), *kept[1:])
    return kept


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


def _extra_taints(found: Iterable[Difference]) -> Iterator[str]:
    unwanted: dict[str, list[str]] = {}
    for each in found:
        if each.taint and each.kind == "extra-taint":
            unwanted.setdefault(each.node, []).append(f"{each.taint}-")
    yield from _joined(_UNTAINT, unwanted)


def _taints(found: Iterable[Difference]) -> Iterator[str]:
    wanted: dict[str, list[str]] = {}
    for each in found:
        if each.taint and each.kind != "extra-taint":
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
