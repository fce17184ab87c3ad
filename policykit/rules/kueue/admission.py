"""Which ClusterQueue admits the workloads of a LocalQueue, as far as the files of a scope say."""

from __future__ import annotations

from collections.abc import Callable

from policykit.linter.scope import Scope
from policykit.model.kueue import DeclaredClusterQueue, DeclaredLocalQueue


def cluster_queues(scope: Scope) -> Callable[[str, str], DeclaredClusterQueue | None]:
    """From the namespace and name of a LocalQueue to its ClusterQueue; None: a file that is not there, or not
    whole, has one of them, or several files have one each, of which the user applies one."""
    local: dict[tuple[str, str], str | None] = {}
    for each in scope.of(DeclaredLocalQueue):
        named, key = each.value.cluster_queue, (each.value.namespace, each.value.name)
        local[key] = named if local.get(key, named) == named else None
    queues: dict[str, DeclaredClusterQueue | None] = {}
    for found in scope.of(DeclaredClusterQueue):
        if not found.partial:
            one = found.value
            queues[one.name] = one if queues.get(one.name, one) == one else None

    def of(namespace: str, name: str) -> DeclaredClusterQueue | None:
        named = local.get((namespace, name))
        return queues.get(named) if named else None

    return of
