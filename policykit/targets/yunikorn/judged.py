"""A queue configuration as linter rules look at it: the partition that counts, and what is settled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.targets.release import Version
from policykit.targets.yunikorn import versions
from policykit.targets.yunikorn.checks import decoding, independence
from policykit.targets.yunikorn.checks.problem import Located, Problem, located
from policykit.targets.yunikorn.configuration import partition as files
from policykit.targets.yunikorn.configuration.partition import DEFAULT, Configuration, Partition

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

KIND = "queues.yaml"
_COMPARED = frozenset(
    {
        "applications",
        "guaranteed-sum",
        "limit-above",
        "limit-applications-above",
        "max-above",
        "max-guaranteed",
        "max-sum",
        "preemption-idle",
        "root-limits",
        "rule-parent",
        "rule-queue",
        "template-max",
    }
)
"""Rules about several queues: a placeholder in any of them may decide."""


class Judged(NamedTuple):
    """A configuration, and its partition `default`, the one of Kubernetes."""

    configuration: Configuration
    partition: Partition
    tree: Located
    path: Path
    """Of the partition."""
    undecoded: tuple[Problem, ...] = ()
    """What YuniKorn does not decode of it; the rest is as if that were not there."""

    def certain(self, problems: Iterable[Problem]) -> Iterator[Problem]:
        """Those that nothing undecoded can undo."""
        return independence.certain(problems, self.undecoded)


def version_of(cluster: Cluster | None) -> Version | None:
    """The release that the policy states; None: it states none."""
    target = cluster.targets.get("yunikorn") if cluster else None
    return versions.parse(target.version) if target and target.version else None


def read(manifest: Manifest, cluster: Cluster | None) -> Judged | None:
    """None where the scheduler would not read the file, which is what has to be said then."""
    found = as_far_as_decoded(manifest, cluster)
    return None if found is None or found.undecoded else found


def as_far_as_decoded(manifest: Manifest, cluster: Cluster | None) -> Judged | None:
    """Also of a file that the scheduler refuses for a part of it: then only `certain` problems count."""
    if not isinstance(manifest.data, Mapping):
        return None
    undecoded = tuple(decoding.problems(manifest.data, version_of(cluster) or versions.parse("")))
    configuration = files.read(manifest.data)
    for number, partition in enumerate(configuration.partitions):
        if partition.queues is not None and partition.name.lower() in ("", DEFAULT):
            path: Path = ("partitions", number)
            return Judged(configuration, partition, located(partition, path), path, undecoded)
    return None


def violations(problems: Iterable[Problem], manifest: Manifest) -> Iterator[Violation]:
    """Those that no placeholder can undo."""
    for problem in problems:
        if not _open(manifest.data, problem):
            yield Violation(problem.path, problem.message, problem.help, problem.severity, problem.key)


def _open(data: object, problem: Problem) -> bool:
    partition = problem.path[:2]
    return holds_placeholder(lookup(data, partition if problem.rule in _COMPARED else problem.path))


def holds_placeholder(data: object) -> bool:
    """Whether anything in it is filled in later."""
    if isinstance(data, dict):
        return any(is_placeholder(key) or holds_placeholder(value) for key, value in data.items())
    if isinstance(data, list):
        return any(map(holds_placeholder, data))
    return is_placeholder(data)
