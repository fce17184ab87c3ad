"""Real nodes as a cluster: the output of `kubectl get nodes -o json`."""

from __future__ import annotations

from policykit.errors import SourceError
from policykit.importer.documents import objects, text
from policykit.kube.nodes import read as read_node
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool
from policykit.workspace.files import read


def cluster_of_nodes(path: str) -> Cluster:
    """One pool per Node object in a file (JSON or YAML, a List or many documents).

    Raises SourceError where it holds none, and at the first place that is not YAML.
    """
    return cluster_of(read(path), path)


def cluster_of(raw: bytes, path: str) -> Cluster:
    """The same for the content of a file; `path` is shown with what is wrong in it."""
    pools: dict[str, Pool] = {}
    for manifest in objects(text(raw, path), path):
        if manifest.kind == "Node":
            node = read_node(manifest.data)
            pools.setdefault(node.name, node)
    if not pools:
        raise SourceError("contains no Node objects", "pass the output of `kubectl get nodes -o json`", path)
    return Cluster("nodes", tuple(pools.values()), observed=True, complete=True, source=path)
