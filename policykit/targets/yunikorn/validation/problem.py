"""Kinds of validation problems, and which are certain in a file that decodes only in part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum, auto

from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.model.severity import Severity
from policykit.namedtuple import NamedTuple


class Dependence(Enum):
    """Other parts of the file that a problem depends on. If they do not decode, the problem is uncertain."""

    VALUE = auto()
    """Nothing else: the values at its path are wrong by themselves."""
    SIBLINGS = auto()
    """A key is missing, and an unknown key in the same map may be a misspelling of it."""
    NAME = auto()
    """A name is missing or wrong."""
    CHILDREN = auto()
    """Amounts of all queues below are added up."""
    PARTITION = auto()
    """Anything in the partition."""


class Kind(NamedTuple):
    help: str = ""
    """What to do, unless the problem has its own help."""
    depends_on: Dependence = Dependence.PARTITION
    compares_queues: bool = False
    """A placeholder in any queue may resolve it."""


_VALUE, _SIBLINGS, _NAME, _CHILDREN = (
    Dependence.VALUE,
    Dependence.SIBLINGS,
    Dependence.NAME,
    Dependence.CHILDREN,
)
_PARTITION = Dependence.PARTITION

KINDS: Mapping[str, Kind] = {
    "decoding": Kind("correct or delete it: the scheduler rejects the whole file"),
    "partition-name": Kind("rename one of the partitions, or merge them", _NAME),
    "no-queues": Kind("add queues; `queues: []` creates only a root", _SIBLINGS),
    "root-resources": Kind("delete it; set max on the queues below root, or use limits", _VALUE),
    "root-limits": Kind("keep the list in one place", _PARTITION, True),
    "acl": Kind("write `users groups`: names separated by commas, one space between the lists", _VALUE),
    "queue-name": Kind("rename the queue; dots separate the names of a path", _NAME),
    "queue-name-twice": Kind("merge them or rename one: names are not case-sensitive", _NAME),
    "limit-nobody": Kind("add users or groups, or delete the entry", _SIBLINGS),
    "limit-name": Kind("correct the name; `*` stands for everybody", _VALUE),
    "limit-twice": Kind("keep one entry for each name in the limits of a queue", _VALUE),
    "limit-order": Kind("move the entry with `*` after all named ones", _VALUE),
    "limit-group": Kind("add a limit for a named group before this one, or delete it"),
    "amount": Kind("write a whole number with at most one suffix", _VALUE),
    "limit-zero": Kind("set one resource above zero; others may be 0", _SIBLINGS),
    "limit-empty": Kind("set maxapplications or maxresources, or delete the entry", _SIBLINGS),
    "limit-applications": Kind("lower the limit, or raise maxapplications of the queue", _VALUE),
    "limit-max": Kind("lower the limit, or raise max of the queue", _VALUE),
    "limit-above": Kind("lower this limit, or raise the one above", _PARTITION, True),
    "limit-applications-above": Kind(
        "set maxapplications within that bound, even if maxresources is set", _PARTITION, True
    ),
    "max-guaranteed": Kind("lower guaranteed, or raise max", _VALUE, True),
    "max-above": Kind("lower it to what the queues above allow", _VALUE, True),
    "guaranteed-sum": Kind("lower guaranteed of the queues below, or raise it here", _CHILDREN, True),
    "max-sum": Kind("lower guaranteed of the queues below, or raise max here", _CHILDREN, True),
    "rule-name": Kind("use provided, user, tag or fixed", _NAME),
    "filter-type": Kind("write allow or deny", _VALUE),
    "filter-name": Kind("correct the name or regular expression", _VALUE),
    "rule-qualified": Kind("start only the outermost rule with root; the others name a single queue"),
    "rule-queue": Kind("add the queue, name another, or set `create: true` on the rule", _PARTITION, True),
    "node-sort": Kind("use fair or binpacking, and weights of 0 or more", _VALUE),
    "applications": Kind(
        "set maxapplications on every queue below one that has it, no higher than there", _SIBLINGS, True
    ),
    # Accepted, but failing at run time.
    "acl-spaces": Kind(
        "write `users groups`: names separated by commas, exactly one space between the lists", _VALUE
    ),
    "acl-comma": Kind("delete the space after the comma", _VALUE),
    "acl-name": Kind("", _VALUE),
    "filter-case": Kind("write deny: as written, the rule admits exactly these people", _VALUE),
    "max-zero": Kind("set one resource above zero; the zeros next to it then apply", _SIBLINGS),
    "queue-case": Kind("write queue names in lower case"),
    "resource-name": Kind("", _VALUE),
    "rule-leaf": Kind("", _PARTITION, True),
    "rule-parent": Kind(
        "add the queue with `parent: true`, or set `create: true` on the parent rule too", _PARTITION, True
    ),
    "rule-root": Kind("", _VALUE),
    "rule-unknown": Kind("use provided, user, tag or fixed", _VALUE),
    "rule-value": Kind("", _SIBLINGS),
}
"""Kinds by name."""


def problem(
    path: Path,
    kind: str,
    message: str,
    help_: str = "",
    severity: Severity | None = None,
    *,
    key: bool = False,
) -> Problem:
    """A value that YuniKorn refuses, or that fails at run time. `path` is in queues.yaml."""
    return Problem(path, message, help_ or KINDS[kind].help, severity, key, kind)


class UndecodedParts(NamedTuple):
    """Paths of the parts that do not decode, as sets: a file may have thousands of problems."""

    paths: frozenset[Path]
    maps: frozenset[Path]
    """The maps that contain them, directly or in a list."""
    ancestors: frozenset[Path]
    """These maps and everything above them."""
    partitions: frozenset[Path]
    everywhere: bool
    """One of them belongs to no partition."""

    @classmethod
    def of(cls, problems: Iterable[Problem]) -> UndecodedParts:
        paths = frozenset(each.path for each in problems)
        maps = frozenset(map(_parent_map, paths))
        ancestors = frozenset(path[:length] for path in maps for length in range(len(path) + 1))
        partitions = frozenset(path[:2] for path in paths)
        return cls(paths, maps, ancestors, partitions, any(len(path) < 2 for path in paths))

    def may_undo(self, path: Path, dependence: Dependence, data: object = None) -> bool:
        """Whether correcting these parts may resolve a problem at a path of `data`."""
        if any(path[:length] in self.paths for length in range(len(path) + 1)):
            return True
        if dependence is Dependence.VALUE:
            return False
        if dependence is Dependence.NAME:
            return path[:-1] in self.maps and lookup(data, path) is None
        if dependence is Dependence.SIBLINGS:
            return path in self.maps or path[:-1] in self.maps
        if dependence is Dependence.CHILDREN:
            return path[: path.index("resources")] in self.ancestors
        return self.everywhere or path[:2] in self.partitions


def certain_problems(
    problems: Iterable[Problem], undecoded: UndecodedParts, data: object = None
) -> Iterator[Problem]:
    """The problems that remain however the undecoded parts of `data` are corrected."""
    for each in problems:
        if not undecoded.may_undo(each.path, KINDS[each.kind].depends_on, data):
            yield each


def _parent_map(path: Path) -> Path:
    """The map that contains a key or, directly or not, a list item."""
    while path and isinstance(path[-1], int):
        path = path[:-1]
    return path[:-1]
