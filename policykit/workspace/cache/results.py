"""Cached results of files, keyed by everything they depend on."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence

from policykit.linter.engine import FileResult, Job
from policykit.linter.finding import Finding, Resource
from policykit.linter.scope import (
    AnyFact,
    LocatedFact,
    StoredFacts,
    UnreadableText,
    decoded,
    may_have_findings,
    name_of_fact,
    objects_of,
)
from policykit.rules import CATALOGUE
from policykit.workspace.cache.codec import decode, encode
from policykit.workspace.cache.folder import LARGEST, Cache, DamagedError, name_of, pack, unpack
from policykit.workspace.cache.large_file_facts import PackedFacts, kind_of
from policykit.workspace.filesystem import digest

_MOST = LARGEST // 2
"""Most bytes of all entries; the least recently used are dropped first."""
_MAX_OF_ONE = 1 << 24
"""Most bytes of a stored result."""
_RULES = frozenset((entry.code, entry.name) for entry in CATALOGUE)


class Results:
    """The linter's ResultCache, over a file of the cache folder."""

    def __init__(self, known: Mapping[bytes, bytes]) -> None:
        """`known`: results of earlier runs by their keys."""
        self._known = known
        self._used: dict[bytes, bytes] = {}
        self._settings: dict[bytes, bytes] = {}
        self._stored: list[_EncodedFacts] = []
        self.new = 0
        """New results of this run."""

    def key(self, job: Job, fingerprint: bytes, raw: bytes, *, facts_only: bool) -> bytes:
        """The key of a file under a setting; `fingerprint` covers its policy and all else that rules see."""
        setting = self._settings.get(fingerprint)
        if setting is None:  # it may be long, and there are few settings
            setting = self._settings[fingerprint] = digest(fingerprint)
        where = (job.path, job.partial, job.namespace, job.only, job.components)
        about = (*where, job.literal, job.inlined, facts_only, job.fixes, job.today, job.plugins, setting)
        return digest(b"%b\0%b" % (repr(about).encode("utf-8", errors="surrogatepass"), raw))

    def find(self, key: bytes) -> bytes:
        """A result as bytes; empty if there is none."""
        return self._known.get(key, b"")

    def encode(self, results: Sequence[FileResult]) -> list[bytes]:
        """Results as bytes; empty for one that is too large or cannot be encoded."""
        fitting = [result for result in results if _least_size(result) <= _MAX_OF_ONE]
        if len(fitting) < len(results):
            found = iter(self.encode(fitting))
            return [next(found) if _least_size(each) <= _MAX_OF_ONE else b"" for each in results]
        try:
            entries = encode_results(results)
        except (RecursionError, TypeError, ValueError):
            if len(results) < 2:
                return [b""]
            return [entry for result in results for entry in self.encode([result])]
        return [entry if len(entry) <= _MAX_OF_ONE else b"" for entry in entries]

    def decode(self, entries: Sequence[bytes], paths: Sequence[str]) -> list[FileResult | None]:
        """Decodes results of the files with these reported paths; None for a damaged one."""
        different = [*dict.fromkeys(entries)]  # files that state nothing have equal results
        try:
            once = dict(zip(different, decode_results(different), strict=True))
            found = [once[entry] for entry in entries]
        except DamagedError:
            if len(entries) < 2:
                return [None]
            pairs = zip(entries, paths, strict=True)
            return [result for entry, path in pairs for result in self.decode([entry], [path])]
        return [result if _fits(result, path) else None for result, path in zip(found, paths, strict=True)]

    def facts(self, entry: bytes, path: str, again: Callable[[], Sequence[AnyFact]]) -> StoredFacts:
        """The facts of a result, decoded where needed; `again` gives them if they are damaged."""
        return _EncodedFacts(entry, path, again, self._stored)

    def keep(self, key: bytes, entry: bytes) -> None:
        """Stores a result for the next run."""
        self.new += key not in self._known
        self._used[key] = entry

    def clear(self) -> bool:
        """Drops all results of earlier runs; False if there were none."""
        had = bool(self._known)
        self._known, self._used, self.new = {}, {}, 0
        return had

    def entries(self) -> dict[bytes, bytes]:
        """The entries for the next run, most recently used last."""
        unused = {key: entry for key, entry in self._known.items() if key not in self._used}
        excess = sum(map(len, (*unused.values(), *self._used.values()))) - _MOST
        for key in list(unused):
            if excess <= 0:
                break
            excess -= len(unused.pop(key))
        return {**unused, **self._used}


def _least_size(result: FileResult) -> int:
    """Bytes that a result takes at least: to encode a large one would take much memory."""
    of_facts = sum(each.size for each in result.facts[:1] if isinstance(each, PackedFacts))
    return of_facts + sum(len(each.message) + len(each.help) + len(each.pointer) for each in result.findings)


class _EncodedFacts:
    """Facts of one file as bytes."""

    __slots__ = ("_again", "_batch", "_known", "parts", "path")

    def __init__(
        self, entry: bytes, path: str, again: Callable[[], Sequence[AnyFact]], batch: _Batch
    ) -> None:
        """`batch`: all that the run may ask."""
        self.parts = _parts(entry)[1]
        self.path = path
        self._again = again
        self._batch = batch
        self._known: dict[str, Sequence[AnyFact]] = {}
        batch.append(self)

    @property
    def names(self) -> Iterable[str]:
        return [name for name in self.parts if name != _OBJECTS]

    @property
    def may_have_findings(self) -> bool:
        return may_have_findings(decoded((self,)))

    def of(self, name: str) -> Sequence[AnyFact]:
        if name not in self._known:
            # Who asks one file for facts of a type asks the others too, and to decode all at once is faster.
            asked = [each for each in self._batch if name in each.parts and name not in each._known]
            try:
                found = decode(kind_of(name), [each.parts[name] for each in asked])
            except DamagedError:
                found = [self._alone(name)]
                asked = [self]
            for each, some in zip(asked, found, strict=True):
                each._known[name] = some if each._fits(some, name) else each._reread(name)
        return self._known[name]

    def objects(self) -> Iterable[Resource]:
        part = self.parts.get(_OBJECTS)
        try:
            return decode(_RESOURCES, [part])[0] if part else ()
        except DamagedError:
            return objects_of(self._again())

    def _fits(self, facts: Sequence[AnyFact], name: str) -> bool:
        return _are_of(facts, self.path) and all(name_of_fact(fact) == name for fact in facts)

    def _alone(self, name: str) -> tuple[AnyFact, ...]:
        try:
            return decode(kind_of(name), [self.parts[name]])[0]
        except DamagedError:
            return self._reread(name)

    def _reread(self, name: str) -> tuple[AnyFact, ...]:
        return tuple(fact for fact in self._again() if name_of_fact(fact) == name)


_Batch = list[_EncodedFacts]


_RESOURCES = tuple[Resource, ...]
_OBJECTS = "objects"
"""Name of the line that lists the objects with facts; the others are named as their facts."""


def encode_results(results: Sequence[FileResult]) -> list[bytes]:
    """Results as bytes: each without its facts, then a line for the facts of each type, and for the objects.

    JSON has no line break in it. Raises as `encode` does.
    """
    lines = [[row] for row in encode(FileResult, [each._replace(facts=()) for each in results])]
    by_name: dict[str, dict[int, list[AnyFact]]] = {}
    for number, result in enumerate(results):
        for fact in result.facts:
            if isinstance(fact, PackedFacts):
                lines[number] += [b"%b %b" % (name.encode(), row) for name, row in fact.encoded()]
            elif isinstance(fact, (LocatedFact, UnreadableText)):
                by_name.setdefault(name_of_fact(fact), {}).setdefault(number, []).append(fact)
    for name, found in by_name.items():
        for number, row in zip(found, encode(kind_of(name), map(tuple, found.values())), strict=True):
            lines[number].append(b"%b %b" % (name.encode(), row))
    objects = [tuple(dict.fromkeys(objects_of(each.facts))) for each in results]
    for number, row in enumerate(encode(_RESOURCES, objects)):
        if objects[number]:
            lines[number].append(b"%b %b" % (_OBJECTS.encode(), row))
    return [b"\n".join(each) for each in lines]


def decode_results(entries: Sequence[bytes]) -> list[FileResult]:
    """Results from bytes. Raises DamagedError."""
    split = [_parts(entry) for entry in entries]
    facts: list[list[AnyFact]] = [[] for _ in entries]
    by_name: dict[str, dict[int, bytes]] = {}
    for number, (_, parts) in enumerate(split):
        for name, part in parts.items():
            by_name.setdefault(name, {})[number] = part
    by_name.pop(_OBJECTS, None)
    for name, found in by_name.items():
        for number, some in zip(found, decode(kind_of(name), found.values()), strict=True):
            facts[number].extend(some)
    results = decode(FileResult, [row for row, _ in split])
    return [
        each._replace(facts=tuple(own)) if own else each for each, own in zip(results, facts, strict=True)
    ]


def _parts(entry: bytes) -> tuple[bytes, dict[str, bytes]]:
    """The line of a result, and the others by their names."""
    row, *lines = entry.split(b"\n")
    found = {}
    for line in lines:
        name, _, part = line.partition(b" ")
        found[name.decode("ascii", errors="replace")] = part
    return row, found


def load_results(cache: Cache) -> Results:
    """The results of earlier runs in this folder."""
    try:
        return Results(unpack(cache.load(name_of("results", place=cache.place))))
    except DamagedError:
        return Results({})


def store_results(cache: Cache, results: Results) -> None:
    """Stores new results for the next run."""
    if results.new:
        cache.store(name_of("results", place=cache.place), pack(results.entries()))


def _fits(result: FileResult, path: str) -> bool:
    """Whether a result can belong to the file. Timed runs store nothing."""
    return not result.times and sound(result.findings, (path,)) and _are_of(result.facts, path)


def _are_of(facts: Iterable[AnyFact | StoredFacts], path: str) -> bool:
    """Whether facts can be those of a file."""
    return all(fact.path == path for fact in facts if isinstance(fact, LocatedFact))


def sound(findings: Iterable[Finding], paths: Container[str]) -> bool:
    """Whether all findings are of existing rules, in files with these reported paths."""
    return all(finding.path in paths and (finding.code, finding.name) in _RULES for finding in findings)
