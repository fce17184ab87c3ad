"""Cached compiled policies, valid while all their files are unchanged."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from policykit.errors import SourceError
from policykit.model.cluster import Cluster, TargetSettings
from policykit.namedtuple import NamedTuple
from policykit.workspace.cache.codec import decode, encode, options_type
from policykit.workspace.cache.folder import Cache, DamagedError, name_of

Reader = Callable[[str], bytes]
_PROFILE = "profile:"
_WORDS = (b"extends", b"generate", b"crds", b"config")
"""Keys of a policy that name files. A text without them is not parsed."""
_MOST = 1 << 24
"""Most bytes of a stored policy."""


class CompiledPolicy(NamedTuple):
    """A compiled policy."""

    cluster: Cluster
    files: tuple[str, ...]
    """Every file and profile:NAME it was read from, itself first."""
    notices: tuple[str, ...] = ()


class _Entry(NamedTuple):
    name: str
    texts: Mapping[str, bytes]
    """Bytes of the files."""
    policy: CompiledPolicy


def compiled(
    cache: Cache, name: str, read: Reader, compile_: Callable[[str, Reader], CompiledPolicy]
) -> CompiledPolicy:
    """The policy of a file or profile:NAME, cached or compiled. Raises as `compile_` does."""
    if not cache.folder:
        return compile_(name, read)
    found = _load(cache, name, read)
    if found is None:
        texts: dict[str, bytes] = {}
        found = compile_(name, _recording(read, texts))
        _store(cache, name, found, texts)
    return found


def fingerprint(files: tuple[str, ...], read: Reader) -> bytes | None:
    """The cache key of a policy, from the bytes of its files; None if one cannot be read."""
    try:
        texts = {file: read(file) for file in files if not file.startswith(_PROFILE)}
    except SourceError:
        return None
    return repr((files, sorted(texts.items()))).encode()


def _load(cache: Cache, name: str, read: Reader) -> CompiledPolicy | None:
    raw = cache.load(name_of("policy", name, *cache.apart, place=cache.place))
    if not raw or len(raw) > _MOST:
        return None
    texts: dict[str, bytes] = {}
    try:
        (entry,) = decode(_Entry, [raw])
        found = _as_named(entry.policy, name, _recording(read, texts))
    except (DamagedError, SourceError):
        return None
    same = entry.name == name and entry.texts == texts
    return found if same and _consistent(entry.policy.cluster) else None


def _store(cache: Cache, name: str, policy: CompiledPolicy, texts: Mapping[str, bytes]) -> None:
    """Stores a policy for the next run, unless the paths in it differ from those in its text."""
    again: dict[str, bytes] = {}
    try:
        if _as_named(policy, name, _recording(_recorded(texts), again)) != policy or again != texts:
            return
        (content,) = encode(_Entry, [_Entry(name, texts, policy)])
    except (RecursionError, SourceError, TypeError, ValueError):
        return  # it cannot be encoded, and is compiled again
    if len(content) <= _MOST:
        cache.store(name_of("policy", name, *cache.apart, place=cache.place), content)


def _as_named(policy: CompiledPolicy, name: str, read: Reader) -> CompiledPolicy | None:
    """The policy with the paths from its own text instead of those of the entry, because they are opened and
    written to. None if they cannot be determined.
    """
    cluster = policy.cluster
    if name.startswith(_PROFILE):
        lint = cluster.lint._replace(crds=())
        return policy._replace(files=(name,), cluster=cluster._replace(source=name, lint=lint))
    text = read(name)
    if any(word in text for word in _WORDS):
        from policykit.policy.locations import named_files

        named = named_files(name, read)
        if named is None:
            return None
        files, output, crds = named
    else:
        files, output, crds = (name,), "", ()
    lint = cluster.lint._replace(crds=crds)
    return policy._replace(files=files, cluster=cluster._replace(source=name, output=output, lint=lint))


def _recording(read: Reader, texts: dict[str, bytes]) -> Reader:
    def recording(path: str) -> bytes:
        if path not in texts:
            texts[path] = read(path)
        return texts[path]

    return recording


def _recorded(texts: Mapping[str, bytes]) -> Reader:
    def recorded(path: str) -> bytes:
        if path not in texts:
            raise SourceError("was not read before", "", path)
        return texts[path]

    return recorded


def _consistent(cluster: Cluster) -> bool:
    """Whether all referenced names exist, and the queue tree has no cycle."""
    tables = (cluster.cards, cluster.workloads, cluster.placements, cluster.targets)
    parents = {queue.name: queue.parent for queue in cluster.queues}
    return (
        all(name == each.name for table in tables for name, each in table.items())
        and all(map(_has_own_options, cluster.targets.values()))
        and {pool.card for pool in cluster.pools} <= {"", *cluster.cards}
        and {kind.placement_name for kind in cluster.workloads.values()} <= {"", *cluster.placements}
        and _ends(parents)
    )


def _has_own_options(settings: TargetSettings) -> bool:
    """Whether the options of a target have its type."""
    return settings.options is None or isinstance(settings.options, options_type(settings.name) or ())


def _ends(parents: Mapping[str, str]) -> bool:
    """Whether no parent chain forms a cycle."""
    ending: set[str] = set()
    for name in parents:
        way: dict[str, None] = {}
        while name in parents and name not in ending:
            if name in way:
                return False
            way[name] = None
            name = parents[name]
        ending.update(way)
    return True
