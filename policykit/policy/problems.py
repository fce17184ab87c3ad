"""Every mistake of a policy, collected with its location, and the suggestions in messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from policykit.errors import PolicyError, PolicykitError
from policykit.manifests.node import node_at
from policykit.manifests.path import Path, Step
from policykit.namedtuple import NamedTuple
from policykit.nearest import Names
from policykit.policy.tree import Position, SourcedValue, find, position

_LISTED = 8


class Candidates:
    """Valid names, prepared for many lookups."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = sorted(set(names))
        self._folded: dict[str, str] = {}
        for name in self._names:
            self._folded.setdefault(_fold(name), name)
        self._known = Names(self._folded)

    def nearest(self, word: str) -> str:
        """The name most similar to `word`; empty if none is near."""
        return self._folded.get(self._known.nearest(_fold(word)), "")

    def hint(self, word: str) -> str:
        """A hint: the nearest name, else all names if there are few."""
        near = self.nearest(word)
        if near:
            return f"did you mean {near}?"
        if not self._names or len(self._names) > _LISTED:
            return ""
        return f"known: {', '.join(self._names)}"


def nearest(word: str, candidates: Iterable[str]) -> str:
    """The same as the method of `Candidates`, for one lookup."""
    return Candidates(candidates).nearest(word)


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """The same as the method of `Candidates`, for one lookup."""
    return Candidates(candidates).hint(word)


def _fold(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def describe(value: object) -> str:
    """A value as messages name it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"the number {value}"
    if isinstance(value, str):
        return f"the string {value!r}" if value else "an empty string"
    return "a map" if isinstance(value, Mapping) else "a list"


def alternatives(words: Sequence[object]) -> str:
    """a, b or c."""
    names = [str(word) for word in words]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}" if names else ""


class Problem(NamedTuple):
    """A mistake or warning about a policy."""

    position: Position
    message: str
    hint: str = ""

    def error(self) -> PolicykitError:
        return PolicykitError(self.message, self.hint, str(self.position))


class Problems:
    """Errors make the policy unusable; notices are only shown.

    A problem at a path that already has an error, or above such a path, is taken to follow
    from it and is dropped.
    """

    def __init__(self, files: Sequence[str] = ()) -> None:
        self.files = list(files)
        """Names of the files in the order in which to show their errors."""
        self.tree: SourcedValue | None = None
        self._errors: list[Problem] = []
        self._notices: list[Problem] = []
        self._broken: set[Path] = set()
        self._above_broken: set[Path] = set()
        """Paths that lead to a broken one."""

    def at(self, place: Position, message: str, hint: str = "") -> None:
        """Adds an error at a known location."""
        self._errors.append(Problem(place, message, hint))

    def shape(self, path: Path, message: str, hint: str = "", *, key: bool = False) -> None:
        """Adds an error in the form of a value; later problems with that value are dropped."""
        self.at(self._place(path, key), message, hint)
        self._broken.add(path)
        self._above_broken.update(path[:end] for end in range(len(path)))

    def error(self, path: Sequence[Step], message: str, hint: str = "", *, key: bool = False) -> None:
        """Adds an error in the meaning of a value."""
        if not self._follows(tuple(path)):
            self.at(self._place(path, key), message, hint)

    def notice(self, path: Sequence[Step], message: str, hint: str = "", *, key: bool = False) -> None:
        """Adds a warning."""
        if not self._follows(tuple(path)):
            self._notices.append(Problem(self._place(path, key), message, hint))

    def written(self, path: Sequence[Step]) -> str:
        """The text of a plain value that is read as something else, such as 1.30; empty: there is none."""
        found = find(self.tree, path) if self.tree else None
        node = node_at(found.source.root, path) if found else None
        return node.written if node else ""

    def broken(self, path: Sequence[Step]) -> bool:
        """Whether the value at a path, or one that contains it, is malformed."""
        return not self._broken.isdisjoint(tuple(path[:end]) for end in range(len(path) + 1))

    def notices(self) -> tuple[PolicykitError, ...]:
        return tuple(problem.error() for problem in self._sorted(self._notices))

    def raise_any(self) -> None:
        """Raises PolicyError with all errors in reading order, if there are any."""
        if self._errors:
            raise PolicyError(tuple(problem.error() for problem in self._sorted(self._errors)))

    def _place(self, path: Sequence[Step], key: bool) -> Position:
        assert self.tree is not None
        return position(self.tree, path, key=key)

    def _follows(self, path: Path) -> bool:
        return path in self._above_broken or self.broken(path)

    def _sorted(self, problems: Iterable[Problem]) -> list[Problem]:
        rank = {name: number for number, name in enumerate(self.files)}
        unique = dict.fromkeys(problems)
        return sorted(unique, key=lambda p: (rank.get(p.position.file, len(rank)), *p.position, p.message))
