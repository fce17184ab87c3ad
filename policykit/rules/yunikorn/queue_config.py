"""What the rules about queues.yaml share: violations that nothing filled in or corrected later undoes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policykit.linter.rule import Violation, violation_of
from policykit.manifests.document import Manifest
from policykit.manifests.path import lookup
from policykit.manifests.problem import Problem
from policykit.targets.yunikorn.configuration.values import contains_placeholder
from policykit.targets.yunikorn.default_partition import DefaultPartition
from policykit.targets.yunikorn.validation.problem import KINDS, Dependence, UndecodedParts, certain_problems


def violations(
    problems: Iterable[Problem], manifest: Manifest, found: DefaultPartition | None = None
) -> Iterator[Violation]:
    """Of the validator's problems those that no placeholder and, of `found`, no undecoded part may undo."""
    if found is not None and found.undecoded:
        problems = certain_problems(problems, UndecodedParts.of(found.undecoded))
    for each in problems:
        path = each.path[:2] if KINDS[each.kind].compares_queues else each.path
        if not contains_placeholder(lookup(manifest.data, path)):
            yield violation_of(each)


def settled(
    found: Iterable[Violation],
    manifest: Manifest,
    partition: DefaultPartition | None = None,
    depends_on: Dependence = Dependence.PARTITION,
) -> Iterator[Violation]:
    """The same of violations."""
    undecoded = UndecodedParts.of(partition.undecoded) if partition else None
    for each in found:
        if undecoded and undecoded.paths and undecoded.may_undo(each.path, depends_on):
            continue
        if not contains_placeholder(lookup(manifest.data, each.path)):
            yield each
