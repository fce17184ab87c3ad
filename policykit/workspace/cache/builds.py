"""Cached kustomize builds, valid while all their input files are unchanged."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from hashlib import blake2b

from policykit.errors import SourceError
from policykit.linter.input_file import Kustomization
from policykit.namedtuple import NamedTuple
from policykit.workspace import filesystem
from policykit.workspace.cache.codec import decode, encode
from policykit.workspace.cache.folder import KEY, Cache, DamagedError, name_of, pack, unpack
from policykit.workspace.command_state import builds_in_command
from policykit.workspace.files import read
from policykit.workspace.kustomizations import files_of
from policykit.workspace.kustomize import Build, Root, build

_MOST = 1 << 26
"""Bytes of builds that are kept for the next runs."""


class BuildRequest(NamedTuple):
    """A kustomization to build, and all files that kustomize reads for it."""

    root: Root
    tree: Kustomization


def root_of(tree: Kustomization) -> Root:
    """A kustomization as it is, with nothing added."""
    return Root(os.path.dirname(tree.file), tree.order)


def builds_of_command(program: str, wanted: Sequence[BuildRequest]) -> list[Build]:
    """The builds that tell what clusters apply; each is kept for the run that judges it."""
    command = builds_in_command()
    missing = {repr(each.root): each for each in wanted if repr(each.root) not in command.made}
    begun = [*missing][: command.left]
    command.left -= len(begun)
    made = builds(program, [missing[root] for root in begun], command.cache, command.until)
    command.made |= dict(zip(begun, made, strict=True))
    return [command.made.get(repr(each.root), Build()) for each in wanted]


def builds(
    program: str, wanted: Sequence[BuildRequest], cache: Cache, until: float = math.inf
) -> list[Build]:
    """The builds of kustomizations, in order. Only changed ones are built again, and equal ones once."""
    once = {repr(each.root): each for each in wanted}
    found = {root: made for root, made in builds_in_command().made.items() if root in once}
    missing = [each for root, each in once.items() if root not in found]
    made = _builds(program, missing, cache, until)
    found |= {repr(each.root): one for each, one in zip(missing, made, strict=True)}
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
        fresh_entries = {key: text for (key, _), text in zip(new, texts, strict=True)}
        entries = {key: text for key, text in entries.items() if key not in fresh_entries} | fresh_entries
        cache.store(name_of("builds", *cache.apart, place=cache.place), pack(_newest(entries)))
    if any(not key or each.failure for key, each in zip(keys, done, strict=True)):
        filesystem.cannot_repeat()  # what it depends on is not known, or it took too long
    return done


def _newest(entries: dict[bytes, bytes]) -> dict[bytes, bytes]:
    """As many entries as are kept: a run on one file leaves those of the others."""
    size = sum(map(len, entries.values()))
    for key in [*entries]:
        if size <= _MOST:
            break
        size -= len(entries.pop(key))
    return entries


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
