"""Compiled policies of earlier runs: taken again while every file they were made of is as it was."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from policykit.errors import SourceError
from policykit.sources import cache

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

Reader = Callable[[str], bytes]
_PROFILE = "profile:"


class Policy(NamedTuple):
    """A policy as it was compiled."""

    cluster: Cluster
    files: tuple[str, ...]
    """Every file and profile:NAME it was made of, itself first."""
    notices: tuple[str, ...] = ()


def policy(name: str, read: Reader) -> Policy | None:
    """The policy of a file or profile:NAME, as it is named; None: it must be compiled."""
    raw = cache.load(cache.name_of("policy", name))
    if not raw:
        return None
    from policykit.pickles import DAMAGED, thawed

    try:
        tool, folder, texts, found = thawed(raw)
        whole = isinstance(found, Policy) and isinstance(texts, dict)
    except DAMAGED:
        return None
    if not whole or tool != cache.tool() or folder != os.getcwd():
        return None
    return found if texts == _texts(found.files, read) and found.files[0] == name else None


def keep(name: str, found: Policy, read: Reader) -> None:
    """Leaves a policy to the next run."""
    if cache.is_on():
        from policykit.pickles import frozen

        texts = _texts(found.files, read)
        if texts is not None:
            cache.store(cache.name_of("policy", name), frozen((cache.tool(), os.getcwd(), texts, found)))


def mark(files: tuple[str, ...], read: Reader) -> bytes | None:
    """What tells a policy from others: the bytes of its files; None: one cannot be read."""
    texts = _texts(files, read)
    return None if texts is None else repr(sorted(texts.items())).encode()


def _texts(files: tuple[str, ...], read: Reader) -> dict[str, bytes] | None:
    """Bytes of the files; bundled profiles are policykit's own and change with it."""
    try:
        return {file: b"" if file.startswith(_PROFILE) else read(file) for file in files}
    except SourceError:
        return None
