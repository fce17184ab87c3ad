"""Pods that start together or not at all."""

from collections.abc import Mapping
from typing import NamedTuple


class PodGroup(NamedTuple):
    """A group object: its members start when `min_member` of them fit together."""

    system: str
    """Target that reads it: volcano, koordinator, ..."""
    namespace: str
    name: str
    min_member: int | None
    owned: bool = False
    """Made by a controller, whose pods join it."""


class Membership(NamedTuple):
    """A pod set that joins a group by name."""

    system: str
    namespace: str
    group: str
    pods: int | None
    """How many pods it will ever have, autoscaler maximum counted; None: unknown."""
    scheduler: str
    """schedulerName of its pods, empty for none."""
    min_member: int | None = None
    """Stated by the pods themselves, where the group needs no object."""
    by_pods: bool = False
    """The group may exist without an object: the pods state its size."""
    embedded: bool = False
    """The size stands inside a longer text, JSON in an annotation."""


class OwnGang(NamedTuple):
    """A gang that an object declares for its own pods, larger than those pods are."""

    namespace: str
    what: str
    """What asks for it, in words: `the job`, `task worker`."""
    min_member: int
    pods: int
    scalable: bool = False
    """An autoscaler may add pods: only a complete scope shows whether one does."""
    counted: str = "pod"
    """What its members are: pod, or replica of a scaling group."""


class Ordered(NamedTuple):
    """Pods that are made one after another, while a gang waits for more of them.

    Places of its fact: `order`.
    """

    system: str
    """Empty: the object's own gang."""
    namespace: str
    group: str
    first: int
    """Pods that exist before any others are made."""
    why: str
    """In words: `podManagementPolicy OrderedReady makes ...`."""
    minimum: int | None = None
    """Size of the gang as the object states it; None: as its PodGroup does."""
    said: str = ""
    """What is wrong, where the numbers alone do not say it."""


class Scheduled(NamedTuple):
    """The scheduler of pods that belong to a gang. Places of its fact: `scheduler`."""

    system: str
    """Target that reads the gang; empty: whichever runs the object."""
    namespace: str
    group: str
    """Name of the group; of an object's own gang what and where it is."""
    scheduler: str
    """Empty: the default scheduler, unless something fills it in."""
    what: str
    """The pods in words: `task ps`."""
    filled: bool = False
    """An operator or webhook may write the name."""
    certain: bool = True
    """The object asks for a gang itself."""


class GangPartners(NamedTuple):
    """Gangs that start together, as one of them lists them. Places of its fact: `groups`, `0`, `1`, ..."""

    system: str
    namespace: str
    group: str
    partners: tuple[tuple[str, str], ...]
    """(namespace, name) of each, itself among them."""


class TaskGroups(NamedTuple):
    """The groups of an application's gang. Places of its fact: `groups`, and `0`, `1`, ... each name."""

    namespace: str
    application: str
    names: tuple[str, ...]
    closed: bool
    """All its pods are made from templates that can be seen."""
    queue: str = ""
    """Where they are submitted, as written; its place is `queue`. Empty: nothing is written."""
    pods: int = 0
    request: Mapping[str, int] = {}
    """What the places held for all groups ask for."""


class Autoscaler(NamedTuple):
    """Something that changes the replicas of a workload between bounds."""

    namespace: str
    kind: str
    name: str
    """Kind and name of the workload."""
    maximum: int | None
    """None: unknown (a placeholder)."""


class GangRule(NamedTuple):
    """When the pods of a workload kind's jobs start."""

    size: int | None = None
    """How many must start together at least; None: all of a job's."""
    timeout: int | None = None
    """Seconds that pods which have a place wait for the others; None: the scheduler's own."""
    on_timeout: str = ""
    """wait: they give their places back and the gang tries again; start: those that have a place
    run; fail: the job fails. Empty: the scheduler's own."""
