"""Amounts that have no effect, or mean something else than they look like."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.catalogue.resources import is_card
from policykit.manifests.path import Path
from policykit.model.severity import Severity
from policykit.targets.yunikorn.checks.amounts import shown
from policykit.targets.yunikorn.checks.problem import Located, Problem
from policykit.targets.yunikorn.configuration.partition import NodeSort, Partition
from policykit.targets.yunikorn.configuration.resources import CORES, counted

_MEANT = {"cpu": CORES, "vcores": CORES, "mem": "memory", "gpu": "nvidia.com/gpu"}
"""Names that no pod is counted under, and what is meant."""
_FEW_BYTES = 10**6
_MANY_CORES = 1000 * 1000


def never_counted(name: str) -> str:
    """What is meant by a resource that no pod ever counts as; empty: some pod may."""
    return _MEANT.get(name.lower(), "")


def names(partition: Partition, tree: Located, path: Path) -> Iterator[Problem]:
    """Resources that no pod is counted under, wherever amounts stand."""
    for where, stated in stated_amounts(tree):
        for name in stated:
            if meant := never_counted(name):
                message = f"no pod counts as {name}: the amount never applies"
                yield Problem((*where, name), "resource-name", message, _write(meant), key=True)
    weights = (*path, "nodesortpolicy", "resourceweights")
    for name in partition.node_sort.weights:
        if meant := never_counted(name):
            message = f"nodes have no {name}: the weight never counts"
            yield Problem((*weights, name), "resource-name", message, _write(meant), key=True)


def _write(meant: str) -> str:
    example = ", or whatever the device plugin calls the card" if "/" in meant else ""
    return f"write {meant}{example}"


def zeros(tree: Located) -> Iterator[Problem]:
    """A max of zeros alone counts as none."""
    for each in tree.walk():
        for key, stated in each.queue.resources._asdict().items():
            most = counted(stated)
            if key == "maximum" and stated and len(most) == len(stated) and not any(most.values()):
                message = f"max of queue {each.queue.name} is all zero, which counts as no max at all"
                advice = "give one resource an amount above zero; the zeros beside it then count"
                yield Problem((*each.path, "resources", "max"), "max-zero", message, advice)


def old_units(tree: Located) -> Iterator[Problem]:
    """Amounts as before release 1.0: megabytes, and thousandths of a core."""
    for where, stated in stated_amounts(tree):
        amounts = counted(stated)
        memory, cores = amounts.get("memory", 0), amounts.get(CORES, 0)
        if 0 < memory < _FEW_BYTES and cores > _MANY_CORES:
            yield Problem(
                (*where, "memory"),
                "old-units",
                f"{stated['memory']} of memory is {memory} bytes, beside {shown(CORES, cores)} cores",
                "before release 1.0 memory was in megabytes and vcore in thousandths: write "
                f"{stated['memory']}M and {stated[CORES]}m if that is meant",
                Severity.WARNING,
            )


def unweighted_cards(sort: NodeSort, tree: Located, path: Path) -> Iterator[Problem]:
    """Queues with cards, while nodes are packed by cores and memory alone."""
    weighed = {name for name, weight in sort.weights.items() if weight}
    bounded = {name for _, stated in stated_amounts(tree) for name, n in counted(stated).items() if n}
    cards = sorted(name for name in bounded if is_card(name))
    if sort.type == "binpacking" and cards and not weighed & set(cards):
        yield Problem(
            (*path, "nodesortpolicy"),
            "cards-not-weighed",
            f"binpacking packs nodes by {', '.join(sorted(weighed)) or 'vcore and memory'}, and queues have "
            f"{cards[0]}: cards are left over on many nodes",
            f"state resourceweights with {cards[0]}, 4 for one; vcore and memory then need weights too",
            Severity.INFO,
        )


def stated_amounts(tree: Located) -> Iterator[tuple[Path, Mapping[str, str]]]:
    for each in tree.walk():
        queue = each.queue
        for prefix, resources in (((), queue.resources), (("childtemplate",), queue.template.resources)):
            for key, stated in (("guaranteed", resources.guaranteed), ("max", resources.maximum)):
                yield (*each.path, *prefix, "resources", key), stated or {}
        for number, limit in enumerate(queue.limits):
            yield (*each.limits_path, number, "maxresources"), limit.resources
