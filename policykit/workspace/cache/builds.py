"""Cached kustomize builds, valid while all their input files are unchanged."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from hashlib import blake2b

from policykit.errors import SourceError
from policykit.linter.builds.kustomization import Kustomization
from policykit.namedtuple import NamedTuple
from policykit.workspace.cache.codec import decode, encode
from policykit.workspace.cache.folder import KEY, Cache, DamagedError, name_of, pack, unpack
from policykit.workspace.files import read
from policykit.workspace.kustomizations import files_of
from policykit.workspace.kustomize import Build, Root, build


class BuildRequest(NamedTuple):
    """A kustomization to build, and all files that kustomize reads for it."""

    root: Root
    tree: Kustomization


def root_of(tree: Kustomization) -> Root:
    """A kustomization as it is, with nothing added."""
    return Root(os.path.dirname(tree.file), tree.order)


def builds(
    program: str, wanted: Sequence[BuildRequest], cache: Cache, until: float = math.inf
) -> list[Build]:
    """The builds of kustomizations, in order. Only changed ones are built again, and equal ones once."""
    once = {repr(each.root): each for each in wanted}
    found = dict(zip(once, _builds(program, [*once.values()], cache, until), strict=True))
    return [found[repr(each.root)] for each in wanted]


def _builds(program: str, wanted: Sequence[BuildRequest], cache: Cache, until: float) -> list[Build]:
    keys = [_key(program, each) if cache.folder else b"" for each in wanted]
    entries = _entries(cache) if any(keys) else {}
    found = {key: known for key in keys if (known := _decoded(entries.get(key, b"")))}
    missing = [number for number, key in enumerate(keys) if key not in found]
    made = build(program, [wanted[number].root for number in missing], until)
    fresh = dict(zip(missing, made, strict=True))
    done = [fresh[number] if number in fresh else found[key] for number, key in enumerate(keys)]
    new = [(key, each) for key, each in zip(keys, done, strict=True) if key and not each.failure]
    if any(key not in found for key, _ in new):
        texts = encode(Build, [each for _, each in new])
        entries = {key: text for (key, _), text in zip(new, texts, strict=True)}
        cache.store(name_of("builds", *cache.apart, place=cache.place), pack(entries))
    return done


def _key(program: str, wanted: BuildRequest) -> bytes:
    """The cache key of a build; empty if it cannot be determined."""
    states = [(path, os.stat(path)) for path in (program, wanted.root.helm) if path]
    about = ([(path, it.st_mtime_ns, it.st_size) for path, it in states], tuple(wanted.root))
    digest = blake2b(repr(about).encode(), digest_size=KEY)
    try:
        for file in files_of(wanted.tree):
            raw = read(file)
            digest.update(f"{file}\0{len(raw)}\0".encode("utf-8", errors="surrogateescape"))
            digest.update(raw)
    except SourceError:
        return b""  # for example a folder of generators
    return digest.digest()


def _entries(cache: Cache) -> dict[bytes, bytes]:
    try:
        return unpack(cache.load(name_of("builds", *cache.apart, place=cache.place)))
    except DamagedError:
        return {}


def _decoded(entry: bytes) -> Build | None:
    """A cached build, which was successful; None: there is none."""
    try:
        (found,) = decode(Build, [entry] if entry else [])
    except ValueError:
        return None
    return None if found.failure else found
