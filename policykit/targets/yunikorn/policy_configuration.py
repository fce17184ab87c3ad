"""The queues.yaml of a policy with its node sorting, checked with YuniKorn's own rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import lcm

from policykit.errors import PolicykitError
from policykit.manifests.path import Path
from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.release import Version
from policykit.model.workload import BINPACK, SPREAD, Placement, WorkloadKind
from policykit.namedtuple import NamedTuple
from policykit.targets import pool_capacity
from policykit.targets.yunikorn import options, queue_tree, validation, versions
from policykit.targets.yunikorn.configuration import configmap, placement_rules, properties, queues_yaml
from policykit.targets.yunikorn.configuration.placement_rules import Rule
from policykit.targets.yunikorn.configuration.queues_yaml import (
    Configuration,
    NodeSort,
    Partition,
    Preemption,
    Queue,
)
from policykit.targets.yunikorn.configuration.values import CORES
from policykit.targets.yunikorn.names import ROOT
from policykit.targets.yunikorn.options import YuniKornOptions
from policykit.targets.yunikorn.queue_tree import TreeResources, tree_resources

SCHEDULER = "yunikorn"
_TYPES = {BINPACK: "binpacking", SPREAD: "fair"}
_LARGEST_WEIGHT = 10_000
"""Upper bound, however many sizes of nodes there are."""
_NATIVE_WEIGHTS = {CORES: 1.0, "memory": 1.0}


class NodeSorting(NamedTuple):
    """The order of nodes, the reasons for its weights, and notices about what it cannot do."""

    sort: NodeSort = NodeSort()
    comments: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def node_sorting(cluster: Cluster, target: TargetSettings, stated: NodeSort | None) -> NodeSorting:
    """The node order of the partition: from the option, or else from the first placement that packs.

    With neither, cards are packed, so that whole nodes stay free for jobs that need them.
    """
    wanted = _placements(cluster, target)
    if stated is not None:
        chosen = [each for each in wanted if _TYPES[each.strategy] == stated.type]
        others = [each for each in wanted if each not in chosen]
        return _with_weights(cluster, stated, _conflicting_placements(stated.type, others))
    if not wanted:
        packed = NodeSort(_TYPES[BINPACK])
        return _with_weights(cluster, packed, ()) if _cards_per_node(cluster) else NodeSorting()
    first = next((each for each in wanted if each.strategy == BINPACK), wanted[0])
    sort = NodeSort(_TYPES[first.strategy], _stated_weights(first))
    others = [each for each in wanted if each != first]
    return _with_weights(
        cluster, sort, (*_conflicting_placements(sort.type, others), *_unsupported_parts(first))
    )


def served_kinds(cluster: Cluster, target: TargetSettings) -> list[WorkloadKind]:
    """Kinds whose pods may name this scheduler, in the policy's order."""
    names = ("", target.scheduler_name or SCHEDULER)
    return [kind for kind in cluster.workloads.values() if kind.scheduler in names]


def _with_weights(cluster: Cluster, sort: NodeSort, notices: tuple[str, ...]) -> NodeSorting:
    if sort.weights:
        return NodeSorting(sort, (), notices)
    comments = tuple(
        f"Weight of {resource}: one card of {' or '.join(map(str, counts))} per node outweighs vcore and "
        "memory together"
        for resource, counts in _cards_per_node(cluster).items()
    )
    return NodeSorting(NodeSort(sort.type, _weights(cluster)), comments, notices)


def _placements(cluster: Cluster, target: TargetSettings) -> list[Placement]:
    """The distinct placements of the kinds, in the policy's order."""
    found: dict[str, Placement] = {}
    for kind in served_kinds(cluster, target):
        if kind.placement_name in cluster.placements:
            found.setdefault(kind.placement_name, cluster.placements[kind.placement_name])
        elif kind.placement in _TYPES:
            found.setdefault(kind.placement, Placement(kind.placement, kind.placement))
    return list(found.values())


def _stated_weights(placement: Placement) -> dict[str, float]:
    """Weights of the resources that have the strategy of the placement."""
    return {
        CORES if name == "cpu" else name: float(each.weight)
        for name, each in sorted(placement.resources.items())
        if each.strategy == placement.strategy
    }


def _conflicting_placements(type_: str, others: Sequence[Placement]) -> tuple[str, ...]:
    if not others:
        return ()
    return (
        f"placement {', '.join(each.name for each in others)} is not possible: YuniKorn sorts nodes by one "
        f"policy for all pods, which is {type_}. Nearest: topologySpreadConstraints with DoNotSchedule in "
        "pods to spread, or another scheduler for them",
    )


def _unsupported_parts(placement: Placement) -> tuple[str, ...]:
    """Parts of the chosen placement that the weights cannot express."""
    found: list[str] = []
    mixed = [name for name, each in placement.resources.items() if each.strategy != placement.strategy]
    if mixed:
        found.append(
            f"placement {placement.name}: {', '.join(sorted(mixed))} cannot have another strategy "
            "than the rest. Nearest: left out of the weights"
        )
    if placement.shape:
        found.append(
            f"placement {placement.name}: shape has no counterpart in YuniKorn, whose scores are linear"
        )
    if placement.avoid:
        found.append(
            f"placement {placement.name}: avoid has no counterpart in YuniKorn. Nearest: taints on the nodes "
            f"with {', '.join(placement.avoid)}, or required usages of the workload kinds that request none"
        )
    return tuple(found)


def _weights(cluster: Cluster) -> dict[str, float]:
    """Weights by which one card more or less outweighs all of vcore and memory; empty without cards."""
    sizes = _cards_per_node(cluster)
    if not sizes:
        return {}
    cards = {
        resource: min(len(_NATIVE_WEIGHTS) * lcm(*counts) + 1, _LARGEST_WEIGHT)
        for resource, counts in sizes.items()
    }
    return {**_NATIVE_WEIGHTS, **{resource: float(weight) for resource, weight in cards.items()}}


def _cards_per_node(cluster: Cluster) -> dict[str, list[int]]:
    """Card resource to its distinct counts per node, ascending; unknown counts are assumed."""
    sizes = pool_capacity.cards_per_node(cluster)
    return {resource: pool_capacity.assumed(counts) for resource, counts in sizes.items() if counts}


class PolicyConfiguration(NamedTuple):
    """A configuration, the reasons for its numbers, and notices about what it cannot express."""

    configuration: Configuration
    comments: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def root(self) -> Queue:
        """The whole tree."""
        return (self.configuration.partitions[0].queues or ())[0]


def policy_configuration(cluster: Cluster, target: TargetSettings) -> PolicyConfiguration:
    """The configuration of a policy. Raises PolicykitError for what YuniKorn would refuse."""
    stated, version = options.yunikorn_options(target), versions.parse(target.version)
    _check_settings(stated)
    sorting = node_sorting(cluster, target, stated.node_sort)
    amounts = tree_resources(cluster.queues, deserved=True)
    made = _configuration(cluster, stated, version, sorting, amounts)
    if any(queue.deserved for queue in cluster.queues) and validation.refused(made, version):
        amounts = tree_resources(cluster.queues, deserved=False)
        made = _configuration(cluster, stated, version, sorting, amounts)
    _check(made, version)
    messages = (*amounts.notices, *sorting.notices, *_unplaced(stated, version))
    return PolicyConfiguration(made, sorting.comments, messages)


def _unplaced(stated: YuniKornOptions, version: Version) -> Iterator[str]:
    if stated.rules is None and stated.fallback and version < versions.PLACEMENT_CHECKED:
        yield (
            f"YuniKorn {version} refuses a fixed placement rule for a queue without queues below it, so none "
            f"is written for {stated.fallback}: pods that no other rule places are rejected"
        )


def parent_queues(cluster: Cluster, stated: YuniKornOptions) -> frozenset[str]:
    """Queues of the policy that contain queues, not applications."""
    below = frozenset((stated.namespace_queues,)) - {"", ROOT}
    return below | {queue.parent for queue in cluster.queues if queue.parent}


def _configuration(
    cluster: Cluster, stated: YuniKornOptions, version: Version, sorting: NodeSorting, amounts: TreeResources
) -> Configuration:
    holds = parent_queues(cluster, stated)
    root = queue_tree.build_root(
        queue_tree.TreeInput(cluster.queues, amounts.resources, stated, version, holds)
    )
    quota = stated.quota_preemption if version >= versions.QUOTA_PREEMPTION else None
    return Configuration(
        (
            Partition(
                queues_yaml.DEFAULT,
                (root,),
                _rules(stated, queue_tree.checked_paths(cluster.queues), version),
                preemption=Preemption(cluster.preemption.reclaim, quota),
                node_sort=sorting.sort,
            ),
        )
    )


def _rules(stated: YuniKornOptions, places: Mapping[str, str], version: Version) -> tuple[Rule, ...]:
    """Before 1.4 no rule may name a leaf, so there is none for pods that no other rule places."""
    if stated.rules is not None:
        return stated.rules
    below = places.get(stated.namespace_queues, stated.namespace_queues)
    fallback = places.get(stated.fallback, stated.fallback and f"{ROOT}.{stated.fallback}")
    return placement_rules.standard_rules(below, fallback if version >= versions.PLACEMENT_CHECKED else "")


def _check(made: Configuration, version: Version) -> None:
    hint = "change the queues or targets.yunikorn"
    for problem in validation.refused(made, version):
        raise PolicykitError(f"YuniKorn would refuse the queues: {problem.message}", hint, path=("queues",))
    for problem in validation.failing(made):
        raise PolicykitError(
            f"YuniKorn would fail with the queues: {problem.message}", hint, path=("queues",)
        )


def _check_settings(stated: YuniKornOptions) -> None:
    """Raises PolicykitError for a property or setting, or a value of one, that no release accepts."""
    for path, problem in _invalid_settings(stated):
        raise PolicykitError(problem, "change it under targets.yunikorn", path=("targets", "yunikorn", *path))


def _invalid_settings(stated: YuniKornOptions) -> Iterator[tuple[Path, str]]:
    """(where in the options, what is wrong)."""
    newest = versions.parse("")
    for queue, of in stated.queues.items():
        for step, given in ((), of.properties), (("template",), of.template.properties):
            for name, text in given.items():
                if problem := properties.problem(name, text, newest):
                    path = ("queues", queue, *step, "properties", name)
                    yield path, f"property {name} of queue {queue} {problem}"
    for key, text in stated.settings.items():
        if problem := configmap.problem(key, text, newest):
            yield ("settings", key), f"setting {key} {problem}"
