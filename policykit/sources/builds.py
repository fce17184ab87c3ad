"""Builds of earlier runs: taken again while every file they were made of is as it was."""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import blake2b
from zlib import crc32

from policykit.errors import SourceError
from policykit.linter.built.tree import Tree
from policykit.pickles import DAMAGED, frozen, thawed
from policykit.sources import cache
from policykit.sources.files import read
from policykit.sources.kustomizations import files_of
from policykit.sources.kustomize import Build, Root, build


def builds(program: str, trees: Sequence[Tree]) -> list[Build]:
    """What kustomizations come to, in their order; those that changed are built."""
    keys = [_key(program, tree) if cache.is_on() else b"" for tree in trees]
    known = _known() if any(keys) else {}
    found = {key: Build(*known[key]) for key in keys if key in known}
    missing = [number for number, key in enumerate(keys) if key not in found]
    made = build(program, [_root(trees[number]) for number in missing])
    fresh = dict(zip(missing, made, strict=True))
    done = [fresh[number] if number in fresh else found[key] for number, key in enumerate(keys)]
    kept = {key: tuple(each) for key, each in zip(keys, done, strict=True) if key and not each.failure}
    if kept.keys() - known.keys():
        cache.store(_entry(), frozen(kept))
    return done


def _root(tree: Tree) -> Root:
    return Root(os.path.dirname(tree.file), tree.order)


def _key(program: str, tree: Tree) -> bytes:
    """What tells this build from others; empty: it cannot be told."""
    files = files_of(tree)
    state = os.stat(program)
    about = (program, state.st_mtime_ns, state.st_size, os.path.realpath(tree.file), cache.tool())
    digest = blake2b(repr(about).encode(), digest_size=20)
    try:
        for file in files:
            raw = read(file)
            digest.update(f"{file}\0{len(raw)}\0".encode("utf-8", errors="surrogateescape"))
            digest.update(raw)
    except SourceError:
        return b""  # a folder of generators, for one
    return digest.digest()


def _known() -> dict[bytes, tuple[bytes, str, str]]:
    raw = cache.load(_entry())
    try:
        found = thawed(raw) if raw else {}
    except DAMAGED:
        return {}
    sound = isinstance(found, dict) and all(isinstance(k, bytes) and _is_build(v) for k, v in found.items())
    return found if sound else {}


def _is_build(value: object) -> bool:
    return isinstance(value, tuple) and list(map(type, value)) == [bytes, str, str]


def _entry() -> str:
    """One store for each folder that is worked in."""
    here = os.getcwd().encode("utf-8", errors="surrogateescape")
    return f"builds-{crc32(here):08x}-{len(here)}"
