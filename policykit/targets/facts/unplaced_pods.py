"""Facts about the pools that take pods, and about objects that change pods at admission."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.shape import mapping, mappings, pairs
from policykit.model.pod_admission import PodMutation, RuntimeClassUse, UnplacedPods

if TYPE_CHECKING:
    from policykit.kube.podsets.podset import PodSet
    from policykit.model.cluster import Cluster
    from policykit.placement.review import Review

_MUTATING = frozenset(
    {
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"),
        ("config.koordinator.sh", "ClusterColocationProfile"),
        ("kyverno.io", "ClusterPolicy"),
        ("kyverno.io", "Policy"),
    }
)
_OF_NAMESPACES = (
    "scheduler.alpha.kubernetes.io/defaultTolerations",
    "scheduler.alpha.kubernetes.io/node-selector",
)
"""Annotations that admission plugins PodTolerationRestriction and PodNodeSelector read."""


_PLACES = re.compile(r"toleration|nodeSelector|[aA]ffinity|schedulerName|runtimeClassName")
"""What a change of pods must mention to place them elsewhere."""
_NAMESPACED = ("kyverno.io", "Policy")


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterable[Fact]:
    """Of pods nothing unless a policy lists every pool."""
    cluster = context.cluster
    if cluster is None:
        return ()
    if not pod_sets:
        return _mutations(manifest)
    return _unplaced(manifest, pod_sets, cluster, context.namespace) if cluster.complete else ()


def runtime_classes(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Of a RuntimeClass, and of the pods that name one."""
    from policykit.kube import runtime_classes as classes

    if manifest.kind == "RuntimeClass":
        if manifest.group == "node.k8s.io" and not manifest.partial:
            yield Fact(classes.read(manifest.data), {}, answers=True)
        return
    for pod_set in pod_sets:
        if name := classes.named(pod_set):
            selector = pairs(pod_set.spec.get("nodeSelector"))
            overhead = {key: str(each) for key, each in mapping(pod_set.spec.get("overhead")).items()}
            places = {
                "name": pod_set.place(classes.FIELD),
                **{f"nodeSelector.{key}": pod_set.place("nodeSelector", key) for key in selector},
                "overhead": pod_set.place("overhead"),
            }
            plain = name in classes.PLAIN and not (selector or overhead)
            yield Fact(RuntimeClassUse(name, selector, overhead), places, answers=plain)


def _mutations(manifest: Manifest) -> Iterator[Fact]:
    kind, name = (manifest.group, manifest.kind), f"{manifest.kind} {manifest.name}"
    if kind in _MUTATING and _may_place(manifest):
        namespace = manifest.namespace if kind == _NAMESPACED else ""
        yield Fact(PodMutation(namespace, name), {}, answers=True)
    elif kind == ("kueue.x-k8s.io", "LocalQueue") and manifest.name == "default":
        # Kueue gives jobs that name no queue this one: its gate LocalQueueDefaulting.
        yield Fact(PodMutation(manifest.namespace, name), {}, answers=True)
    elif kind == ("config.kueue.x-k8s.io", "Configuration"):
        if manifest.data.get("manageJobsWithoutQueueName") is True:
            yield Fact(PodMutation("", "Kueue, which manages jobs without a queue"), {}, answers=True)
    elif manifest.kind == "Namespace" and any(key in manifest.annotations for key in _OF_NAMESPACES):
        yield Fact(PodMutation(manifest.name, name), {}, answers=True)


def _may_place(manifest: Manifest) -> bool:
    """Whether it changes what decides where pods go. Rules of Kyverno that validate or generate do not."""
    spec = mapping(manifest.data.get("spec"))
    if manifest.group == "kyverno.io":
        changes: object = [rule.get("mutate") for rule in mappings(spec.get("rules"))]
    else:
        changes = spec
    return any(_PLACES.search(word) for word in _words(changes))


def _words(data: object) -> Iterator[str]:
    """All keys and strings."""
    pending = [data]
    while pending:
        one = pending.pop()
        if isinstance(one, dict):
            yield from (key for key in one if isinstance(key, str))
            pending.extend(one.values())
        elif isinstance(one, list):
            pending.extend(one)
        elif isinstance(one, str):
            yield one


def _unplaced(
    manifest: Manifest, pod_sets: Sequence[PodSet], cluster: Cluster, namespace: str
) -> Iterator[Fact]:
    from policykit.placement.pod_affinity import placed
    from policykit.placement.review import review

    for pod_set in pod_sets:
        found = review(manifest, pod_set, cluster, namespace)
        if not manifest.partial:
            yield Fact(placed(found), {}, answers=True)
        if not (pod_set.per_node or pod_set.stored) and _is_unplaced(found):
            reasons = tuple(f"{landing.pool.name}: {landing.detail}" for landing in found.landings)
            value = UnplacedPods(manifest.namespace or namespace, len(reasons), reasons)
            yield Fact(value, {"pods": pod_set.path})


def _is_unplaced(found: Review) -> bool:
    """Pods with cards or a workload kind have rules of their own; so has a selection that no pool meets."""
    from policykit.placement.landing import selection
    from policykit.placement.policy_labels import is_for_unlisted_nodes

    cluster = found.cluster
    if cluster is None or found.eligible_pools is not None or found.candidates or not found.landings:
        return False
    if not found.is_final or found.is_system_pod or any(each.verdict != "refused" for each in found.landings):
        return False
    if is_for_unlisted_nodes(found.affinity, found.tolerations):
        return False
    return any(selection(cluster, pool, found.affinity) is True for pool in cluster.pools)
