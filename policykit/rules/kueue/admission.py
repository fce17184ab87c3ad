"""Which ClusterQueue admits the workloads of a LocalQueue, as far as the files of a scope say."""

from __future__ import annotations

from collections.abc import Callable

from policykit.linter.scope import Scope
from policykit.model.kueue import DeclaredClusterQueue, DeclaredLocalQueue


def cluster_queues(scope: Scope) -> Callable[[str, str], DeclaredClusterQueue | None]:
    """From the namespace and name of a LocalQueue to its ClusterQueue; None: a file that is not there, or not
    whole, has one of them."""
    local = {(each.value.namespace, each.value.name): each.value for each in scope.of(DeclaredLocalQueue)}
    queues = {each.value.name: each.value for each in scope.of(DeclaredClusterQueue) if not each.partial}

    def of(namespace: str, name: str) -> DeclaredClusterQueue | None:
        named = local.get((namespace, name))
        return queues.get(named.cluster_queue) if named else None

    return of
