"""Which policies are clusters, and what each of them applies."""

from __future__ import annotations

import os
from collections.abc import Iterable

from policykit.workspace.applied import stated_sources
from policykit.workspace.argocd.reading import argocd_sources
from policykit.workspace.disk import cached
from policykit.workspace.files import repository_files, repository_root
from policykit.workspace.flux import flux_sources
from policykit.workspace.policies import FILE_NAME, is_cluster, name_of, policy_by_place
from policykit.workspace.sources import Source


@cached
def sources_of(policy: str) -> tuple[Source, ...]:
    """What the cluster of a policy applies, as far as it is said: by the policy, else by the objects of
    controllers. Raises SourceError.
    """
    stated = stated_sources(policy)
    return _of_controllers(policy) if stated is None else stated


def _of_controllers(policy: str) -> tuple[Source, ...]:
    root = repository_root(os.path.dirname(policy))
    if not root:
        return ()

    def beside(file: str) -> bool:
        return os.path.abspath(policy_by_place(os.path.dirname(file)) or file) == policy

    return (*flux_sources(root, name_of(policy), beside), *argocd_sources(policy))


def policies_above(folders: Iterable[str]) -> list[str]:
    """Absolute paths of the policies of clusters in the repositories of folders."""
    roots = dict.fromkeys(root for root in map(repository_root, folders) if root)
    paths = (path for root in roots for path in repository_files(root))
    found = dict.fromkeys(os.path.abspath(path) for path in paths if os.path.basename(path) == FILE_NAME)
    return [path for path in found if is_cluster(path)]
