"""What the cluster of each policy applies: as the policy states it, and as Flux and Argo CD do."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from policykit.errors import SourceError
from policykit.manifests.path import Path
from policykit.manifests.shape import text
from policykit.namedtuple import NamedTuple
from policykit.policy.tree import SourcedValue, find, location, plain
from policykit.workspace import filesystem, safe_paths
from policykit.workspace.command_state import cached
from policykit.workspace.files import repository_root
from policykit.workspace.gitops.controllers import applied_by_controllers, buildable_folders
from policykit.workspace.gitops.source_contents import Contents, contents_of
from policykit.workspace.gitops.sources import (
    HelmOptions,
    Source,
    SourceLocation,
    SourceType,
    Variables,
    merge_variables,
    variables_of_file,
)
from policykit.workspace.kustomizations import files_of
from policykit.workspace.policies import applied_folders, policies_above, policy_by_place, policy_tree
from policykit.workspace.scopes import kustomization

_APPLIES = "applies"


@cached
def stated_sources(policy: str) -> tuple[Source, ...] | None:
    """The sources in `applies` of a policy or of one it extends; None: it has none. Paths are relative to the
    file that contains them. Compiling the policy reports entries that cannot be read.

    Raises SourceError for a path that is not a folder, or outside the boundary of that file.
    """
    tree, _ = policy_tree(policy)
    base: Path = applied_folders(tree)
    stated = find(tree, base) if tree else None
    if tree is None or stated is None or not isinstance(stated.value, list):
        return () if stated is not None else None
    return tuple(
        _source(tree, (*base, number))
        for number, each in enumerate(stated.value)
        if isinstance(each.value, dict) and isinstance(_plain(each, "path"), str)
    )


def _source(tree: SourcedValue, here: Path) -> Source:
    each = find(tree, here)
    assert each is not None
    path = _plain(each, "path")
    folder = _place(tree, (*here, "path"), path)
    file, span = location(tree, here)
    if not filesystem.isdir(folder):
        raise _fault(tree, (*here, "path"), f"{path} is not a folder", "check the path")
    helm = _plain(each, "helm")
    return Source(
        folder,
        _form(folder, chart=isinstance(helm, Mapping)),
        SourceLocation(filesystem.realpath(file), span.line, 0, (*here, "path")),
        variables=_variables(tree, here),
        helm=_helm(tree, here, helm) if isinstance(helm, Mapping) else None,
    )


def _form(folder: str, *, chart: bool) -> SourceType:
    if kustomization(folder) and not chart:
        return SourceType.KUSTOMIZATION
    is_chart = chart or filesystem.isfile(os.path.join(folder, "Chart.yaml"))
    return SourceType.CHART if is_chart else SourceType.FLUX_FOLDER


def _variables(tree: SourcedValue, here: Path) -> Variables | None:
    each = find(tree, here)
    assert each is not None
    found = [
        variables_of_file(_place(tree, path, file), each.source.name)
        for path, file in _texts(each, here, "substituteFrom")
    ]
    own = _plain(each, "substitute")
    if isinstance(own, Mapping):
        found.append(Variables({name: str(value) for name, value in own.items()}))
    return merge_variables(found) if found else None


def _helm(tree: SourcedValue, entry: Path, helm: Mapping[str, Any]) -> HelmOptions:
    here: Path = (*entry, "helm")
    each = find(tree, here)
    assert each is not None
    files = tuple(_place(tree, path, name) for path, name in _texts(each, here, "values"))
    return HelmOptions(text(helm.get("release")), text(helm.get("namespace")), files)


def _place(tree: SourcedValue, path: Path, path_text: str) -> str:
    """The real path of a path in a policy. Raises SourceError."""
    file, _ = location(tree, path)
    place = filesystem.realpath(os.path.join(os.path.dirname(file), path_text.replace("\0", "")))
    if not filesystem.lexists(place):
        raise _fault(tree, path, f"{path_text} does not exist", "check the path")
    if not safe_paths.contains(safe_paths.root_of(file), place):
        raise _fault(
            tree, path, f"{path_text} is outside of the repository of the policy", "name one inside it"
        )
    return place


def _fault(tree: SourcedValue, path: Path, message: str, hint: str) -> SourceError:
    file, span = location(tree, path)
    return SourceError(f"{_APPLIES} names a path that cannot be used: {message}", hint, f"{file}:{span.line}")


def _texts(tree: SourcedValue, base: Path, field: str) -> Iterator[tuple[Path, str]]:
    found = find(tree, (field,))
    for number, each in enumerate(found.value if found and isinstance(found.value, list) else ()):
        if isinstance(each.value, str):
            yield (*base, field, number), each.value


def _plain(tree: SourcedValue, field: str) -> Any:
    found = find(tree, (field,))
    return None if found is None else plain(found)


@cached
def sources_of(policy: str) -> tuple[Source, ...]:
    """What the cluster of a policy applies, according to the policy, or else to the objects of GitOps
    controllers. Raises SourceError.
    """
    return tuple(source for source, _ in contents_of_policy(policy))


@cached
def contents_of_policy(policy: str) -> tuple[tuple[Source, Contents], ...]:
    """What the cluster of a policy applies, with what each source comes to. Raises SourceError."""
    stated = stated_sources(policy)
    if stated is not None:
        return tuple((source, contents_of(source)) for source in stated)
    root = repository_root(os.path.dirname(policy))
    if not root:
        return ()
    known = applied_by_controllers(root, tuple(policies_above((root,))))
    found = known[policy] if policy in known else applied_by_controllers(root, (policy,))[policy]
    return tuple((each.source, each.contents) for each in found)


class AppliedSources(NamedTuple):
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
        stated = self.users.get(filesystem.realpath(file))
        by_place = policy_by_place(os.path.dirname(os.path.abspath(file)))
        return tuple(sorted(stated)) if stated else (os.path.abspath(by_place),) if by_place else ()


def policies_of(file: str) -> tuple[str, ...]:
    """Absolute paths of the policies that a file is judged by, sorted."""
    folder = os.path.dirname(os.path.abspath(file))
    root = repository_root(folder)
    return (repository(root) if root else AppliedSources({}, {})).policies_of(file)


@cached
def repository(root: str) -> AppliedSources:
    """What the clusters of a repository apply. Nothing is built except what has objects of controllers."""
    contents: dict[str, tuple[tuple[Source, Contents], ...]] = {}
    users: dict[str, set[str]] = {}
    faults: list[SourceError] = []
    for policy in policies_above((root,)):
        try:
            contents[policy] = contents_of_policy(policy)
        except SourceError as error:
            contents[policy] = ()
            faults.append(error)
        for source, found in contents[policy]:
            stating_file = source.stated.file
            for unit in found.units:
                for file in (unit.file,) if unit.file else files_of(unit.tree):
                    if file != stating_file or unit.file:
                        users.setdefault(file, set()).add(policy)
            # What states it may be applied to another cluster.
            if not policy_by_place(os.path.dirname(stating_file)):
                users.setdefault(stating_file, set()).add(policy)
    stated = frozenset(users)
    for folder, parts in buildable_folders(root).items():
        policy = policy_by_place(folder)
        for file in parts - stated if policy else ():
            users.setdefault(file, set()).add(os.path.abspath(policy))
    return AppliedSources(contents, {file: frozenset(own) for file, own in users.items()}, tuple(faults))
