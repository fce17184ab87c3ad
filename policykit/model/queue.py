"""Queues, tenants, reservations, quotas and PriorityClasses, and what the quotas of a namespace allow."""

from collections.abc import Mapping

from policykit.model.pool import Amounts
from policykit.namedtuple import NamedTuple


class Submitters(NamedTuple):
    """Users and groups who may submit; both empty: nobody."""

    users: tuple[str, ...] = ()
    """`*` is everybody."""
    groups: tuple[str, ...] = ()


class PoolAffinity(NamedTuple):
    """Names of pools."""

    required: tuple[str, ...] = ()
    preferred: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    avoided: tuple[str, ...] = ()


class Preemption(NamedTuple):
    """Which pods may be preempted; None: the scheduler's default."""

    within_queue: bool | None = None
    """Pods preempt pods with lower priority in the same queue."""
    reclaim: bool | None = None
    """Queues below their deserved amount reclaim it from queues above theirs."""


class Queue(NamedTuple):
    """A queue. Resources without an amount are unconstrained."""

    name: str
    parent: str = ""
    weight: int = 1
    guarantee: Amounts = {}
    deserved: Amounts = {}
    limit: Amounts = {}
    priority: int | None = None
    reclaimable: bool = True
    submit: Submitters | None = None
    """Who may submit to it and its children; None: inherited from its parent."""
    pools: PoolAffinity | None = None
    """Pools its pods may and should use; None: any."""
    protected: bool = False
    """It may not be removed from the policy without a word."""


class Priority(NamedTuple):
    """A PriorityClass."""

    name: str
    value: int
    preempts: bool = True
    default: bool = False
    description: str = ""


class ContainerRange(NamedTuple):
    """Defaults and bounds of container requests in a namespace: cpu, memory and ephemeral-storage."""

    default: Amounts = {}
    """Limits of containers without any."""
    default_request: Amounts = {}
    minimum: Amounts = {}
    maximum: Amounts = {}


class Quota(NamedTuple):
    """Total requests and limits of a namespace: resource name to amount."""

    namespace: str
    name: str
    requests: Amounts = {}
    limits: Amounts = {}
    pods: int | None = None
    priorities: tuple[str, ...] = ()
    """Only pods with these PriorityClasses count; empty: all."""
    containers: ContainerRange | None = None
    """Defaults and bounds of each container there; None: none."""


class Tenant(NamedTuple):
    """A team that shares the cluster."""

    name: str
    namespaces: tuple[str, ...] = ()
    queue: str = ""
    """Queue of the workloads in its namespaces; empty: none."""
    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


class Reservation(NamedTuple):
    """Capacity reserved for future pods of a team."""

    name: str
    requests: Amounts
    """Of one pod."""
    pods: int = 1
    """Number of such pods."""
    tenant: str = ""
    workload: str = ""
    """Workload kind whose pods may take it; empty: any of the tenant's."""
    pool: str = ""
    """Pool of the capacity; empty: any."""
    ttl: int = 0
    """Seconds until it expires; 0: never."""


class DeclaredPriority(NamedTuple):
    """A PriorityClass object. Locations of its fact: `name`, `value`, `default`."""

    name: str
    value: int | None
    """None: not a whole number (a placeholder)."""
    default: bool = False
    policy: str = ""
    """preemptionPolicy, or its default; empty: a placeholder."""


class PriorityUse(NamedTuple):
    """Pods, or a gang, of a priority. Locations of its fact: `name`, and `value` and `policy` if stated."""

    name: str
    scheduler: str = ""
    """schedulerName of the pods; empty: none written."""
    value: int | None = None
    """The number that the pods state beside the name."""
    policy: str = ""
    """The preemptionPolicy that the pods state beside the name."""


class Demand(NamedTuple):
    """Pods that must exist at the same time in a namespace: one pod, or those of a gang.

    Locations of its fact: `request` of a gang; nothing is reported at a single pod.
    """

    namespace: str
    what: str
    """In words: `a pod of Job train`, `the gang of 4 pods`."""
    pods: int
    request: Amounts
    """Total of these pods."""
    limits: Amounts = {}
    """Total limits of cpu and memory; a resource that some container does not limit is left out."""
    containers: tuple[tuple[Amounts, Amounts], ...] = ()
    """Limits and requests of each container."""
    stated: frozenset[str] = frozenset()
    """`requests.cpu`, `limits.memory`: what every container of the pod states of these, or the pod itself."""
    priority_class: str = ""
    stated_namespace: bool = True
    """The object states its namespace."""
    labels: Mapping[str, str] = {}
    """Of a single pod."""
    replicas: int = 1
    """Number of such pods that run at a time; 1 also if it is unknown."""
    counted: bool = False
    """The number is known, and not 0."""
    names: tuple[str, ...] = ()
    """Of the containers."""
    selector: Mapping[str, str] = {}
    """Labels by which its controller selects pods; empty: by expressions, or unknown."""
    strategy: tuple[str, ...] = ()
    """Of a Deployment: type, maxSurge and maxUnavailable as they are written; empty: none of them is."""
    added: str = ""
    """Containers that a controller adds and whose amounts its configuration states, in words."""
    ports: frozenset[str] = frozenset()
    """Names of the ports of all containers."""


class DeclaredQuota(NamedTuple):
    """A ResourceQuota, of an object or of what a controller makes.

    Locations of its fact: `name`, and `hard.<key>` of each key.
    """

    namespace: str
    name: str
    hard: Amounts = {}
    """`requests.cpu`, `limits.memory`, `requests.nvidia.com/gpu`, `pods`; cpu in milli-cores."""
    priorities: tuple[str, ...] = ()
    """It counts only pods of these PriorityClasses; empty: all."""
    stated_namespace: bool = True
    stating: bool = False
    """It counts only pods that state an amount of cpu or memory: scope NotBestEffort."""


class DeclaredRange(NamedTuple):
    """A LimitRange. Locations of its fact: `name`."""

    namespace: str
    name: str
    maximum: Amounts = {}
    """Of one container."""
    limits: Amounts = {}
    """What containers get that state no limit of it; extended resources are left out."""
    defaults: frozenset[str] = frozenset()
    """`requests.cpu`, `limits.memory`: what containers get that do not state it."""
    stated_namespace: bool = True
    minimum: Amounts = {}
    """Of one container, of what it states."""
    requests: Amounts = {}
    """What containers get that state neither a request nor a limit of it."""
    pod_maximum: Amounts = {}
    pod_minimum: Amounts = {}
    """Of all containers of a pod."""
    ratios: Amounts = {}
    """How many times its request the limit of a container may be, in thousandths."""
    pod_ratios: Amounts = {}
    """The same, of all containers of a pod."""
