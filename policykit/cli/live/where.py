"""`policykit where --live`: the pods of a cluster."""

from __future__ import annotations

from policykit import api
from policykit.cli.live.nodes import nodes_as_cluster
from policykit.cli.live.session import reading, tell
from policykit.live.access import Access
from policykit.live.kinds import Role, of_roles
from policykit.model.cluster import Cluster
from policykit.placement.review import Review


def reviews(access: Access, cluster: Cluster | None) -> list[tuple[str, Review]]:
    """Every pod set, under a policy; without one, on the nodes that are there. Raises ClusterError."""
    with reading(access) as read:
        cluster = cluster or nodes_as_cluster(read)
        found = [
            (each.name, review)
            for each in read.objects(of_roles(Role.WORKLOADS))
            for review in api.where(each.text, cluster)
        ]
    tell(read)
    return found
