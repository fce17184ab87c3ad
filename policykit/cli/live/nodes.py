"""The nodes of a cluster, in place of a dump of them."""

from __future__ import annotations

from policykit.cli.live.session import reading, tell
from policykit.errors import SourceError
from policykit.kube.nodes import read as read_node
from policykit.live.access import Access
from policykit.live.kinds import NODE
from policykit.live.reading import Reading
from policykit.model.cluster import Cluster


def cluster_of_nodes(access: Access) -> Cluster:
    """One pool per node. Raises ClusterError, and SourceError if there is none that may be read."""
    with reading(access) as read:
        found = nodes_as_cluster(read)
    tell(read)
    return found


def nodes_as_cluster(read: Reading) -> Cluster:
    """The same within a look at the cluster."""
    pools = tuple(read_node(item) for _, item in read.items((NODE,)))
    if not pools:
        why = read.gaps[-1].reason if read.gaps else "it has none"
        raise SourceError(f"no nodes: {why}", "nodes are needed: see the ClusterRole in docs/live.md")
    return Cluster("nodes", pools, observed=True, complete=True, source=read.client.server)
