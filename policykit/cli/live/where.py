"""`policykit where --live`: the pods of a cluster."""

from __future__ import annotations

from policykit import api
from policykit.cli.live.nodes import nodes_as_cluster
from policykit.cli.live.session import reading, tell
from policykit.gates.pod_gates import Answer
from policykit.linter.scope import AnyFact
from policykit.live.access import Access
from policykit.live.kinds import Role, of_roles
from policykit.model.cluster import Cluster
from policykit.placement.review import Review


def answers(access: Access, cluster: Cluster | None) -> list[Answer]:
    """Every pod set, under a policy; without one, on the nodes that are there. Raises ClusterError."""
    with reading(access) as read:
        cluster = cluster or nodes_as_cluster(read)
        reviews: list[tuple[str, Review]] = []
        facts: list[AnyFact] = []
        for each in read.objects(of_roles(Role.WORKLOADS, Role.QUOTAS)):
            reviews.extend((each.name, review) for review in api.where(each.text, cluster))
            facts.extend(api.facts(each.name, each.text, cluster))
    tell(read)
    return list(api.answers(reviews, facts, cluster, complete=False))
