"""Kept runs in the cache: valid while all that they asked has the same answers, but for what was linted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from policykit.linter.baseline import Key
from policykit.linter.kept_run import Kept, KeptRun, KeptSubject
from policykit.namedtuple import NamedTuple
from policykit.workspace import filesystem
from policykit.workspace.cache.codec import decode, encode
from policykit.workspace.cache.folder import KEY, Cache, DamagedError, name_of, pack, unpack
from policykit.workspace.cache.runs import again

_HEAD = bytes(KEY)
"""Key of the entry with everything but the findings."""


class KeptNotes(NamedTuple):
    """What is reported besides findings."""

    elsewhere: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    excludes: bool = False
    policy_notices: tuple[str, ...] = ()
    since: tuple[str, ...] = ()


class RunQuestions(NamedTuple):
    """What a run asked, and the answers."""

    revision: bytes
    """Which commit it was compared with, as `git.state_of` tells it."""
    questions: tuple[str, ...]
    answers: bytes
    """A digest of all answers."""
    places: tuple[str, ...]
    """Real paths of the files of the run; empty: its contents are among the questions."""
    contents: tuple[str, ...]
    """Answers to the questions for their contents."""

    def changed(self) -> list[int] | None:
        """The indices of the files of the run that have other contents now; None: something else is
        different. Raises ValueError for what is not a question."""
        if answers_of(map(again, self.questions)) != self.answers:
            return None
        pairs = zip(self.places, self.contents, strict=True)
        return [
            number
            for number, (path, content) in enumerate(pairs)
            if path and filesystem.again(f"c{path}") != content
        ]


class _Head(NamedTuple):
    run: KeptRun
    asked: RunQuestions
    notes: KeptNotes


class StoredRun:
    """A kept run from the cache, whose findings are decoded where they are needed."""

    def __init__(self, head: _Head, subjects: Mapping[bytes, bytes]) -> None:
        self.run, self.asked, self.notes = head
        self._subjects = subjects
        self._keys = tuple(subjects)

    def number(self, subject: Key) -> int:
        """The number of a subject; -1: there were no findings about it."""
        if self._numbers is None:
            self._numbers = {key: number for number, key in enumerate(self._keys)}
        return self._numbers.get(_digest(subject), -1)

    _numbers: dict[bytes, int] | None = None

    def subjects(self, numbers: Iterable[int]) -> Sequence[KeptSubject]:
        """The findings about subjects with these numbers. Raises DamagedError or IndexError."""
        return decode(KeptSubject, [self._subjects[self._keys[number]] for number in numbers])


def answers_of(answers: Iterable[str]) -> bytes:
    """A digest of answers."""
    return filesystem.digest("\0".join(answers).encode("utf-8", errors="surrogatepass"))


def load_run(cache: Cache, about: object) -> StoredRun | None:
    """The last run that was kept, if it was `about` the same; None: there is none that is usable."""
    raw = cache.load(name_of("kept"))
    if raw[:KEY] != _about(about):
        return None
    try:
        entries = unpack(raw[KEY:])
        (head,) = decode(_Head, [entries.pop(_HEAD)])
    except (DamagedError, KeyError):
        return None
    return StoredRun(head, entries)


def store_run(cache: Cache, about: object, kept: Kept, asked: RunQuestions, notes: KeptNotes) -> None:
    """Keeps a run in place of the last one."""
    subjects = map(_digest, kept.subjects)
    entries = {_HEAD: encode(_Head, [_Head(kept.run, asked, notes)])[0]}
    entries.update(zip(subjects, encode(KeptSubject, kept.subjects.values()), strict=True))
    if len(entries) == len(kept.subjects) + 1:
        cache.store(name_of("kept"), _about(about) + pack(entries))


def _about(about: object) -> bytes:
    return filesystem.digest(repr(about).encode("utf-8", errors="surrogatepass"))


def _digest(subject: Key) -> bytes:
    return filesystem.digest("\0".join(subject).encode("utf-8", errors="surrogatepass"))
