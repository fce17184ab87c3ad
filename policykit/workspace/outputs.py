"""Which policy of a repository writes to which folder: each needs a folder of its own."""

from __future__ import annotations

import os
from typing import NamedTuple

from policykit.errors import SourceError
from policykit.policy.files import PROFILE, Files
from policykit.policy.problems import Problems
from policykit.policy.tree import SourcedValue, find
from policykit.workspace.disk import cached
from policykit.workspace.files import SUFFIXES, read, repository_root, walk
from policykit.workspace.policies import FILE_NAME, reader

_MARK = b"policykit.io/"
"""Part of every policy's apiVersion."""


class OutputSettings(NamedTuple):
    """Name, output folder and bases of a policy file."""

    name: str
    out: str
    """`generate.out`, relative to the policy; empty: not given."""
    bases: tuple[str, ...] = ()
    """Absolute paths of the files it extends."""


def policies(root: str) -> list[str]:
    """Every policykit.yaml of a repository, in a stable order."""
    return [path for path in walk(root) if os.path.basename(path) == FILE_NAME]


def taken(reference: str, folder: str) -> dict[str, str]:
    """Real folder to the policy that writes there: everything but this policy to this folder.

    `reference` is the policy that is to be written, a file or profile:NAME. Policies are those
    of its repository (a profile's: of the folder) that are called policykit.yaml, and itself.
    """
    found: dict[str, str] = {}
    for path in dict.fromkeys((*_neighbours(reference, folder), reference)):
        out = "" if path.startswith(PROFILE) else _output_settings(path).out.replace("\0", "")
        target = os.path.realpath(os.path.join(os.path.dirname(path), out))
        if out and not (target == os.path.realpath(folder) and _same(path, reference)):
            found.setdefault(target, path)
    return found


def named(reference: str, folder: str) -> frozenset[str]:
    """Names of all policies of the repository, whatever their files are called."""
    root = _root(reference, folder)
    files = [path for path in walk(root) if path.endswith(SUFFIXES)] if root else []
    return frozenset(_output_settings(path).name for path in files if _MARK in _content(path))


def extended(path: str) -> bool:
    """Whether another policykit.yaml of the repository extends the policy of that path."""
    file = os.path.abspath(path)
    root = repository_root(os.path.dirname(file))
    return any(file in _output_settings(other).bases for other in (policies(root) if root else ()))


def bases(path: str) -> tuple[str, ...]:
    """Absolute paths of the files that a policy extends, whatever mistakes stand in it or them."""
    return _output_settings(path).bases


def _neighbours(reference: str, folder: str) -> list[str]:
    root = _root(reference, folder)
    return policies(root) if root else []


def _root(reference: str, folder: str) -> str | None:
    start = folder if reference.startswith(PROFILE) else os.path.dirname(reference)
    return repository_root(os.path.abspath(start))


def _same(path: str, reference: str) -> bool:
    return not reference.startswith(PROFILE) and os.path.realpath(path) == os.path.realpath(reference)


@cached
def _output_settings(path: str) -> OutputSettings:
    """Empty where the file cannot be read as a policy. Its mistakes are told when its turn comes."""
    files = Files(reader(path), Problems())
    try:
        tree = files.resolve(path)
    except SourceError:
        tree = None
    bases = tuple(os.path.abspath(name) for name in files.names[1:] if not name.startswith(PROFILE))
    return OutputSettings(_text(tree, "metadata", "name"), _text(tree, "generate", "out"), bases)


def _text(tree: SourcedValue | None, *path: str) -> str:
    found = find(tree, path) if tree else None
    return found.value if found and isinstance(found.value, str) else ""


def _content(path: str) -> bytes:
    try:
        return read(path)
    except SourceError:
        return b""
