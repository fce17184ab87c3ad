"""Findings of revisions, valid while all that their runs asked about other files has the same answers."""

from __future__ import annotations

import os
from collections.abc import Mapping

from policykit.linter.baseline import Key
from policykit.namedtuple import NamedTuple
from policykit.workspace import filesystem
from policykit.workspace.cache.codec import decode, encode
from policykit.workspace.cache.folder import KEY, Cache, DamagedError, name_of
from policykit.workspace.cache.runs import OF_CONTENT, again, path_of
from policykit.workspace.safe_paths import is_within

JudgedFiles = tuple[Mapping[str, Mapping[str, str]], Mapping[str, frozenset[str]], frozenset[str], int]
"""Files with the policies that judge them and the cluster of each, clusters with their rules, built folders,
number of accepted findings."""


_VARIABLES = ("HOME", "PATH")
_BEGINNING = "POLICYKIT_"
"""Variables of the environment that findings depend on; those of git decide only which commit it is."""


class RevisionFindings(NamedTuple):
    """The findings of a revision; paths are relative to its root."""

    amounts: Mapping[tuple[Key, str], int] = {}
    """Number of each finding per file."""
    files: frozenset[str] = frozenset()
    """All files of the revision."""
    gone: frozenset[str] = frozenset()
    """Those that no longer exist."""
    notes: tuple[str, ...] = ()
    """Messages about what could not be judged."""
    judged: JudgedFiles = ({}, {}, frozenset(), 0)


class _Entry(NamedTuple):
    found: RevisionFindings
    answers: Mapping[str, str]
    """Questions of the run about files outside the revision, as `filesystem` asks them."""


class KnownRevision:
    """The findings of a revision in the cache, from the last run that judged it."""

    def __init__(self, cache: Cache, name: str, about: object) -> None:
        """`name`: which revisions replace each other; `about`: everything that findings depend on, besides
        the environment and files outside the revision."""
        self._cache = cache
        self._name = name_of("revision", name, place=cache.place)
        whole = repr((about, variables())).encode("utf-8", errors="surrogatepass")
        self._key = filesystem.digest(whole)
        self._answers: Mapping[str, str] | None = None

    def load(self) -> RevisionFindings | None:
        """The findings; None: they are not known, or something outside the revision has changed."""
        raw = self._cache.load(self._name)
        if raw[:KEY] != self._key:
            return None
        try:
            (entry,) = decode(_Entry, [raw[KEY:]])
            same = not _opening(entry.answers) and all(
                again(question) == answer for question, answer in entry.answers.items()
            )
        except (DamagedError, ValueError):
            return None
        self._answers = entry.answers
        return entry.found if same else None

    def store(self, found: RevisionFindings, record: filesystem.Record, folder: str) -> None:
        """Stores findings for the next run, unless they depend on contents outside the revision.

        `record`: what the run asked; `folder`: real path of the temporary folder in which it found the
        revision, and which still exists.
        """
        every = {_absolute(question): answer for question, answer in record.answers().items()}
        answers = {
            question: answer
            for question, answer in every.items()
            if not is_within(os.path.realpath(path_of(question)), folder)
        }
        if record.complete and not _opening(answers):
            self._answers = answers
            self._cache.store(self._name, self._key + encode(_Entry, [_Entry(found, answers)])[0])

    def note(self) -> None:
        """Notes in the open record what the findings that were loaded or stored depend on."""
        if self._answers is None:
            filesystem.cannot_repeat()
        found = filesystem.record()
        if found is not None and self._answers is not None:
            for question, answer in self._answers.items():
                found.note(question, answer)


def variables() -> list[tuple[str, str]]:
    """What findings depend on in the environment; variables of git decide only which commit it is."""
    return sorted(
        (name, value)
        for name, value in os.environ.items()
        if name in _VARIABLES or name.startswith(_BEGINNING)
    )


def _absolute(question: str) -> str:
    path = path_of(question)
    return f"{question.removesuffix(path)}{os.path.join(os.getcwd(), path)}"


def _opening(questions: Mapping[str, str]) -> bool:
    """Whether a question is one for which a file is opened, which the cache does not decide."""
    return any(question.startswith(OF_CONTENT) for question in questions)
