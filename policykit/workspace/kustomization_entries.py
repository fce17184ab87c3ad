"""Entries of kustomizations: why one leads nowhere, and which strings may be paths."""

from __future__ import annotations

import os
import re
from typing import Any

from policykit.errors import SourceError
from policykit.linter.not_judged import BUILD_FAILED, GENERATED, REMOTE, UNKNOWN_VARIABLE
from policykit.manifests.document import words_of
from policykit.manifests.parser import parse
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping
from policykit.namedtuple import NamedTuple
from policykit.workspace.command_state import cached
from policykit.workspace.files import is_fetched, is_ignored, read, script_of
from policykit.workspace.safe_paths import LARGE, SMALL

GROUP = "kustomize.config.k8s.io/"
_BUILTIN = "builtin"
"""apiVersion of generators, transformers and validators of kustomize; others are programs or functions."""
_TEMPLATES = frozenset({"template", "templates", "skeleton"})
"""Names of folders whose files are copied to where they belong."""
_HOST = re.compile(r"[\w-]+(\.[\w-]+)+(:\d+)?/")
"""`github.com/`: the host of a remote repository."""


class Entry(NamedTuple):
    """An entry of a kustomization."""

    file: str
    """The kustomization, links resolved."""
    at: Path
    text: str


class NotHereError(Exception):
    """A kustomization cannot be built from the files on this machine, or not at all."""

    def __init__(self, why: str, reason: str, wrong: Entry | None = None) -> None:
        """`reason`: its name in `policykit.linter.not_judged`; `wrong`: the entry with the mistake if the
        kustomization cannot be built anywhere."""
        super().__init__(why)
        self.reason = reason
        self.wrong = wrong


def text_of(file: str, most: int = LARGE) -> str:
    """The text of a file; empty: it cannot be read."""
    try:
        return read(file, most=most).decode("utf-8", errors="replace")
    except SourceError:
        return ""


@cached
def first_document(file: str) -> dict[str, Any]:
    """The first document of a file that is not empty; empty: it is not a map, or cannot be read."""
    text = text_of(file, SMALL) if file else ""
    root = next((parsed.root for parsed in parse(text) if parsed.root), None)
    return root.data if root and isinstance(root.data, dict) else {}


def about_plugins(text: str) -> tuple[str, set[str]]:
    """The kind of a plugin in a text that is not kustomize's own, empty: there is none; and all strings."""
    roots = [parsed.root for parsed in parse(text) if parsed.root]
    kinds = [
        data["kind"]
        for data in (mapping(root.data) for root in roots)
        if isinstance(data.get("kind"), str)
        and isinstance(version := data.get("apiVersion"), str)
        and version != _BUILTIN
        and not version.startswith(GROUP)
    ]
    return next(iter(kinds), ""), {word for root in roots for word in words_of(root.data).texts}


def absence(path: str, folder: str, root: str) -> tuple[str, str]:
    """Why there is nothing at the path that an entry in a folder of a repository names, and the reason by its
    name."""
    if "\0" in path:
        return "does not exist", BUILD_FAILED
    if is_remote(path):
        return "is not on this machine", REMOTE
    if "${" in path or "{{" in path:
        return "has a variable", UNKNOWN_VARIABLE
    if not _TEMPLATES.isdisjoint(os.path.relpath(folder, root).split(os.sep)):
        return "does not exist yet: the folder is a template, and is copied before it is built", GENERATED
    if is_ignored(os.path.join(folder, path)):
        return "does not exist yet: .gitignore keeps it out of the repository", GENERATED
    if is_fetched(os.path.join(folder, path)):
        return "does not exist yet: something has to fetch or generate its folder", GENERATED
    if script := script_of(os.path.join(folder, path)):
        return f"does not exist yet: {script} names it", GENERATED
    return "does not exist", BUILD_FAILED


def is_remote(path: str) -> bool:
    """Whether an entry that does not exist may be remote: a URL, or `host.example/owner`."""
    return any(mark in path for mark in ("://", "//", "@", "?ref=", ".git")) or bool(_HOST.match(path))
