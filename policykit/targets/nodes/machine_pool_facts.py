"""Facts about Karpenter's NodePools, and about pods that select nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from policykit.catalogue import labels
from policykit.kube import affinity, requests, selectors, tolerations
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest, texts
from policykit.manifests.path import Path, lookup
from policykit.model.machine_pools import Expression, KnownLabels, MachinePool, WantedNodes
from policykit.targets.nodes import node_settings

POOL_KEYS = ("karpenter.sh/nodepool", "karpenter.sh/provisioner-name")
"""Labels that Karpenter gives nodes, with the name of their NodePool or Provisioner."""
INSTANCE_TYPES = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
_GROUP = "karpenter.sh"
_TEMPLATES: dict[str, tuple[Path, Path]] = {
    "NodePool": (("spec", "template", "metadata", "labels"), ("spec", "template", "spec")),
    "Provisioner": (("spec", "labels"), ("spec",)),
}
"""Kind to the paths of its labels, and of what has requirements and taints."""


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterable[Fact]:
    """Of a NodePool, a Node, or pods."""
    if manifest.kind in _TEMPLATES and manifest.group == _GROUP:
        yield _pool(manifest)
        return
    keys = frozenset(key for marks in node_settings.read(manifest) for key in marks.labels)
    if keys:
        yield Fact(KnownLabels(keys), {}, answers=True)
    for pod_set in () if manifest.partial else pod_sets:
        yield from _wanted(manifest, pod_set)


def _pool(manifest: Manifest) -> Fact:
    """Source: `apis/v1` of Karpenter (0.32 to 1.8); taints at startup are gone before pods are placed."""
    at, template = _TEMPLATES[manifest.kind]
    name_key = POOL_KEYS[0] if manifest.kind == "NodePool" else POOL_KEYS[1]
    value = MachinePool(
        manifest.name,
        manifest.kind,
        {**texts(lookup(manifest.data, at)), name_key: manifest.name},
        _expressions(selectors.read_all(lookup(manifest.data, (*template, "requirements")))),
        tolerations.read_taints(lookup(manifest.data, (*template, "taints"))),
    )
    return Fact(value, {"name": ("metadata", "name")}, answers=True)


def _wanted(manifest: Manifest, pod_set: PodSet) -> Iterator[Fact]:
    """Of pods that select a label which is not every cluster's."""
    if pod_set.per_node or not (pod_set.spec.get("nodeSelector") or pod_set.spec.get("affinity")):
        return
    selected = affinity.read(pod_set.spec)
    expressions = [one for term in selected.required or () for one in term.expressions]
    words = [*selected.selector, *selected.selector.values(), *(one.key for one in expressions)]
    if not any(is_chosen(key) for key in (*selected.selector, *(one.key for one in expressions))):
        return
    if any(map(is_placeholder, (*words, *(value for one in expressions for value in one.values)))):
        return
    from policykit.placement.owner import may_change_after_admission, may_still_change
    from policykit.placement.policy_labels import is_for_unlisted_nodes

    tolerated = tolerations.read(pod_set.spec.get("tolerations"))
    if may_change_after_admission(manifest, pod_set) or is_for_unlisted_nodes(selected, tolerated):
        return
    asked: dict[str, int] = {}
    places = {f"selector.{key}": pod_set.place("nodeSelector", key) for key in selected.selector}
    for field, position, container in requests.containers(pod_set.spec):
        for name, amount in requests.requested(container).items() if field == "containers" else ():
            if "/" in name and amount > 0:
                asked[name] = asked.get(name, 0) + amount
                places.setdefault(f"card.{name}", pod_set.place(field, position, "resources"))
    settled = not may_still_change(manifest, pod_set)
    terms = tuple(_expressions(term.expressions) for term in selected.required or ())
    value = WantedNodes(selected.selector, terms, tolerated, asked, settled)
    places |= {field: pod_set.place(field) for field in ("affinity", "tolerations")}
    yield Fact(value, places)


def _expressions(found: Iterable[selectors.Requirement]) -> tuple[Expression, ...]:
    return tuple(Expression(*each) for each in found if each.key)


def is_chosen(key: str) -> bool:
    """Whether an administrator gives nodes the label, or it names a NodePool or an instance type."""
    if key in POOL_KEYS or key in INSTANCE_TYPES:
        return True
    return not (labels.well_known(key) or labels.provider(key) or labels.discovery(key))
