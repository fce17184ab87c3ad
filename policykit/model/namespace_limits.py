"""What the quotas and limit ranges of a namespace allow, and what pods ask of them."""

from policykit.model.pool import Amounts
from policykit.namedtuple import NamedTuple


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
    largest: Amounts = {}
    """The largest request or limit of one container."""
    stated: frozenset[str] = frozenset()
    """`requests.cpu`, `limits.memory`: what every container of the pod states of these, or the pod itself."""
    priority_class: str = ""
    stated_namespace: bool = True
    """The object states its namespace."""


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


class DeclaredRange(NamedTuple):
    """A LimitRange. Locations of its fact: `name`."""

    namespace: str
    name: str
    maximum: Amounts = {}
    """Of one container."""
    pod_maximum: Amounts = {}
    defaults: frozenset[str] = frozenset()
    """`requests.cpu`, `limits.memory`: what containers get that do not state it."""
    stated_namespace: bool = True
