"""Real nodes as a cluster: the output of `kubectl get nodes -o json`."""

from __future__ import annotations

from policykit.errors import SourceError
from policykit.kube.nodes import read as read_node
from policykit.linter.reader import decode
from policykit.manifests.document import manifests
from policykit.manifests.parser import parse
from policykit.model.cluster import Cluster
from policykit.sources.files import read


def cluster_of_nodes(path: str) -> Cluster:
    """One pool per Node object in a file (JSON or YAML, a List or many documents).

    Raises SourceError where it holds none.
    """
    text = decode(read(path))
    pools = tuple(
        read_node(manifest.data)
        for index, document in enumerate(parse(text.text))
        if document.root is not None and not document.problem
        for manifest in manifests(document.root, index)
        if manifest.kind == "Node"
    )
    if not pools:
        raise SourceError("holds no Node", "give it the output of `kubectl get nodes -o json`", path)
    return Cluster("nodes", pools, observed=True, complete=True, source=path)
