"""Cached results of files, keyed by everything they depend on."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence

from policykit.linter.engine import FileResult, Job
from policykit.linter.finding import Finding
from policykit.linter.scope import LocatedFact
from policykit.rules import CATALOGUE
from policykit.workspace.cache.codec import decode, encode
from policykit.workspace.cache.folder import LARGEST, Cache, DamagedError, name_of, pack, unpack
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
        self.new = 0
        """New results of this run."""

    def key(self, job: Job, fingerprint: bytes, raw: bytes, *, facts_only: bool) -> bytes:
        """The key of a file under a setting; `fingerprint` covers its policy and all else that rules see."""
        setting = self._settings.get(fingerprint)
        if setting is None:  # it may be long, and there are few settings
            setting = self._settings[fingerprint] = digest(fingerprint)
        where = (job.path, job.partial, job.namespace, job.only, job.components, job.literal)
        about = (*where, facts_only, job.fixes, job.today, job.plugins, setting)
        return digest(b"%b\0%b" % (repr(about).encode("utf-8", errors="surrogatepass"), raw))

    def find(self, key: bytes) -> bytes:
        """A result as bytes; empty if there is none."""
        return self._known.get(key, b"")

    def encode(self, results: Sequence[FileResult]) -> list[bytes]:
        """Results as bytes; empty for one that is too large or cannot be encoded."""
        try:
            entries = encode(FileResult, results)
        except (RecursionError, TypeError, ValueError):
            if len(results) < 2:
                return [b""]
            return [entry for result in results for entry in self.encode([result])]
        return [entry if len(entry) <= _MAX_OF_ONE else b"" for entry in entries]

    def decode(self, entries: Sequence[bytes], paths: Sequence[str]) -> list[FileResult | None]:
        """Decodes results of the files with these reported paths; None for a damaged one."""
        different = [*dict.fromkeys(entries)]  # files that state nothing have equal results
        try:
            once = dict(zip(different, decode(FileResult, different), strict=True))
            found = [once[entry] for entry in entries]
        except DamagedError:
            if len(entries) < 2:
                return [None]
            pairs = zip(entries, paths, strict=True)
            return [result for entry, path in pairs for result in self.decode([entry], [path])]
        return [result if _fits(result, path) else None for result, path in zip(found, paths, strict=True)]

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
    return (
        not result.times
        and sound(result.findings, (path,))
        and all(fact.path == path for fact in result.facts if isinstance(fact, LocatedFact))
    )


def sound(findings: Iterable[Finding], paths: Container[str]) -> bool:
    """Whether all findings are of existing rules, in files with these reported paths."""
    return all(finding.path in paths and (finding.code, finding.name) in _RULES for finding in findings)
