"""Of queues.yaml: its queues, and the placement rules that lead namespaces to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.model.application import NAMESPACE, PARENT, Route, StaticQueues
from policykit.targets.yunikorn import default_partition
from policykit.targets.yunikorn.configuration.partition import Partition
from policykit.targets.yunikorn.configuration.placement_rules import FIXED, TAG, Rule
from policykit.targets.yunikorn.configuration.queues import ROOT, Queue
from policykit.targets.yunikorn.configuration.shape import holds_placeholder
from policykit.targets.yunikorn.derived.standard_rules import NAMESPACE as NAMESPACE_TAG
from policykit.targets.yunikorn.derived.standard_rules import PARENT_QUEUE


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """StaticQueues of a configuration in which nothing is filled in later."""
    found = default_partition.read(manifest, context.cluster)
    if found is not None and not holds_placeholder(manifest.data):
        queues = static_queues(found.partition, found.tree.queue)
        yield Fact(queues, {"queues": found.tree.path}, answers=True)


def static_queues(partition: Partition, root: Queue) -> StaticQueues:
    """The leaves of a tree, and the rules that lead namespaces there."""
    routes = (_route(rule) for rule in partition.rules)
    return StaticQueues(tuple(_leaves(root, ROOT)), tuple(route for route in routes if route))


def _leaves(queue: Queue, path: str) -> Iterator[str]:
    if queue.leaf and path != ROOT:
        yield path
    for child in queue.queues:
        yield from _leaves(child, f"{path}.{child.name.lower()}")


def _route(rule: Rule) -> Route | None:
    """None for a rule that depends on more than the namespace."""
    steps: list[str] = []
    for each in rule.chain:
        name, value = each.name.lower(), each.value.lower()
        if each.filter.users or each.filter.groups:
            return None
        if name == FIXED and value:
            steps += value.removeprefix(f"{ROOT}.").split(".")
        elif name == TAG and value in (NAMESPACE_TAG, PARENT_QUEUE):
            steps.append(NAMESPACE if value == NAMESPACE_TAG else PARENT)
        else:
            return None
    return Route(rule.create, tuple(steps))
