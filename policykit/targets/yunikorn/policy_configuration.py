"""The queues.yaml of a policy, checked with YuniKorn's own rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.errors import PolicykitError
from policykit.manifests.path import Path
from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.release import Version
from policykit.namedtuple import NamedTuple
from policykit.targets.yunikorn import node_sorting, options, queue_tree, validation, versions
from policykit.targets.yunikorn.configuration import placement_rules, properties, queues_yaml, settings
from policykit.targets.yunikorn.configuration.placement_rules import Rule
from policykit.targets.yunikorn.configuration.queues_yaml import Configuration, Partition, Preemption, Queue
from policykit.targets.yunikorn.names import ROOT
from policykit.targets.yunikorn.node_sorting import NodeSorting
from policykit.targets.yunikorn.options import Options
from policykit.targets.yunikorn.queue_tree import TreeResources, tree_resources


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
    stated, version = options.of(target), versions.parse(target.version)
    _check_settings(stated)
    sorting = node_sorting.sorting(cluster, target, stated.node_sort)
    amounts = tree_resources(cluster.queues, deserved=True)
    made = _configuration(cluster, stated, version, sorting, amounts)
    if any(queue.deserved for queue in cluster.queues) and validation.refused(made, version):
        amounts = tree_resources(cluster.queues, deserved=False)
        made = _configuration(cluster, stated, version, sorting, amounts)
    _check(made, version)
    messages = (*amounts.notices, *sorting.notices, *_unplaced(stated, version))
    return PolicyConfiguration(made, sorting.comments, messages)


def _unplaced(stated: Options, version: Version) -> Iterator[str]:
    if stated.rules is None and stated.fallback and version < versions.PLACEMENT_CHECKED:
        yield (
            f"YuniKorn {version} refuses a fixed placement rule for a queue without queues below it, so none "
            f"is written for {stated.fallback}: pods that no other rule places are rejected"
        )


def parent_queues(cluster: Cluster, stated: Options) -> frozenset[str]:
    """Queues of the policy that contain queues, not applications."""
    below = frozenset((stated.namespace_queues,)) - {"", ROOT}
    return below | {queue.parent for queue in cluster.queues if queue.parent}


def _configuration(
    cluster: Cluster, stated: Options, version: Version, sorting: NodeSorting, amounts: TreeResources
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


def _rules(stated: Options, places: Mapping[str, str], version: Version) -> tuple[Rule, ...]:
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


def _check_settings(stated: Options) -> None:
    """Raises PolicykitError for a property or setting, or a value of one, that no release accepts."""
    for path, problem in _invalid_settings(stated):
        raise PolicykitError(problem, "change it under targets.yunikorn", path=("targets", "yunikorn", *path))


def _invalid_settings(stated: Options) -> Iterator[tuple[Path, str]]:
    """(where in the options, what is wrong)."""
    newest = versions.parse("")
    for queue, of in stated.queues.items():
        for step, given in ((), of.properties), (("template",), of.template.properties):
            for name, text in given.items():
                if problem := properties.problem(name, text, newest):
                    path = ("queues", queue, *step, "properties", name)
                    yield path, f"property {name} of queue {queue} {problem}"
    for key, text in stated.settings.items():
        if problem := settings.problem(key, text, newest):
            yield ("settings", key), f"setting {key} {problem}"
