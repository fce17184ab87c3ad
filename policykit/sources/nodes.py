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

    Raises SourceError where it holds none, and at the first place that is not YAML.
    """
    return cluster_of(read(path), path)


def cluster_of(raw: bytes, path: str) -> Cluster:
    """The same for the content of a file; `path` is shown with what is wrong in it."""
    documents = list(parse(decode(raw).text))
    for document in documents:
        if document.problem:
            place = f"{path}:{document.problem.line + 1}:{document.problem.column + 1}"
            raise SourceError(f"not YAML: {document.problem.message}", "was all of it saved?", place)
    pools = tuple(
        read_node(manifest.data)
        for index, document in enumerate(documents)
        if document.root is not None
        for manifest in manifests(document.root, index)
        if manifest.kind == "Node"
    )
    if not pools:
        raise SourceError("holds no Node", "give it the output of `kubectl get nodes -o json`", path)
    return Cluster("nodes", pools, observed=True, complete=True, source=path)
