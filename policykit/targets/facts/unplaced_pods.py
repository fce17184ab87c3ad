"""Facts about the pools that take pods, and about objects that change pods at admission."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from policykit.kube.selectors import Requirement
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.shape import mapping, pairs
from policykit.model.pod_admission import RuntimeClassUse, UnplacedPods
from policykit.targets.facts.pod_changes import pod_changes

if TYPE_CHECKING:
    from policykit.kube.affinity import NodeAffinity
    from policykit.kube.podsets.podset import PodSet
    from policykit.model.cluster import Cluster
    from policykit.placement.landing import Landing
    from policykit.placement.review import Review


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterable[Fact]:
    """Of pods nothing unless a policy lists every pool."""
    cluster = context.cluster
    if cluster is None:
        return ()
    if not pod_sets:
        return pod_changes(manifest)
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
            reasons = tuple(f"{each.pool.name}: {each.detail}" for each in _reasons(found, cluster))
            value = UnplacedPods(manifest.namespace or namespace, len(reasons), reasons, dict(pod_set.labels))
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
    if is_for_unlisted_nodes(found.affinity, found.tolerations) and not _lists_them(found.affinity, cluster):
        return False
    answers = {selection(cluster, pool, found.affinity) for pool in cluster.pools}
    return True in answers or (answers == {False} and _is_combined(found.affinity, cluster))


def _lists_them(wanted: NodeAffinity, cluster: Cluster) -> bool:
    """Whether the policy has a pool of virtual nodes with a label that the pods select."""
    from policykit.kube.affinity import NodeAffinity
    from policykit.placement.policy_labels import is_for_unlisted_nodes, known_values

    return any(
        value in known_values(cluster, key) and is_for_unlisted_nodes(NodeAffinity({key: value}), ())
        for key, value in wanted.selector.items()
    )


def _is_combined(wanted: NodeAffinity, cluster: Cluster) -> bool:
    """Whether some pool meets each part of a selection. What no pool has is reported at its key or value, and
    what no node can have at its place.
    """
    from policykit.placement.label_values import contradiction
    from policykit.placement.landing import decide

    if any(contradiction(wanted.selector, term.expressions) for term in wanted.required or ()):
        return False
    terms = [Requirement(key, "In", (value,)) for key, value in wanted.selector.items()]
    terms += [each for term in wanted.required or () for each in term.expressions]
    return not any(term.fields for term in wanted.required or ()) and all(
        any(
            decide(cluster, pool, {**pool.labels, **shape.labels}, each) is True
            for pool in cluster.pools
            for shape in pool.shapes
        )
        for each in terms
        if each.operator not in ("NotIn", "DoesNotExist")
    )


def _reasons(found: Review, cluster: Cluster) -> Iterator[Landing]:
    """Of each pool, first of those that come nearest; where no pool meets the selection, that alone."""
    from policykit.placement.landing import best_of, selection

    selected = {pool.name: selection(cluster, pool, found.affinity) for pool in cluster.pools}
    combined = all(each is False for each in selected.values())

    def distance(landing: Landing) -> int:
        return 0 if landing.reason == "resources" else 1 if selected[landing.pool.name] is not False else 2

    for each in found.landings if combined else sorted(found.landings, key=distance):
        yield best_of(cluster, each.pool, found.affinity, found.requests) if combined else each
