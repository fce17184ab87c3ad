"""`policykit where --live`: the pods of a cluster."""

from __future__ import annotations

from collections.abc import Iterator

from policykit import api
from policykit.cli.live.nodes import nodes_as_cluster
from policykit.cli.live.session import reading, tell
from policykit.gates.pod_gates import Answer
from policykit.linter.scope import AnyFact
from policykit.live.access import Access
from policykit.live.kinds import Role, of_roles
from policykit.model.cluster import Cluster
from policykit.placement.review import Review


def answers(access: Access, cluster: Cluster | None) -> Iterator[Answer]:
    """Every pod set, under a policy; without one, on the nodes that are there. Raises ClusterError."""
    reviews: list[tuple[str, Review]] = []
    facts: list[AnyFact] = []
    with reading(access) as read:
        cluster = cluster or nodes_as_cluster(read)
        for each in read.objects(of_roles(Role.QUOTAS, Role.WORKLOADS)):
            reviews.extend((each.name, review) for review in api.where(each.text, cluster))
            facts.extend(api.facts(each.name, each.text, cluster))
    tell(read)
    # What one may not read is absent here and yet exists.
    return api.answers(reviews, facts, cluster, complete=False)
