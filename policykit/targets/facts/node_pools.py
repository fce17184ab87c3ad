"""Facts about NodePools of Karpenter, and the pods that select them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.kube import affinity, tolerations
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import lookup
from policykit.model.references import DeclaredNodePool, NodePoolUse
from policykit.placement.owner import may_still_change

_GROUP = "karpenter.sh"
_LABEL = "karpenter.sh/nodepool"


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Source: `Template` of `pkg/apis/v1/nodepool.go` (Karpenter v1.6), whose nodes have the label."""
    if manifest.partial:
        return
    if manifest.kind == "NodePool" and manifest.group == _GROUP:
        taints = tolerations.read_taints(lookup(manifest.data, ("spec", "template", "spec", "taints")))
        yield Fact(DeclaredNodePool(manifest.name, taints), {}, answers=True)
    for pod_set in pod_sets:
        names = _selected(pod_set)
        if names and not any(map(is_placeholder, names)) and not may_still_change(manifest, pod_set):
            found = NodePoolUse(names, tolerations.read(pod_set.spec.get("tolerations")))
            yield Fact(found, {"tolerations": pod_set.place("tolerations")})


def _selected(pod_set: PodSet) -> tuple[str, ...]:
    """NodePools one of which every node must be of; none: others may be chosen."""
    read = affinity.read(pod_set.spec)
    if name := read.selector.get(_LABEL):
        return (name,)
    found: set[str] = set()
    for term in read.required or ():
        names = [each.values for each in term.expressions if each.key == _LABEL and each.operator == "In"]
        if not names:
            return ()
        found.update(names[0])
    return tuple(sorted(found))
