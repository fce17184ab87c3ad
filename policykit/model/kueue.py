"""Kueue's objects for rules about whole scopes: their names, and the names they refer to."""

from collections.abc import Mapping

from policykit.model.pool import Taint, Toleration
from policykit.namedtuple import NamedTuple


class DeclaredFlavor(NamedTuple):
    """A ResourceFlavor. Locations of its fact: `name`, `topology`."""

    name: str
    topology: str = ""
    tolerations: tuple[Toleration, ...] = ()
    """Added to the pods that are admitted."""
    labels: Mapping[str, str] = {}
    """Of its nodes."""
    taints: tuple[Taint, ...] = ()
    """Of its nodes: only pods that tolerate them are admitted."""


class DeclaredTopology(NamedTuple):
    """A Topology. Locations of its fact: `name`."""

    name: str
    levels: tuple[str, ...] = ()


class DeclaredClusterQueue(NamedTuple):
    """A ClusterQueue. Locations of its fact: `name`, `cohort`, and `flavor.<number>` and `check.<number>` for
    each flavor and admission check."""

    name: str
    cohort: str = ""
    flavors: tuple[str, ...] = ()
    covered: frozenset[str] = frozenset()
    """Resources of all its groups."""
    names_allowed: frozenset[str] | None = None
    """Namespaces that it selects by name; None: it selects by other labels, or all."""
    names_refused: frozenset[str] = frozenset()
    """Namespaces that it excludes by name."""
    checks: tuple[str, ...] = ()
    """Its admission checks."""
    flavor_checks: frozenset[str] = frozenset()
    """Those of some flavors only."""
    selector: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    """Label key, operator and values of what its namespaces have, other than their name."""
    nominal: Mapping[str, int] = {}
    """Its quota of each resource, over all flavors."""
    most: Mapping[str, int] = {}
    """The same with what it may borrow, of resources of which it may not borrow any amount."""
    groups: int = 0
    """Groups of resources with flavors of their own."""


class DeclaredNamespace(NamedTuple):
    """A Namespace with its labels."""

    name: str
    labels: Mapping[str, str] = {}


class DeclaredAdmissionCheck(NamedTuple):
    """An AdmissionCheck. Locations of its fact: `name`, `parameters`, `controller`."""

    name: str
    kind: str = ""
    """Kind of its parameters; empty: it has none."""
    parameters: str = ""
    """Their name."""
    controller: str = ""


class CheckParameters(NamedTuple):
    """Parameters of admission checks: a ProvisioningRequestConfig or MultiKueueConfig."""

    kind: str
    name: str


class DeclaredPriorityClass(NamedTuple):
    """A WorkloadPriorityClass."""

    name: str


class PriorityClassUse(NamedTuple):
    """A workload that names a WorkloadPriorityClass. Locations of its fact: `name`."""

    name: str


class EnabledFrameworks(NamedTuple):
    """The integrations that a configuration of Kueue's manager lists."""

    names: tuple[str, ...]
    external: tuple[str, ...] = ()
    """Kinds that other controllers make Workloads for, as `Kind.version.group`."""


class QueuedKind(NamedTuple):
    """A workload that names a LocalQueue. Locations of its fact: `queue`."""

    framework: str
    """The integration of its kind."""
    kind: str
    group: str = ""


class FairSharing(NamedTuple):
    """What a configuration of Kueue's manager enables."""

    queues: bool
    """`fairSharing`, between ClusterQueues."""
    admission: bool
    """`admissionFairSharing`, between the LocalQueues of one."""
    unknown: bool = False
    """A template has yet to fill it in."""


class FairSharingField(NamedTuple):
    """What a queue says that has an effect only with fair sharing, or only without it.

    Locations of its fact: `field`.
    """

    name: str
    """Field of its spec."""
    stated: str
    """In words: `fairSharing.weight is 2`."""
    admission: bool
    """It is about `admissionFairSharing`, not `fairSharing`."""
    needed: bool
    """Whether it has an effect only with it."""


class CountedDevices(NamedTuple):
    """The classes of devices that a configuration of Kueue's manager counts."""

    classes: tuple[str, ...]
    integration: bool = True
    """Whether it counts devices at all."""
    refusal: bool = True
    """Whether it refuses claims where it counts none."""


class ClaimedClasses(NamedTuple):
    """A ResourceClaimTemplate."""

    namespace: str
    name: str
    classes: tuple[str, ...] = ()
    """Of the devices that it requests."""


class QueuedClaim(NamedTuple):
    """A ResourceClaimTemplate that pods in a LocalQueue name. Locations of its fact: `name`."""

    namespace: str
    template: str


class DeclaredCohort(NamedTuple):
    """A Cohort. Locations of its fact: `name`, `parent`, `quota`."""

    name: str
    parent: str = ""
    nominal: Mapping[str, int] = {}
    """Its own quota of each resource, over all flavors, which its queues have besides theirs."""
    limited: bool = False
    """Whether it limits what goes from or to its parent."""


class DeclaredLocalQueue(NamedTuple):
    """A LocalQueue. Locations of its fact: `name`, `cluster_queue`."""

    name: str
    namespace: str
    cluster_queue: str = ""


class TopologyRequest(NamedTuple):
    """A level that pods of a workload want to be within. Locations of its fact: `level`."""

    level: str


class RefusingPool(NamedTuple):
    """A pool that pods may use by their card and workload kind, but whose taints keep them away."""

    name: str
    taints: tuple[Taint, ...]
    """The hard ones that the pods do not tolerate."""


class RefusedPods(NamedTuple):
    """Pods that a LocalQueue admits and every pool refuses, unless admission adds tolerations.

    Locations of its fact: `tolerations`.
    """

    namespace: str
    queue: str
    pools: tuple[RefusingPool, ...]


class AdmittedPods(NamedTuple):
    """Pods of a workload that names a LocalQueue.

    Locations of its fact: `tolerations`, `terms`, and `selector.<key>` of each key of the selector.
    """

    namespace: str
    queue: str
    tolerations: tuple[Toleration, ...] = ()
    selector: Mapping[str, str] = {}
    """The nodeSelector."""
    terms: tuple[tuple[tuple[str, str, tuple[str, ...]], ...], ...] = ()
    """Of required node affinity, ORed: label key, operator and values of each expression. Empty: any node."""
