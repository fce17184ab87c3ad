"""Volumes, the claims for them, and the pods that use these."""

from __future__ import annotations

from policykit.namedtuple import NamedTuple

ONE_POD, ONE_NODE = "ReadWriteOncePod", "ReadWriteOnce"
"""Access modes of a volume that a single pod may use, or the pods of a single node."""


class DeclaredVolume(NamedTuple):
    """A PersistentVolume, or a StorageClass."""

    kind: str
    name: str
    terms: tuple[tuple[tuple[str, str, tuple[str, ...]], ...], ...] = ()
    """The nodes that can mount its volumes: ORed; each a conjunction of label key, operator and values.
    Empty: any."""
    claim: str = ""
    """Namespace and name of the claim that it is bound to: `team/data`."""
    storage_class: str = ""
    """Of a PersistentVolume."""
    certain: bool = True
    """The terms hold whatever the driver does."""
    made_by_hand: bool = False
    """A StorageClass that makes no volumes: its claims get volumes that somebody declares."""
    local: bool = False
    """A StorageClass of volumes on the disks of a node, where the scheduler places all their pods."""
    waits: bool = False
    """A StorageClass whose claims get a volume only when the scheduler has chosen the node of a pod."""
    any_zone: bool = False
    """A StorageClass whose volumes are in one zone each, which is chosen before there is a pod."""
    many_nodes: bool = False
    """A file system of the network, which any number of nodes can mount whatever its access modes."""
    capacity: int | None = None
    """Of a PersistentVolume, in bytes; None: unknown."""
    access_modes: tuple[str, ...] = ()
    """Of a PersistentVolume."""


class DeclaredClaim(NamedTuple):
    """A PersistentVolumeClaim. Locations of its fact: `modes`."""

    namespace: str
    name: str
    volume: str = ""
    storage_class: str = ""
    access_modes: tuple[str, ...] = ()
    requested: int | None = None
    """Bytes; None: unknown."""


class ClaimUse(NamedTuple):
    """Pods of one template that mount a claim. Locations of its fact: `claim`."""

    namespace: str
    what: str
    """In words: `Deployment cache`."""
    replicas: int | None
    """None: unknown."""
    claim: str
    """In their namespace; empty: each pod gets a claim of its own."""
    storage_class: str = ""
    """Of claims that each pod gets."""
    policy: str = ""
    """Name of the policy whose pools they are; empty: there is none."""
    pools: tuple[str, ...] = ()
    """Those that do not refuse the pods; empty: none is known to take them."""
    apart: str = ""
    """Why no two of the pods are on one node, for display; empty: they may be."""
    adds_first: bool = False
    """A rolling update starts a pod before it removes one."""
    closed: bool = False
    """No other pools take them, and nothing else decides where they go."""
    read_only: bool = False
    together: str = ""
    """The template, if its pods wait for those of the others of the object; empty: they do not."""
    lasting: bool = False
    """There are such pods, and they run until somebody removes them."""
    in_turn: bool = False
    """They end, and nothing needs them at the same time: they may run one after another."""
    each_node: bool = False
    """There is one on each node of the pools."""
    selected: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Labels of nodes that the pods select, each with its values."""
    side_by_side: bool = False
    """Something keeps the pods on one node."""
    unscheduled: bool = False
    """nodeName passes the scheduler by."""
    beside: tuple[str, ...] = ()
    """Claims that the same pods mount and the template lists before."""
    recurs: bool = False
    """There are such pods again and again, or until somebody removes the one."""
