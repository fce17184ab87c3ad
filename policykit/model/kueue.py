"""Kueue's objects for rules about whole scopes: their names, and the names they refer to."""

from policykit.model.taint import Taint, Toleration
from policykit.namedtuple import NamedTuple


class DeclaredFlavor(NamedTuple):
    """A ResourceFlavor. Locations of its fact: `name`, `topology`."""

    name: str
    topology: str = ""
    tolerations: tuple[Toleration, ...] = ()
    """Added to the pods that are admitted."""
    label_keys: tuple[str, ...] = ()
    """Keys of the labels of its nodes."""
    taints: tuple[Taint, ...] = ()
    """Of its nodes: only pods that tolerate them are admitted."""


class DeclaredTopology(NamedTuple):
    """A Topology. Locations of its fact: `name`."""

    name: str
    levels: tuple[str, ...] = ()


class DeclaredClusterQueue(NamedTuple):
    """A ClusterQueue. Locations of its fact: `name`, `cohort`, and `flavor.<number>` for each flavor."""

    name: str
    cohort: str = ""
    flavors: tuple[str, ...] = ()
    covered: frozenset[str] = frozenset()
    """Resources of all its groups."""


class DeclaredCohort(NamedTuple):
    """A Cohort. Locations of its fact: `name`, `parent`."""

    name: str
    parent: str = ""


class DeclaredLocalQueue(NamedTuple):
    """A LocalQueue. Locations of its fact: `name`, `cluster_queue`."""

    name: str
    namespace: str
    cluster_queue: str = ""


class TopologyRequest(NamedTuple):
    """A level that pods of a workload want to be within. Locations of its fact: `level`."""

    level: str
    annotation: str


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
    """Pods of a workload that names a LocalQueue. Locations of its fact: `tolerations`."""

    namespace: str
    queue: str
    tolerations: tuple[Toleration, ...] = ()
