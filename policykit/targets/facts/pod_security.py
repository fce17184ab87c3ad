"""Facts about pods that the pod security standard of a namespace may forbid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.kube.placeholders import is_placeholder
from policykit.kube.pod_security import forbidden
from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.model.pod_admission import PrivilegedPods


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """One of each template, at the first of the causes."""
    from policykit.placement.owner import owner

    for pod_set in pod_sets if not manifest.partial else ():
        found = [*forbidden(pod_set)] if not pod_set.stored else []
        namespace = owner(manifest, pod_set).namespace or context.namespace
        if found and not is_placeholder(namespace):
            causes = tuple(dict.fromkeys(what for _, what in found))
            yield Fact(PrivilegedPods(namespace, causes), {"cause": found[0][0]})
