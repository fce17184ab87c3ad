"""The policies of a repository: which one applies to a file, compiled, and to which folder each writes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import cache as once
from typing import TYPE_CHECKING

from policykit.errors import PolicyError, SourceError
from policykit.linter.finding import listed
from policykit.namedtuple import NamedTuple
from policykit.workspace import filesystem
from policykit.workspace.command_state import cached
from policykit.workspace.files import (
    SUFFIXES,
    is_there,
    read,
    repository_files,
    repository_root,
    upwards,
    walk,
)
from policykit.workspace.safe_paths import SMALL, is_within

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster
    from policykit.policy.tree import SourcedValue
    from policykit.workspace.cache.folder import Cache
    from policykit.workspace.cache.policies import CompiledPolicy, Reader

FILE_NAME = "policykit.yaml"
_PROFILE = "profile:"
_OF_CLUSTERS = (("applies",), ("generate", "out"))
"""Fields that only policies of clusters have."""
_MARK = b"policykit.io/"
"""Part of every policy's apiVersion."""


def hint_without_policy(hint: str) -> str:
    """What to do where no policy is found, unless one has the wrong name."""
    other = f"{os.path.splitext(FILE_NAME)[0]}.yml"
    return f"rename {other} to {FILE_NAME}" if filesystem.exists(other) else hint


@cached
def nearest_policy(folder: str) -> str:
    """Path of the policy for files in a folder; empty: there is none up to the repository root."""
    paths = (os.path.join(here, FILE_NAME) for here in upwards(folder))
    return next(filter(is_there, paths), "")


@cached
def policy_by_place(folder: str) -> str:
    """Path of the policy for files in a folder that no cluster is known to apply; empty: there is none.

    It is the nearest one, except bases that are not clusters, and policies that state what they apply to:
    these have only what they generate.
    """
    found = nearest_policy(folder)
    while found and not (is_cluster(found) and (not has_applies(found) or _generates_into(found, folder))):
        here = os.path.dirname(found)
        found = "" if here == repository_root(here) else nearest_policy(os.path.dirname(here))
    return found


def _generates_into(policy: str, folder: str) -> bool:
    """Whether a folder below a policy is its `generate.out`, or in it."""
    out = _output_settings(policy).out
    if not out:
        return False
    place = os.path.normpath(os.path.join(os.path.abspath(os.path.dirname(policy)), out))
    return is_within(os.path.abspath(folder), place)


def has_applies(path: str) -> bool:
    """Whether a policy, or one that it extends, has `applies`."""
    return not path.startswith(_PROFILE) and _output_settings(path).applies


@cached
def is_cluster(path: str) -> bool:
    """Whether a policy is for a cluster: no other extends it, or it states what it writes or applies."""
    file = os.path.abspath(path)
    root = repository_root(os.path.dirname(file))
    return not root or file not in extended_files(root) or _output_settings(path).is_cluster


@cached
def extended_files(root: str) -> frozenset[str]:
    """Absolute paths of the files that policies of a repository extend."""
    return frozenset(base for path in policy_files(root) for base in _output_settings(path).bases)


def name_of(path: str) -> str:
    """The name of a policy's cluster; empty: it states none."""
    return _output_settings(path).name


def metadata_of(path: str) -> tuple[str, dict[str, str], dict[str, str]]:
    """Name, labels and annotations of a policy's cluster, without values that are not texts."""
    from policykit.policy.tree import find, plain

    tree, _ = policy_tree(path)
    found = []
    for field in ("labels", "annotations"):
        stated = find(tree, ("metadata", field)) if tree else None
        data = plain(stated) if stated else {}
        items = data.items() if isinstance(data, dict) else ()
        found.append({key: value for key, value in items if isinstance(value, str)})
    return name_of(path), found[0], found[1]


def shown_as(reference: str) -> str:
    """The path shown to users and in findings: the shorter of the relative and the absolute path."""
    if reference.startswith(_PROFILE):
        return reference
    return min(os.path.relpath(reference), os.path.abspath(reference), key=len)


def applied_folders(tree: SourcedValue | None) -> tuple[str, ...]:
    """Path of the folders that a policy says its cluster applies: `applies` is their list, or has it."""
    from policykit.policy.tree import find

    stated = find(tree, ("applies",)) if tree else None
    return ("applies", "folders") if stated and isinstance(stated.value, dict) else ("applies",)


def argocd_of(path: str) -> tuple[str, str]:
    """Name and server of a policy's cluster in Argo CD; empty: it states none."""
    tree, _ = policy_tree(path)
    return _text(tree, "applies", "argocd", "name"), _text(tree, "applies", "argocd", "server")


@cached
def stated_repositories(root: str) -> frozenset[str]:
    """URLs that the policies of a repository say are its own."""
    from policykit.policy.tree import find

    trees = (policy_tree(path)[0] for path in policies_above((root,)))
    stated = (find(tree, ("applies", "repositories")) for tree in trees if tree)
    lists = (found.value for found in stated if found and isinstance(found.value, list))
    return frozenset(each.value for entries in lists for each in entries if isinstance(each.value, str))


def reader(policy: str) -> Callable[[str], bytes]:
    """Reads a policy and the files it names, within the boundary of that policy."""

    def reading(path: str) -> bytes:
        return read(path, "" if path == policy else policy, SMALL)

    return reading


class OutputSettings(NamedTuple):
    """Name, output folder and bases of a policy file."""

    name: str
    out: str
    """`generate.out`, relative to the policy; empty: not given."""
    bases: tuple[str, ...] = ()
    """Absolute paths of the files it extends."""
    applies: bool = False
    """Whether it, or a policy it extends, states what its cluster applies."""
    is_cluster: bool = False
    """Whether it is for a cluster even if others extend it: its own file has `applies` or `generate.out`."""


@cached
def policy_files(root: str) -> tuple[str, ...]:
    """Every policykit.yaml of a repository, or of a folder in it, in a stable order."""
    paths = (path for path in repository_files(root) if path.endswith(FILE_NAME))
    return tuple(path for path in paths if os.path.basename(path) == FILE_NAME)


def output_folders(reference: str, folder: str) -> dict[str, str]:
    """Real folder to the policy that writes there, except this policy to this folder.

    `reference`: the policy to generate from, a file or profile:NAME. Policies are the files called
    policykit.yaml in its repository (for a profile, in that of the folder), and the policy itself.
    """
    found: dict[str, str] = {}
    for path in dict.fromkeys((*_neighbours(reference, folder), reference)):
        out = "" if path.startswith(_PROFILE) else _output_settings(path).out.replace("\0", "")
        target = filesystem.realpath(os.path.join(os.path.dirname(path), out))
        if out and not (target == filesystem.realpath(folder) and _same(path, reference)):
            found.setdefault(target, path)
    return found


def policy_names(reference: str, folder: str) -> frozenset[str]:
    """Names of all policies of the repository."""
    root = _root(reference, folder)
    files = [path for path in walk(root) if path.endswith(SUFFIXES)] if root else []
    return frozenset(_output_settings(path).name for path in files if _MARK in _content(path))


def is_extended(path: str) -> bool:
    """Whether another policykit.yaml of the repository extends the policy of that path."""
    file = os.path.abspath(path)
    root = repository_root(os.path.dirname(file))
    return any(file in _output_settings(other).bases for other in (policy_files(root) if root else ()))


def bases_of(path: str) -> tuple[str, ...]:
    """Absolute paths of the files that a policy extends, even if it or they contain mistakes."""
    return _output_settings(path).bases


def _neighbours(reference: str, folder: str) -> tuple[str, ...]:
    root = _root(reference, folder)
    return policy_files(root) if root else ()


def _root(reference: str, folder: str) -> str | None:
    start = folder if reference.startswith(_PROFILE) else os.path.dirname(reference)
    return repository_root(os.path.abspath(start))


def _same(path: str, reference: str) -> bool:
    return not reference.startswith(_PROFILE) and filesystem.realpath(path) == filesystem.realpath(reference)


@cached
def _output_settings(path: str) -> OutputSettings:
    """The settings of a policy file; empty: it cannot be read, which is reported when it is used."""
    from policykit.policy.tree import find

    tree, names = policy_tree(path)
    bases = tuple(os.path.abspath(name) for name in names[1:] if not name.startswith(_PROFILE))
    applies = tree is not None and find(tree, applied_folders(tree)) is not None
    own = [stated for field in _OF_CLUSTERS if (stated := find(tree, field))] if tree else []
    is_cluster = any(each.source.name == path for each in own)
    name, out = _text(tree, "metadata", "name"), _text(tree, "generate", "out")
    return OutputSettings(name, out, bases, applies, is_cluster)


@cached
def policy_tree(path: str) -> tuple[SourcedValue | None, tuple[str, ...]]:
    """A policy merged with what it extends, and all files it was read from, itself first.

    None: the file cannot be read as a policy.
    """
    from policykit.policy.files import Files
    from policykit.policy.problems import Problems

    files = Files(reader(path), Problems())
    try:
        tree = files.resolve(path)
    except SourceError:
        tree = None
    return tree, tuple(files.names)


def _text(tree: SourcedValue | None, *path: str) -> str:
    from policykit.policy.tree import find

    found = find(tree, path) if tree else None
    return found.value if found and isinstance(found.value, str) else ""


def _content(path: str) -> bytes:
    try:
        return read(path)
    except SourceError:
        return b""


def policies_above(folders: Iterable[str]) -> list[str]:
    """Absolute paths of the policies of clusters in the repositories of folders."""
    roots = dict.fromkeys(root for root in map(repository_root, folders) if root)
    found = dict.fromkeys(os.path.abspath(path) for root in roots for path in policy_files(root))
    return [path for path in found if is_cluster(path)]


def compiled_policy(reference: str, cache: Cache) -> CompiledPolicy:
    """The policy of a file or `profile:NAME`. Raises PolicyError and SourceError."""
    bundled = reference.startswith("profile:")
    # The same name may be another file in another folder.
    settled = reference if bundled else os.path.abspath(reference)
    return (_bundled if bundled and not cache.folder else _written)(settled, cache)


def cluster_of(reference: str, cache: Cache) -> Cluster:
    """The cluster that a policy describes. Raises PolicyError and SourceError."""
    return compiled_policy(reference, cache).cluster


@cached
def _written(reference: str, cache: Cache) -> CompiledPolicy:
    return _compiled(reference, cache)


@once
def _bundled(reference: str, cache: Cache) -> CompiledPolicy:
    """What ships with policykit stays as it is."""
    return _compiled(reference, cache)


def _compiled(reference: str, cache: Cache) -> CompiledPolicy:
    from policykit.workspace.cache.policies import compiled

    name = shown_as(reference)
    return compiled(cache, name, reader(name), _compile)


def _compile(name: str, read: Reader) -> CompiledPolicy:
    from policykit.policy.load import load
    from policykit.workspace.cache.policies import CompiledPolicy

    loaded = load(name, read)
    return CompiledPolicy(loaded.cluster, loaded.files, tuple(map(str, loaded.notices)))


class BrokenPolicies:
    """Collects the mistakes of several policies."""

    def __init__(self) -> None:
        self._found: dict[str, dict[str, None]] = {}
        """Names of clusters by the text of a mistake."""
        self._elsewhere: set[str] = set()
        """Mistakes in a file that the policy extends."""

    def add(self, policy: str, error: PolicyError) -> None:
        """The mistakes of a policy, and of what it extends."""
        for problem in error.problems:
            text = str(problem)
            self._found.setdefault(text, {})[name_of(policy) or shown_as(policy)] = None
            if problem.place.rsplit(":", 2)[0] != shown_as(policy):
                self._elsewhere.add(text)

    def lines(self) -> list[str]:
        """Each mistake once."""
        return [
            f"{text}\n  breaks: {listed([*clusters], len(clusters))}" if text in self._elsewhere else text
            for text, clusters in self._found.items()
        ]
