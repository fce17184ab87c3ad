"""The nodes of a cluster, in place of a dump of them."""

from __future__ import annotations

from collections.abc import Sequence

from policykit.cli.live.session import reading, tell
from policykit.errors import SourceError
from policykit.kube.nodes import read as read_node
from policykit.live.access import Access
from policykit.live.kinds import NODE
from policykit.live.reading import Reading
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool


def cluster_of_nodes(access: Access) -> Cluster:
    """One pool per node. Raises ClusterError, and SourceError if there is none that may be read."""
    with reading(access) as read:
        found = nodes_as_cluster(read)
    tell(read)
    return found


def nodes_as_cluster(read: Reading) -> Cluster:
    """The same within a look at the cluster."""
    return as_cluster([read_node(item) for _, item in read.items((NODE,))], read)


def as_cluster(nodes: Sequence[Pool], read: Reading) -> Cluster:
    """Nodes that were read. Raises SourceError if there are none."""
    if not nodes:
        why = read.gaps[-1].reason if read.gaps else "it has none"
        raise SourceError(f"no nodes: {why}", "nodes are needed: see the ClusterRole in docs/live.md")
    return Cluster("nodes", tuple(nodes), observed=True, complete=True, source=read.client.server)
