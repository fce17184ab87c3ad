"""A problem that the validator finds, and what is known of each kind of them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import NamedTuple

from policykit.manifests.path import Path
from policykit.model.severity import Severity


class Dependence(Enum):
    """What else in the file a problem depends on: if that does not decode, the problem is uncertain."""

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
    """What to do, unless the problem says so itself."""
    depends_on: Dependence = Dependence.PARTITION
    compares_queues: bool = False
    """A placeholder in any queue may make it go away."""


class Problem(NamedTuple):
    """Something YuniKorn refuses, or that fails at run time."""

    path: Path
    """In the text of queues.yaml."""
    kind: str
    """One of KINDS."""
    message: str
    own_help: str = ""
    severity: Severity | None = None
    """Where it differs from that of its linter rule."""
    key: bool = False
    """The key at `path` is what is wrong, not its value."""

    @property
    def help(self) -> str:
        """What to do."""
        return self.own_help or KINDS[self.kind].help


_VALUE, _SIBLINGS, _NAME, _CHILDREN = (
    Dependence.VALUE,
    Dependence.SIBLINGS,
    Dependence.NAME,
    Dependence.CHILDREN,
)
_PARTITION = Dependence.PARTITION

KINDS: Mapping[str, Kind] = {
    "decoding": Kind("correct or delete it; the scheduler refuses the whole file for it"),
    "partition-name": Kind("give each partition one name, or merge the two", _NAME),
    "no-queues": Kind("add the queues; `queues: []` gives a root alone", _SIBLINGS),
    "root-resources": Kind("delete it; bound the queues below root, or use limits", _VALUE),
    "root-limits": Kind("keep the list in one of the two places", _PARTITION, True),
    "acl": Kind("write `users groups`: names with commas, one space between the two lists", _VALUE),
    "queue-name": Kind("rename the queue; a dot would divide the names of a path", _NAME),
    "queue-name-twice": Kind("merge or rename them: names are compared without regard to case", _NAME),
    "limit-nobody": Kind("add users or groups, or delete the entry", _SIBLINGS),
    "limit-name": Kind("correct the name; `*` stands for everybody", _VALUE),
    "limit-twice": Kind("keep one entry for each name in the limits of a queue", _VALUE),
    "limit-order": Kind("move the entry with `*` behind all named ones", _VALUE),
    "limit-group": Kind("add a limit for a named group before this one, or delete it"),
    "amount": Kind("write a whole number with at most one suffix", _VALUE),
    "limit-zero": Kind("give one resource an amount above zero; others may be 0", _SIBLINGS),
    "limit-empty": Kind("state maxapplications or maxresources, or delete the entry", _SIBLINGS),
    "limit-applications": Kind("lower the limit, or raise maxapplications of the queue", _VALUE),
    "limit-max": Kind("lower the limit, or raise max of the queue", _VALUE),
    "limit-above": Kind("lower this limit, or raise the one above", _PARTITION, True),
    "limit-applications-above": Kind(
        "state maxapplications within that bound, also beside maxresources", _PARTITION, True
    ),
    "max-guaranteed": Kind("lower guaranteed, or raise max", _VALUE, True),
    "max-above": Kind("lower it to what the queues above allow", _VALUE, True),
    "guaranteed-sum": Kind("lower guaranteed of the queues below, or raise it here", _CHILDREN, True),
    "max-sum": Kind("lower guaranteed of the queues below, or raise max here", _CHILDREN, True),
    "rule-name": Kind("name the rule provided, user, tag or fixed", _NAME),
    "filter-type": Kind("write allow or deny", _VALUE),
    "filter-name": Kind("correct the name or the regular expression", _VALUE),
    "rule-qualified": Kind("let the rules below the outermost name the queue alone, without root"),
    "rule-queue": Kind(
        "add the queue, name one that fits, or state `create: true` on the rule", _PARTITION, True
    ),
    "node-sort": Kind("write fair or binpacking, and weights of 0 or more", _VALUE),
    "applications": Kind(
        "state maxapplications on every queue below one that has it, no larger than there", _SIBLINGS, True
    ),
    # Accepted, and failing later.
    "acl-spaces": Kind(
        "write `users groups`: names with commas and no spaces, one space between the two lists", _VALUE
    ),
    "acl-comma": Kind("delete the space after the comma", _VALUE),
    "acl-name": Kind("", _VALUE),
    "filter-case": Kind("write deny; as it is, exactly these people are let in", _VALUE),
    "max-zero": Kind("give one resource an amount above zero; the zeros beside it then count", _SIBLINGS),
    "queue-case": Kind("write the names of queues in small letters"),
    "resource-name": Kind("", _VALUE),
    "rule-parent": Kind(
        "add the queue with `parent: true`, or state `create: true` on the parent rule too", _PARTITION, True
    ),
    "rule-root": Kind("", _VALUE),
    "rule-unknown": Kind("write provided, user, tag or fixed", _VALUE),
    "rule-value": Kind("", _SIBLINGS),
}
"""By their stable short names."""
