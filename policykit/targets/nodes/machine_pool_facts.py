"""Facts about Karpenter's NodePools, and about pods that select nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from policykit.catalogue import labels
from policykit.kube import affinity, requests, selectors, tolerations
from policykit.kube.autoscaling import POD_PER_REPLICA
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest, texts
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, mappings, text, whole
from policykit.model.machine_pools import (
    Expression,
    KnownLabels,
    MachinePool,
    NodeClassPods,
    NodeDaemons,
    NodePoolUse,
    WantedNodes,
)
from policykit.placement.owner import may_change_after_admission, may_still_change

POOL_KEYS = ("karpenter.sh/nodepool", "karpenter.sh/provisioner-name")
"""Labels that Karpenter gives nodes, with the name of their NodePool or Provisioner."""
INSTANCE_TYPES = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
NOW_CALLED = {
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
}
"""Former keys of labels, which Karpenter takes for the present ones. Source: `NormalizedLabels` (v1.6)."""
_OWN = frozenset((*POOL_KEYS, *INSTANCE_TYPES))
_GROUP = "karpenter.sh"
_NODE_GROUPS = ("managedNodeGroups", "nodeGroups")
_TEMPLATES: dict[str, tuple[Path, Path]] = {
    "NodePool": (("spec", "template", "metadata", "labels"), ("spec", "template", "spec")),
    "Provisioner": (("spec", "labels"), ("spec",)),
}
"""Kind to the paths of its labels, and of what has requirements and taints."""
_LIMITS: dict[str, Path] = {"NodePool": ("spec", "limits"), "Provisioner": ("spec", "limits", "resources")}
_MAX_PODS: dict[str, Path] = {
    "NodePool": ("spec", "template", "spec", "kubelet", "maxPods"),
    "Provisioner": ("spec", "kubeletConfiguration", "maxPods"),
}
_CLASSES: dict[str, Path] = {
    "AKSNodeClass": ("spec", "maxPods"),
    "EC2NodeClass": ("spec", "kubelet", "maxPods"),
}
"""Kind to the pods on each node. Source: the CRDs of Karpenter's providers (AWS 1.8, Azure 1.6)."""
_REPLICAS: Path = ("spec", "replicas")


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterable[Fact]:
    """Of a NodePool, a Node, or pods."""
    if manifest.kind in _TEMPLATES and manifest.group == _GROUP:
        yield _pool(manifest)
        return
    if manifest.kind in _CLASSES:
        most = whole(lookup(manifest.data, _CLASSES[manifest.kind]))
        if most is not None:
            yield Fact(NodeClassPods(manifest.name, most), {"max_pods": _CLASSES[manifest.kind]})
        return
    if pod_sets:
        for pod_set in () if manifest.partial else pod_sets:
            yield from _wanted(manifest, pod_set, context)
            if (
                manifest.kind == "DaemonSet"
                and not {"nodeSelector", "affinity", "nodeName"} & pod_set.spec.keys()
            ):
                found = tolerations.read(pod_set.spec.get("tolerations"))
                yield Fact(NodeDaemons(found), {}, answers=True)
        return
    if manifest.group == "eksctl.io":
        keys = _of_node_groups(manifest)
    else:
        from policykit.targets.nodes import node_settings

        keys = frozenset(key for marks in node_settings.read(manifest) for key in marks.labels)
    if keys:
        yield Fact(KnownLabels(keys), {}, answers=True)


def _of_node_groups(manifest: Manifest) -> frozenset[str]:
    """Source: `ClusterConfig` of eksctl.io/v1alpha5."""
    groups = [each for field in _NODE_GROUPS for each in mappings(manifest.data.get(field))]
    return frozenset(key for group in groups for key in texts(group.get("labels")))


def _pool(manifest: Manifest) -> Fact:
    """Source: `apis/v1` of Karpenter (0.32 to 1.8); taints at startup are gone before pods are placed."""
    at, template = _TEMPLATES[manifest.kind]
    name_key = POOL_KEYS[0] if manifest.kind == "NodePool" else POOL_KEYS[1]
    value = MachinePool(
        manifest.name,
        manifest.kind,
        {**texts(lookup(manifest.data, at)), name_key: manifest.name},
        tuple(
            one._replace(key=NOW_CALLED.get(one.key, one.key))
            for one in _expressions(selectors.read_all(lookup(manifest.data, (*template, "requirements"))))
        ),
        tolerations.read_taints(lookup(manifest.data, (*template, "taints"))),
        requests.amounts(lookup(manifest.data, _LIMITS[manifest.kind])),
        _node_class(lookup(manifest.data, template)),
        whole(lookup(manifest.data, _MAX_PODS[manifest.kind])),
    )
    return Fact(value, {"name": ("metadata", "name"), "max_pods": _MAX_PODS[manifest.kind]})


def _node_class(template: object) -> str:
    refers = mapping(mapping(template).get("nodeClassRef")) or mapping(mapping(template).get("providerRef"))
    return text(refers.get("name"))


def _wanted(manifest: Manifest, pod_set: PodSet, context: Context) -> Iterator[Fact]:
    """Of pods that select a label which is not every cluster's.

    Without cards, a NodePool, or an instance type they are of interest only where a NodePool is, and by their
    nodeSelector: affinity is most often to labels of a policy.
    """
    if pod_set.per_node or not ("nodeSelector" in pod_set.spec or "affinity" in pod_set.spec):
        return
    from policykit.placement.review import review

    found = review(manifest, pod_set, context.cluster, context.namespace)
    selected = found.affinity
    terms = selected.required or ()
    keys = [*selected.selector, *[one.key for term in terms for one in term.expressions]]
    if not any(map(is_chosen, keys)) or (
        found.may_still_change and may_change_after_admission(manifest, pod_set)
    ):
        return
    asked = {name: found.requests[name] for name in found.card_resources} if found.card_resources else {}
    if not (asked or selected.selector or not _OWN.isdisjoint(keys)):
        return
    places = {f"selector.{key}": pod_set.place("nodeSelector", key) for key in selected.selector}
    if terms or not places:
        places["affinity"] = pod_set.place("affinity")
    if asked:
        places |= _requests(pod_set, asked)
    value = WantedNodes(
        selected.selector,
        tuple([_expressions(term.expressions) for term in terms]),
        found.tolerations,
        asked,
        not found.may_still_change,
    )
    yield Fact(value, places, answers=not asked and _OWN.isdisjoint(keys))


def uses(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Of pods that select NodePools by name."""
    for pod_set in () if manifest.partial else pod_sets:
        names = _named(pod_set)
        if names and not any(map(is_placeholder, names)) and not may_still_change(manifest, pod_set):
            together = manifest.kind in POD_PER_REPLICA and not pod_set.owner
            asked = requests.effective(pod_set.spec, pod_set.devices)
            own = tolerations.read(pod_set.spec.get("tolerations"))
            found = NodePoolUse(
                names,
                (*own, *tolerations.of_resources(asked)),
                (pod_set.replicas or 1) if together or pod_set.synchronous else 1,
                asked,
            )
            stated = together and lookup(manifest.data, _REPLICAS) is not None
            pods = _REPLICAS if stated else pod_set.path
            yield Fact(found, {"tolerations": pod_set.place("tolerations"), "pods": pods})


def _named(pod_set: PodSet) -> tuple[str, ...]:
    """NodePools one of which every node must be of; none: others may be chosen."""
    read = affinity.read(pod_set.spec)
    if name := read.selector.get(POOL_KEYS[0]):
        return (name,)
    found: set[str] = set()
    for term in read.required or ():
        names = [
            each.values for each in term.expressions if each.key == POOL_KEYS[0] and each.operator == "In"
        ]
        if not names:
            return ()
        found.update(names[0])
    return tuple(sorted(found))


def _requests(pod_set: PodSet, asked: Mapping[str, int]) -> dict[str, Path]:
    """Where the first container with each resource requests it."""
    places: dict[str, Path] = {}
    for field, position, container in requests.containers(pod_set.spec):
        for name in requests.requested(container):
            if name in asked:
                places.setdefault(f"card.{name}", pod_set.place(field, position, "resources"))
    return places


def _expressions(found: Iterable[selectors.Requirement]) -> tuple[Expression, ...]:
    return tuple([Expression(*each) for each in found if each.key])


@lru_cache(maxsize=1024)
def is_chosen(key: str) -> bool:
    """Whether an administrator gives nodes the label, or it names a NodePool or an instance type."""
    if key in _OWN:
        return True
    return not (labels.well_known(key) or labels.provider(key) or labels.discovery(key))
