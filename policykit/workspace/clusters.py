"""What the cluster of each policy applies."""

from __future__ import annotations

import os
from collections.abc import Mapping

from policykit.errors import SourceError
from policykit.namedtuple import NamedTuple
from policykit.workspace.applied import stated_sources
from policykit.workspace.argocd.reading import argocd_sources
from policykit.workspace.disk import cached
from policykit.workspace.files import repository_root
from policykit.workspace.flux import flux_sources
from policykit.workspace.kustomization_parts import parts_of
from policykit.workspace.policies import name_of, policies_above, policy_by_place
from policykit.workspace.sources import Source
from policykit.workspace.units import Contents, contents_of


@cached
def sources_of(policy: str) -> tuple[Source, ...]:
    """What the cluster of a policy applies, according to the policy, or else to the objects of GitOps
    controllers. Raises SourceError.
    """
    stated = stated_sources(policy)
    return _of_controllers(policy) if stated is None else stated


@cached
def contents_of_policy(policy: str) -> tuple[tuple[Source, Contents], ...]:
    """What the cluster of a policy applies, with what each source comes to. Raises SourceError."""
    return tuple((source, contents_of(source)) for source in sources_of(policy))


def _of_controllers(policy: str) -> tuple[Source, ...]:
    root = repository_root(os.path.dirname(policy))
    if not root:
        return ()

    def beside(file: str) -> bool:
        return os.path.abspath(policy_by_place(os.path.dirname(file)) or file) == policy

    return (*flux_sources(root, name_of(policy), beside), *argocd_sources(policy))


class Repository(NamedTuple):
    """What the clusters of a repository apply."""

    contents: Mapping[str, tuple[tuple[Source, Contents], ...]]
    """Absolute path of each policy to what its cluster applies."""
    users: Mapping[str, frozenset[str]]
    """Real path of each file to the policies of the clusters that apply it, if that is stated or follows from
    kustomizations; other files belong to the policy above them.
    """
    faults: tuple[SourceError, ...] = ()
    """Why parts of the policies cannot be read."""

    def policies_of(self, file: str) -> tuple[str, ...]:
        """Absolute paths of the policies that judge a file, sorted."""
        stated = self.users.get(os.path.realpath(file))
        by_place = policy_by_place(os.path.dirname(os.path.abspath(file)))
        return tuple(sorted(stated)) if stated else (os.path.abspath(by_place),) if by_place else ()


def policies_of(file: str) -> tuple[str, ...]:
    """Absolute paths of the policies that a file is judged by, sorted."""
    folder = os.path.dirname(os.path.abspath(file))
    root = repository_root(folder)
    return (repository(root) if root else Repository({}, {})).policies_of(file)


@cached
def repository(root: str) -> Repository:
    """What the clusters of a repository apply. Nothing is built."""
    contents: dict[str, tuple[tuple[Source, Contents], ...]] = {}
    users: dict[str, set[str]] = {}
    faults: list[SourceError] = []
    for policy in policies_above((root,)):
        try:
            contents[policy] = contents_of_policy(policy)
        except SourceError as error:
            contents[policy] = ()
            faults.append(error)
        for unit in (unit for _, each in contents[policy] for unit in each.units):
            for file in (unit.file,) if unit.file else unit.tree.looked_at():
                users.setdefault(file, set()).add(policy)
    stated = frozenset(users)
    for folder, parts in parts_of(root).items():
        policy = policy_by_place(folder)
        for file in parts - stated if policy else ():
            users.setdefault(file, set()).add(os.path.abspath(policy))
    return Repository(contents, {file: frozenset(own) for file, own in users.items()}, tuple(faults))
