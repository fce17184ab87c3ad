"""Required pod affinity: which pods its terms select, and terms that select none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policykit.kube import selectors
from policykit.kube.affinity import REQUIRED
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.kube.selectors import Requirement
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, pairs, texts
from policykit.model.references import AffinePods, AffinityTerm, EmptySelection, PlacedPods, SeparatePods
from policykit.namedtuple import NamedTuple
from policykit.placement.label_values import contradiction
from policykit.placement.owner import owner
from policykit.placement.policy_labels import is_for_unlisted_nodes
from policykit.placement.review import Review
from policykit.placement.topology import HOSTNAME


def terms(pod_set: PodSet, field: str = "podAffinity") -> tuple[AffinityTerm, ...]:
    """Required terms in their order. A key of matchLabelKeys counts with the value that the template has."""
    return tuple(_term(each, pod_set.labels) for _, each in _written(pod_set, field))


def _written(pod_set: PodSet, field: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    listed = mapping(mapping(pod_set.spec.get("affinity")).get(field)).get(REQUIRED)
    for at, one in enumerate(listed if isinstance(listed, list) else ()):
        yield at, mapping(one)


def _term(written: Mapping[str, Any], own: Mapping[str, str]) -> AffinityTerm:
    key = written.get("topologyKey")
    wanted = [(each.key, each.operator, each.values) for each in _selector(written.get("labelSelector"))]
    for name in texts(written.get("matchLabelKeys")):
        wanted += [(name, "In", (own[name],))] if name in own else []
    for name in texts(written.get("mismatchLabelKeys")):
        wanted += [(name, "NotIn", (own[name],))] if name in own else []
    return AffinityTerm(
        key if isinstance(key, str) else "",
        tuple(wanted),
        texts(written.get("namespaces")),
        written.get("namespaceSelector") is not None,
    )


def _selector(written: object) -> list[Requirement]:
    selector = mapping(written)
    labels = [Requirement(key, "In", (value,)) for key, value in pairs(selector.get("matchLabels")).items()]
    return [*labels, *selectors.read_all(selector.get("matchExpressions"))]


def empty_selections(pod_set: PodSet) -> Iterator[tuple[Path, EmptySelection]]:
    """Terms without a selector, and terms of affinity that contradict each other.

    A pod is near enough only if it matches all terms. Source: `podMatchesAllAffinityTerms` and
    `satisfyPodAffinity` in the plugin InterPodAffinity, `LabelSelectorAsSelector` of apimachinery (v1.36).
    """
    for field, waits in (("podAffinity", True), ("podAntiAffinity", False)):
        for at, one in _written(pod_set, field):
            if one.get("topologyKey") and one.get("labelSelector") is None:
                fault = "it is never met, so the pods stay pending" if waits else "it keeps no pods apart"
                message = f"a term without labelSelector selects no pods: {fault}"
                yield pod_set.place("affinity", field, REQUIRED, at), EmptySelection(message, waits)
    wanted = [
        (at, each)
        for at, one in _written(pod_set, "podAffinity")
        for each in _selector(one.get("labelSelector"))
    ]
    known = [
        (at, each)
        for at, each in wanted
        if not (selectors.problem(each) or any(map(is_placeholder, (each.key, *each.values))))
    ]
    clash = contradiction({}, [each for _, each in known])
    if clash is not None:
        at, later = known[clash[0]]
        path = pod_set.place("affinity", "podAffinity", REQUIRED, at, "labelSelector")
        alone = all(number == at for number, _ in known)
        together = "" if alone else "a pod counts only if all terms match it, but "
        message = f"{together}no pod has both {_shown(clash[1])} and {_shown(later)}: these stay pending"
        yield path, EmptySelection(message, waits=True)


def _shown(requirement: Requirement) -> str:
    if requirement.operator == "In" and len(requirement.values) == 1:
        return f"{requirement.key}: {requirement.values[0]}"
    return str(requirement)


def placed(review: Review) -> PlacedPods:
    """The pods of a template; their pools under a policy that lists every pool."""
    manifest, pod_set, cluster = review.manifest, review.pod_set, review.cluster
    own = owner(manifest, pod_set).namespace
    what = f"{manifest.kind} {manifest.name}".strip()
    stated = bool(own) or review.namespace != "default"
    pods = PlacedPods("", own or review.namespace, stated, what, pod_set.labels)
    if cluster is None or not cluster.complete:
        return pods
    listed = not is_for_unlisted_nodes(review.affinity, review.tolerations)
    made = pod_set.replicas != 0 and not pod_set.stored
    return pods._replace(
        policy=cluster.name,
        request=review.requests,
        pools=tuple(pool.name for pool in review.possible_pools),
        certain=review.is_final and listed and made,
        everywhere=_everywhere(review) if pod_set.per_node else (),
    )


def _everywhere(review: Review) -> tuple[str, ...]:
    """Pools with nodes of one kind that accept the pods; a selection of nodes by name may leave some out."""
    if any(term.fields for term in review.affinity.required or ()) or HOSTNAME in review.affinity.selector:
        return ()
    return tuple(each.pool.name for each in review.landings if each.accepts and len(each.pool.shapes) == 1)


def affine(review: Review) -> AffinePods | None:
    """None: the pods need no others. The first of pods that their own terms select needs none."""
    wanted = terms(review.pod_set)
    if not wanted:
        return None
    own = placed(review)
    near = all(reaches(each, own, own.namespace, own.stated_namespace) is not False for each in wanted)
    alone = not near or selects(wanted, own.labels, Maker("", "Pod", "")) is False
    return AffinePods(own, wanted) if alone else None


def separate(review: Review) -> SeparatePods | None:
    """None: the pods may be near any others."""
    wanted = terms(review.pod_set, "podAntiAffinity")
    return SeparatePods(placed(review), wanted) if wanted else None


_BUILT_IN = frozenset({"", "apps", "batch"})
"""API groups of the objects that Kubernetes makes pods for."""
_OF_BUILT_IN = ("apps.kubernetes.io/", "batch.kubernetes.io/", "statefulset.kubernetes.io/")
_ALSO = frozenset({"controller-revision-hash", "controller-uid", "job-name", "pod-template-hash"})


class Maker(NamedTuple):
    """The object that makes pods."""

    group: str
    kind: str
    name: str

    def may_add(self, key: str) -> bool:
        """Whether it may give its pods a label that their template lacks, whatever the value."""
        if self.group in _BUILT_IN:
            return self.kind != "Pod" and (key in _ALSO or key.startswith(_OF_BUILT_IN))
        return "/" in key

    def may_name(self, value: str) -> bool:
        """Whether it may give them a label with this value: operators write the name of their object."""
        return self.group not in _BUILT_IN and bool(self.name) and self.name in value


def selects(wanted: Sequence[AffinityTerm], labels: Mapping[str, str], maker: Maker) -> bool | None:
    """Whether all terms select pods whose template has these labels; None: unknown."""
    answer: bool | None = True
    for term in wanted:
        for key, operator, values in term.expressions:
            there, requirement = labels.get(key), Requirement(key, operator, values)
            added = there is None and (maker.may_add(key) or any(map(maker.may_name, values)))
            if added or any(map(is_placeholder, (there, *values))) or selectors.problem(requirement):
                answer = None
            elif not selectors.matches(requirement, labels):
                return False
    return answer


def reaches(term: AffinityTerm, own: PlacedPods, namespace: str, stated: bool) -> bool | None:
    """Whether a term selects in a namespace; `stated`: whether it is known to be that one. None: unknown."""
    wanted = term.namespaces or (own.namespace,)
    alike = not term.namespaces and not stated and not own.stated_namespace
    known = alike or (stated and (bool(term.namespaces) or own.stated_namespace))
    if not known or any(map(is_placeholder, (namespace, *wanted))):
        return None
    return True if namespace in wanted else None if term.selected else False
