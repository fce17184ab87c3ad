"""Pods that start together or not at all."""

from collections.abc import Mapping

from policykit.namedtuple import NamedTuple


class PodGroup(NamedTuple):
    """A group object: its members start once `min_member` of them fit together."""

    target_name: str
    """Target that reads it: volcano, koordinator, ..."""
    namespace: str
    name: str
    min_member: int | None
    owned: bool = False
    """Created by a controller whose pods join it."""


class Membership(NamedTuple):
    """A pod set that joins a group by name."""

    target_name: str
    namespace: str
    group: str
    pods: int | None
    """Largest number of pods, including the autoscaler's maximum; None: unknown."""
    scheduler: str
    """schedulerName of its pods, empty for none."""
    min_member: int | None = None
    """Stated by the pods themselves, where the group needs no object."""
    by_pods: bool = False
    """The group may exist without an object: the pods state its size."""
    embedded: bool = False
    """The size is part of a longer text, such as JSON in an annotation."""


class MemberRoom(NamedTuple):
    """Pods of one template in a gang, and how many of them the empty pools hold. Its fact has no location."""

    policy: str
    """Name of the policy whose pools they are."""
    pods: int | None
    """None: unknown."""
    request: Mapping[str, int]
    """Of one pod."""
    asked: str
    """Its cards in words; empty: none."""
    pools: tuple[str, ...]
    """Those that may take them."""
    room: int | None
    """None: unknown or unlimited."""
    level: str = ""
    """The level of the topology that limits them to one domain; empty: none does."""
    certain: bool = True
    """Nothing else decides where they go."""
    target_name: str = ""
    """Target that reads the group, as for `Membership`; empty: the gang is that of the object."""
    namespace: str = ""
    group: str = ""


class OwnGang(NamedTuple):
    """A gang that is larger than the number of pods of its object."""

    namespace: str
    what: str
    """What requires it, in words: `the job`, `task worker`."""
    min_member: int
    pods: int
    scalable: bool = False
    """An autoscaler may add pods: only a complete scope shows whether one does."""
    counted: str = "pod"
    order: str = ""
    """Why there are no more before the gang starts; empty: there are no more at all."""
    """Unit of its members: pod, or replica of a scaling group."""


class PodCreationOrder(NamedTuple):
    """Pods that are created one after another, while a gang waits for more of them.

    Locations of its fact: `order`.
    """

    target_name: str
    """Empty: the object's own gang."""
    namespace: str
    group: str
    first: int
    """Pods that exist before any others are created."""
    why: str
    """In words: `podManagementPolicy OrderedReady makes ...`."""
    minimum: int | None = None
    """Size of the gang in the object; None: in its PodGroup."""
    problem: str = ""
    """The problem, if the numbers do not explain it."""


class GangScheduler(NamedTuple):
    """The scheduler of pods that belong to a gang. Locations of its fact: `scheduler`."""

    target_name: str
    """Target that reads the gang; empty: the scheduler of the object."""
    namespace: str
    group: str
    """Name of the group; for an object's own gang its kind and path."""
    scheduler: str
    """Empty: the default scheduler, unless a webhook sets it."""
    what: str
    """The pods in words: `task ps`."""
    filled: bool = False
    """An operator or webhook may write the name."""
    certain: bool = True
    """The object declares the gang itself."""


class GangPartners(NamedTuple):
    """Gangs that start together, as listed by one of them. Locations of its fact: `groups`, `0`, `1`, ..."""

    target_name: str
    namespace: str
    group: str
    partners: tuple[tuple[str, str], ...]
    """(namespace, name) of each, including itself."""


class TaskGroups(NamedTuple):
    """The groups of an application's gang. Locations of its fact: `groups`, and `0`, `1`, ... each name."""

    target_name: str
    namespace: str
    application: str
    names: tuple[str, ...]
    closed: bool
    """All its pods come from known templates."""
    queue: str = ""
    """Queue as written; its location is `queue`. Empty: none."""
    pods: int = 0
    request: Mapping[str, int] = {}
    """Requests of the placeholders of all groups."""


class Autoscaler(NamedTuple):
    """Something that changes the replicas of a workload between bounds.

    Locations of its fact: `maximum`, `name`, and `share.<resource>` of each in `shares`.
    """

    namespace: str
    kind: str
    name: str
    """Kind and name of the workload."""
    maximum: int | None
    """None: unknown (a placeholder)."""
    shares: tuple[str, ...] = ()
    """Resources whose use it measures as a share of what the pods request."""
    takes_over: str = ""
    """Name of a HorizontalPodAutoscaler that becomes its own."""
    minimum: int | None = 1
    """Fewest pods while there is any; None: unknown (a placeholder)."""


class VerticalScaler(NamedTuple):
    """Something that changes the requests of the pods of a workload. Locations of its fact: `name`."""

    namespace: str
    kind: str
    name: str
    """Kind and name of the workload."""
    resources: frozenset[str]
    """Those whose requests it changes."""


class GangRule(NamedTuple):
    """When the pods of a workload kind's jobs start."""

    size: int | None = None
    """Least number that must start together; None: all pods of a job."""
    timeout: int | None = None
    """Seconds that placed pods wait for the others; None: the scheduler's default."""
    on_timeout: str = ""
    """wait: they are released and the gang retries; start: the placed pods run; fail: the job fails.
    Empty: the scheduler's default."""
