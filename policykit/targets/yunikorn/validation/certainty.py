"""Which problems are certain in a file of which YuniKorn does not decode a part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.targets.yunikorn.validation.problem import KINDS, Dependence


class Undecoded(NamedTuple):
    """The parts that do not decode: a file may have thousands of them, and of other problems."""

    paths: frozenset[Path]
    maps: frozenset[Path]
    """What holds them: a map, or a list with an item."""
    around: frozenset[Path]
    """The maps and all above them."""
    partitions: frozenset[Path]
    everywhere: bool
    """A part of no single partition is among them."""

    @classmethod
    def of(cls, problems: Iterable[Problem]) -> Undecoded:
        paths = frozenset(each.path for each in problems)
        maps = frozenset(map(_map_of, paths))
        around = frozenset(path[:length] for path in maps for length in range(len(path) + 1))
        partitions = frozenset(path[:2] for path in paths)
        return cls(paths, maps, around, partitions, any(len(path) < 2 for path in paths))

    def may_undo(self, path: Path, dependence: Dependence, data: object = None) -> bool:
        """Whether a problem at a path of `data` may go away once these parts are corrected."""
        if any(path[:length] in self.paths for length in range(len(path) + 1)):
            return True
        if dependence is Dependence.VALUE:
            return False
        if dependence is Dependence.NAME:
            return path[:-1] in self.maps and lookup(data, path) is None
        if dependence is Dependence.SIBLINGS:
            return path in self.maps or path[:-1] in self.maps
        if dependence is Dependence.CHILDREN:
            return path[: path.index("resources")] in self.around
        return self.everywhere or path[:2] in self.partitions


def certain(problems: Iterable[Problem], undecoded: Undecoded, data: object = None) -> Iterator[Problem]:
    """The problems that stay however the undecoded parts of `data` are corrected."""
    for each in problems:
        if not undecoded.may_undo(each.path, KINDS[each.kind].depends_on, data):
            yield each


def _map_of(path: Path) -> Path:
    """The map that holds a key, or a list with an item."""
    while path and isinstance(path[-1], int):
        path = path[:-1]
    return path[:-1]
