"""Loads a policy file, a bundled profile or text into a Cluster."""

from __future__ import annotations

from collections.abc import Callable

from policykit.errors import PolicykitError, SourceError
from policykit.model.cluster import Cluster
from policykit.namedtuple import NamedTuple
from policykit.policy.compile.cluster import compile_policy
from policykit.policy.files import PROFILE, Files, Reader
from policykit.policy.locations import merged_files
from policykit.policy.problems import Problems
from policykit.policy.tree import SourcedValue, plain
from policykit.policy.validation import read_policy


class LoadedPolicy(NamedTuple):
    """A policy read and compiled."""

    cluster: Cluster
    files: tuple[str, ...]
    """Every file and profile:NAME it was read from, itself first: the key of a cache entry."""
    notices: tuple[PolicykitError, ...] = ()
    """Warnings, with their locations."""


def load(path: str, read: Reader) -> LoadedPolicy:
    """The policy at a path, or profile:NAME; `read` gives the bytes of a file by its path.

    Raises SourceError if the file cannot be read, PolicyError with every mistake in it
    and in what it extends.
    """
    return _load(path, lambda files: files.resolve(path), read)


def load_profile(name: str) -> LoadedPolicy:
    """A bundled policy, such as hybrid-volcano. Raises SourceError if there is none of that name."""
    return load(f"{PROFILE}{name}", _no_files)


def load_text(text: bytes, path: str, read: Reader) -> LoadedPolicy:
    """A policy given as text. `path` is shown in its errors, and `extends` is relative to it."""
    return _load(path, lambda files: files.text(path, text), read)


def _load(path: str, resolve: Callable[[Files], SourcedValue | None], read: Reader) -> LoadedPolicy:
    problems = Problems()
    files = Files(read, problems)
    tree = resolve(files)
    if tree is None:
        problems.raise_any()
        raise AssertionError("a file that is not a policy has been reported")
    problems.tree = tree
    policy = read_policy(plain(tree), problems)
    if not files.complete:
        # Without the missing base, anything it may define would be reported as missing.
        problems.raise_any()
    texts = _texts(tree, files, problems)
    cluster = compile_policy(policy, problems, tree, texts, path)
    problems.raise_any()
    return LoadedPolicy(cluster, tuple(files.names), problems.notices())


def _texts(tree: SourcedValue, files: Files, problems: Problems) -> dict[str, str]:
    """Text of the files that configurations are merged into, by their names in the policy."""
    found: dict[str, str] = {}
    for each in merged_files(tree):
        try:
            found[each.name] = files.read(each.path).decode()
        except SourceError as error:
            problems.error(each.option, f"{each.name}: {error.message}", error.hint)
        except UnicodeDecodeError:
            problems.error(each.option, f"{each.name} is not UTF-8 text", "save it as UTF-8")
    return found


def _no_files(path: str) -> bytes:
    raise SourceError("a bundled profile cannot read files", "", path)
