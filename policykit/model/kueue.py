"""Kueue's objects for rules about whole scopes: their names, and the names they refer to."""

from typing import NamedTuple


class DeclaredFlavor(NamedTuple):
    """A ResourceFlavor. Locations of its fact: `name`, `topology`."""

    name: str
    topology: str = ""


class DeclaredTopology(NamedTuple):
    """A Topology. Locations of its fact: `name`."""

    name: str
    levels: tuple[str, ...] = ()


class DeclaredClusterQueue(NamedTuple):
    """A ClusterQueue. Locations of its fact: `name`, `cohort`, and `flavor.<number>` for each flavor."""

    name: str
    cohort: str = ""
    flavors: tuple[str, ...] = ()


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
