"""Problems of a koord-scheduler configuration as violations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Violation, violation_of
from policykit.manifests.document import Manifest
from policykit.manifests.memoize import memoize_last
from policykit.manifests.path import lookup
from policykit.manifests.problem import Problem
from policykit.model.severity import Applicability
from policykit.targets.koordinator import versions
from policykit.targets.koordinator.scheduler import api_version, configuration
from policykit.targets.koordinator.scheduler.api_version import Releases
from policykit.targets.koordinator.scheduler.configuration import Configuration


@memoize_last
def read(manifest: Manifest) -> Configuration:
    """The configuration; without profiles where another scheduler reads it."""
    data = manifest.data
    return configuration.read(data) if configuration.is_for_koordinator(data) else Configuration()


def readers(configuration: Configuration, context: Context) -> Releases:
    """The releases that may read it: the one the policy states, else those that know its apiVersion."""
    return api_version.readers(configuration, versions.possible_versions(context.cluster))


def violations(
    manifest: Manifest, problems: Iterable[Problem], fix: Applicability | None = None
) -> Iterator[Violation]:
    """Of values that are not placeholders; with repairs as fixes of this applicability."""
    for problem in problems:
        if not is_placeholder(lookup(manifest.data, problem.path)):
            yield violation_of(problem, fix=fix)
