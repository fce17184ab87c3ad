"""Collects every mistake of a policy with its location, and drops those caused by another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from policykit.errors import PolicyError, PolicykitError
from policykit.manifests.node import node_at
from policykit.manifests.path import Path, Step
from policykit.namedtuple import NamedTuple
from policykit.policy.tree import Position, SourcedValue, find, position


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
