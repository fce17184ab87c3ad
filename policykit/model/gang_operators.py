"""Operators that make groups of the pods of their jobs, for rules about whole scopes."""

from policykit.namedtuple import NamedTuple


class StartedOperator(NamedTuple):
    """An operator in a container. Locations of its fact: `container`, `flag`."""

    name: str
    """The last part of its image's name."""
    starts: bool = False
    """Whether a flag makes it create groups."""
    scheduler: str = ""
    """For which it does, where the flag names one."""
    misspelt: str = ""
    """A flag that the operator does not have."""
    meant: str = ""
    namespace: str = ""
    account: str = ""
    missing: str = ""
    """A flag without which its jobs do not get the name of the scheduler; empty: none is needed."""
    api_version: str = ""
    """Of the jobs of which it makes a group whether they ask for one or not; empty: it makes none unasked."""


class GroupedJob(NamedTuple):
    """A job that asks its operator for a group. Location of its fact: `asks`."""

    operator: str
    kind: str
    scheduler: str
    asks: str
    """What asks for it."""


class DeclaredRole(NamedTuple):
    """A ClusterRole, or a Role with its namespace. Locations of its fact: `name`."""

    kind: str
    namespace: str
    name: str
    groups: frozenset[str] = frozenset()
    """API groups of which it may create groups of pods; `*`: all."""
    settled: bool = True
    """Whether its rules are its own."""


class RoleOfAccount(NamedTuple):
    """A role that an account is bound to."""

    kind: str
    namespace: str
    """Of a Role."""
    name: str
    of_namespace: str
    """`*`: any."""
    account: str
    """`*`: any."""
