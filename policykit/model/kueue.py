"""Kueue's objects for rules about whole scopes: their names, and the names they refer to."""

from typing import NamedTuple


class DeclaredFlavor(NamedTuple):
    """A ResourceFlavor. Places of its fact: `name`, `topology`."""

    name: str
    topology: str = ""


class DeclaredTopology(NamedTuple):
    """A Topology. Places of its fact: `name`."""

    name: str
    levels: tuple[str, ...] = ()


class DeclaredClusterQueue(NamedTuple):
    """A ClusterQueue. Places of its fact: `name`, `cohort`, and `flavor.<number>` for each of its flavors."""

    name: str
    cohort: str = ""
    flavors: tuple[str, ...] = ()


class DeclaredCohort(NamedTuple):
    """A Cohort. Places of its fact: `name`, `parent`."""

    name: str
    parent: str = ""


class DeclaredLocalQueue(NamedTuple):
    """A LocalQueue. Places of its fact: `name`, `cluster_queue`."""

    name: str
    namespace: str
    cluster_queue: str = ""


class TopologyRequest(NamedTuple):
    """A level that pods of a workload want to be within. Places of its fact: `level`."""

    level: str
    annotation: str
