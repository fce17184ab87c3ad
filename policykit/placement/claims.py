"""Claims for volumes that pods of a template mount."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.placeholders import is_placeholder
from policykit.kube.rollouts import adds_first
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, text, whole
from policykit.model.volumes import ClaimUse
from policykit.placement.capacity import pods_on
from policykit.placement.owner import owner
from policykit.placement.policy_labels import is_for_unlisted_nodes
from policykit.placement.review import Review
from policykit.placement.topology import HOSTNAME, apart_on_nodes, selects_own

_LASTING = frozenset({("apps", "Deployment"), ("apps", "StatefulSet"), ("apps", "DaemonSet")})
_IN_TURN = frozenset({("batch", "Job"), ("batch", "CronJob")})


def claim_uses(review: Review) -> Iterator[tuple[Path, ClaimUse]]:
    """Each with the path of its name, or of its class."""
    found = [*_claims(review)]
    if not found or review.pod_set.stored or review.manifest.partial:
        return
    manifest, replicas, cluster = review.manifest, review.pod_set.replicas, review.cluster
    known = cluster is not None and (cluster.complete or bool(review.card_resources))
    elsewhere = review.selects_unlisted_pool or is_for_unlisted_nodes(review.affinity, review.tolerations)
    spec = review.pod_set.spec
    common = ClaimUse(
        owner(manifest, review.pod_set).namespace or review.namespace,
        f"{manifest.kind} {manifest.name}".strip(),
        replicas,
        "",
        policy=cluster.name if cluster else "",
        pools=tuple(pool.name for pool in review.possible_pools),
        apart=_apart(review),
        adds_first=adds_first(manifest.data, manifest.group, manifest.kind, replicas or 0),
        closed=known and review.is_final and not elsewhere,
        together=review.pod_set.name if review.pod_set.synchronous else "",
        lasting=(manifest.group, manifest.kind) in _LASTING and replicas != 0,
        in_turn=(manifest.group, manifest.kind) in _IN_TURN,
        each_node=review.pod_set.per_node,
        selected=_selected(review),
        side_by_side=_side_by_side(review),
        recurs=(manifest.group, manifest.kind) == ("batch", "CronJob") or _is_kept(manifest.kind, spec),
        unscheduled=manifest.kind != "Pod" and _is_named(spec.get("nodeName")),
    )
    named: tuple[str, ...] = ()
    for path, claim, storage_class, read_only in found:
        yield (
            path,
            common._replace(claim=claim, storage_class=storage_class, read_only=read_only, beside=named),
        )
        named = (*named, claim) if claim and claim not in named else named


def _claims(review: Review) -> Iterator[tuple[Path, str, str, bool]]:
    """Path, name of the claim, class of claims that each pod gets, and whether it is only read."""
    manifest, pod_set = review.manifest, review.pod_set
    listed = pod_set.spec.get("volumes")
    for at, volume in enumerate(listed if isinstance(listed, list) else ()):
        source = mapping(mapping(volume).get("persistentVolumeClaim"))
        name = text(source.get("claimName"))
        if name and not is_placeholder(name):
            place = pod_set.place("volumes", at, "persistentVolumeClaim", "claimName")
            yield place, name, "", source.get("readOnly") is True
        template = lookup(volume, ("ephemeral", "volumeClaimTemplate", "spec"))
        path = ("ephemeral", "volumeClaimTemplate", "spec", "storageClassName")
        if own := _class(template):
            yield pod_set.place("volumes", at, *path), "", own, False
    if (manifest.group, manifest.kind) == ("apps", "StatefulSet"):
        base: Path = ("spec", "volumeClaimTemplates")
        templates = lookup(manifest.data, base)
        for at, one in enumerate(templates if isinstance(templates, list) else ()):
            if own := _class(mapping(one).get("spec")):
                yield (*base, at, "spec", "storageClassName"), "", own, False


def _class(spec: object) -> str:
    name = text(mapping(spec).get("storageClassName"))
    return "" if is_placeholder(name) else name


def _is_kept(kind: str, spec: Mapping[str, Any]) -> bool:
    return kind == "Pod" and spec.get("restartPolicy", "Always") == "Always"


def _is_named(node: object) -> bool:
    return isinstance(node, str) and bool(node) and not is_placeholder(node)


def _apart(review: Review) -> str:
    """Why two of the pods are never on one node."""
    pod_set = review.pod_set
    if cause := apart_on_nodes(pod_set):
        return cause
    if any(_spreads(mapping(each), review) for each in _listed(pod_set.spec)):
        return "a spread constraint with maxSkew 1 puts the pods on different nodes"
    if review.cluster is None or not review.is_final:
        return ""
    room = {pods_on(shape, review.requests) for pool in review.possible_pools for shape in pool.shapes}
    return "each pod takes a whole node" if room == {1} else ""


def _selected(review: Review) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """What nodeSelector says, and every term of the affinity."""
    affinity = review.affinity
    found: list[tuple[str, tuple[str, ...]]] = [(key, (value,)) for key, value in affinity.selector.items()]
    terms = affinity.required or ()
    stated = [{one.key: one.values for one in term.expressions if one.operator == "In"} for term in terms]
    for key in stated[0] if stated else ():
        if all(key in each for each in stated):
            found.append((key, tuple(value for each in stated for value in each[key])))
    return tuple(each for each in found if not any(map(is_placeholder, each[1])))


def _side_by_side(review: Review) -> bool:
    """Whether their node is named, or required affinity holds all of them on one."""
    affinity, spec = review.affinity, review.pod_set.spec
    named = HOSTNAME in dict(_selected(review)) or bool(spec.get("nodeName"))
    by_field = any(term.fields for term in affinity.required or ())
    path = ("affinity", "podAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    together = lookup(spec, path)
    return named or by_field or bool(together)


def _listed(spec: Mapping[str, Any]) -> list[Any]:
    listed = spec.get("topologySpreadConstraints")
    return listed if isinstance(listed, list) else []


def _spreads(constraint: Mapping[str, Any], review: Review) -> bool:
    hard = constraint.get("whenUnsatisfiable") == "DoNotSchedule"
    nodes = constraint.get("topologyKey") == HOSTNAME and whole(constraint.get("maxSkew")) == 1
    return hard and nodes and selects_own(constraint, review.pod_set)
