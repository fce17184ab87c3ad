"""`policykit where --live`: the pods of a cluster."""

from __future__ import annotations

from policykit import api
from policykit.cli.live.inspection import system_namespaces
from policykit.cli.live.nodes import as_cluster
from policykit.cli.live.session import reading, tell
from policykit.gates.pod_gates import Answer
from policykit.kube.nodes import read as read_node
from policykit.linter.scope import AnyFact
from policykit.live.access import Access
from policykit.live.kinds import NODE, Role, kinds
from policykit.live.objects import LiveObject
from policykit.live.reading import Reading
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool
from policykit.placement.review import Review


def answers(access: Access, cluster: Cluster | None) -> list[Answer]:
    """Every pod set, under a policy; without one, on the nodes that are there. Raises ClusterError."""
    with reading(access) as read:
        found = _answers(read, cluster)
    tell(read)
    return found


def _answers(read: Reading, cluster: Cluster | None) -> list[Answer]:
    reviewed: list[tuple[str, Review]] = []
    facts: list[AnyFact] = []
    nodes: list[Pool] = []
    for each in read.objects(kinds(), system_namespaces(cluster)):
        if each.resource.kind == NODE:
            nodes.append(read_node(each.data))
            continue
        # Nodes come first.
        cluster = cluster or as_cluster(nodes, read)
        add(each, cluster, reviewed, facts)
    return [*api.answers(reviewed, facts, cluster, complete=read.complete)] if cluster else []


def add(each: LiveObject, cluster: Cluster, reviewed: list[tuple[str, Review]], facts: list[AnyFact]) -> None:
    """Adds the pod sets and the facts of an object."""
    raw = each.text
    facts += api.facts(each.name, raw, cluster)
    if each.resource.kind.role is Role.WORKLOADS:
        reviewed += [(each.name, review) for review in api.where(raw, cluster)]
