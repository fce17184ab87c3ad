"""Nodes whose cards are cut in several sizes, where the device plugin takes one size alone."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Violation
from policykit.linter.scope import FactField, Scope
from policykit.model.cluster import Cluster
from policykit.model.shared_cards import MigConfigurationLabel, MigConfigurations, PluginConfiguration

_SINGLE = "single"
_LABEL = "nvidia.com/mig.config"
_OF_OPERATOR = frozenset({"all-balanced"})
"""In the operator's own file. Source: `deployments/gpu-operator` of mig-parted (0.5 to 0.15)."""


def violations(scope: Scope, cluster: Cluster | None) -> Iterator[Violation]:
    """Of labels of nodes, in files or in the policy.

    Source: `newMigStrategySingle` in `internal/rm` of k8s-device-plugin (0.7 to 0.18).
    """
    stated = [each for each in scope.of(PluginConfiguration) if each.value.mig_strategy]
    if not stated or any(each.value.mig_strategy != _SINGLE for each in stated):
        return
    mixed: set[str] = set()
    single: set[str] = set()
    for found in scope.of(MigConfigurations):
        mixed.update(found.value.mixed)
        single.update(set(found.value.names) - set(found.value.mixed))
    mixed = (mixed | _OF_OPERATOR) - single
    for label in scope.of(MigConfigurationLabel):
        if label.value.name in mixed:
            which = "nodes that have no other" if label.value.by_default else "the nodes"
            yield _violation(label.at("name"), label.value.name, which)
    for name, pool in labels(cluster, _LABEL):
        if name in mixed:
            yield _violation(stated[0].at("configuration"), name, f"pool {pool}")
            return


def labels(cluster: Cluster | None, key: str) -> Iterator[tuple[str, str]]:
    """The values of a label, and the pools whose nodes have them; an empty one where they have none."""
    for pool in cluster.pools if cluster else ():
        for shape in pool.shapes:
            yield {**pool.labels, **shape.labels}.get(key, ""), pool.name


def _violation(at: FactField, name: str, nodes: str) -> Violation:
    return Violation(
        at,
        f"{_LABEL} of {nodes} is {name}, with slices of several sizes, but the MIG strategy is {_SINGLE}: "
        "the device plugin fails there, and the nodes offer no card",
        "set the strategy mixed, or choose a configuration whose slices have one size",
    )
