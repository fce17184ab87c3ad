"""The files that a policy names, read from its text without checking or compiling it."""

from __future__ import annotations

import posixpath
from typing import NamedTuple

from policykit.policy.files import Files, Reader, relative
from policykit.policy.problems import Problems
from policykit.policy.tree import Said, find, plain

CONFIG = ("targets", "koordinator", "config")
"""Path of the key that names the configuration to merge into."""


class NamedFiles(NamedTuple):
    """Paths named by a policy, as compiling it resolves them."""

    files: tuple[str, ...]
    """Every file and profile:NAME it is read from, itself first."""
    output: str = ""
    """Folder of `generate.out`."""
    crds: tuple[str, ...] = ()
    """Paths of `lint.crds`."""


def named_files(name: str, read: Reader) -> NamedFiles | None:
    """The files named by the policy at a path; None if its text or that of a base is invalid.

    Raises SourceError if a file cannot be read.
    """
    files = Files(read, Problems())
    tree = files.resolve(name)
    if tree is None or not files.complete:
        return None
    config = config_of(tree)
    if config:
        files.read(config)
    out, crds = _plain(tree, "generate", "out"), _plain(tree, "lint", "crds")
    if not (isinstance(out, str | None) and isinstance(crds, tuple | None)):
        return None
    return NamedFiles(tuple(files.names), posixpath.normpath(out) if out else "", crds or ())


def config_of(tree: Said) -> str:
    """Path of the file that Koordinator's configuration is merged into; empty if none is set."""
    stated = find(tree, CONFIG)
    if stated is None or not isinstance(stated.value, str) or not stated.value:
        return ""
    return relative(stated.source.name, stated.value)


def _plain(tree: Said, *path: str) -> object:
    found = find(tree, path)
    return None if found is None else plain(found)
