"""Faults against what the policy says of pools, cards and nodes: sizes, models, marks."""

from collections.abc import Iterator
from typing import Any

from policykit.catalogue import daemons
from policykit.catalogue.labels import names_machine
from policykit.manifests.patch import Patch
from policykit.manifests.path import Path
from policykit.model.pool import Pool
from policykit.placement.eligible_pools import is_allowed
from policykit.placement.review import Review, review
from tests.mutation.clean import Subject
from tests.mutation.fault import Change, Inject, fault, put, remove, replace
from tests.mutation.places import REQUIRED, at, containers, expressions, is_extract, judged, limits, written

_NODES = ("Node", "JoinConfiguration", "InitConfiguration")


def _without_cards(subject: Subject) -> Iterator[Change]:
    """Pods of a kind that needs no cards, selected onto nodes with cards and let in there."""
    for pod_set in subject.pod_sets if subject.cluster and not is_extract(subject) else ():
        seen = review(subject.manifest, pod_set, subject.cluster)
        none = (
            seen.workload is not None and seen.workload.cards == () and "resourceClaims" not in pod_set.spec
        )
        if not none or not seen.is_final or pod_set.per_node:
            continue
        places = [pod_set.place(field) for field in ("nodeSelector", "tolerations")]
        for pool in subject.cluster.pools if subject.cluster else ():
            if pool.card and pool.labels:
                let_in = [{"key": t.key, "operator": "Exists", "effect": t.effect} for t in pool.hard_taints]
                affinity = pod_set.place("affinity")
                gone = [Patch("remove", affinity)] if at(subject, affinity) is not None else []
                selector = Patch("add", places[0], {key: str(value) for key, value in pool.labels.items()})
                yield Change((*gone, selector, Patch("add", places[1], let_in)))


def _astray(subject: Subject) -> Iterator[Change]:
    """Pods of such a kind that no longer say where they belong: nodes with cards let everybody in."""
    for pod_set in subject.pod_sets if subject.cluster and not is_extract(subject) else ():
        seen = review(subject.manifest, pod_set, subject.cluster)
        none = (
            seen.workload is not None and seen.workload.cards == () and "resourceClaims" not in pod_set.spec
        )
        fields = [pod_set.place(field) for field in ("nodeSelector", "affinity", "tolerations")]
        there = [field for field in fields if at(subject, field) is not None]
        open_pools = [
            pool for pool in (subject.cluster.pools if subject.cluster else ()) if not pool.hard_taints
        ]
        if none and seen.is_final and there and open_pools and all(pool.card for pool in open_pools):
            yield Change(tuple(Patch("remove", field) for field in there))


def _slice(subject: Subject) -> Iterator[Change]:
    """A part of a card, of pools that give whole ones."""
    modes = {pool.sharing.mode for seen in judged(subject) for pool in seen.eligible_pools or ()}
    whole = modes <= {"", "none", "exclusive", "whole"} and any(judged(subject))
    for path, name, _ in limits(subject) if whole and len(subject.pod_sets) == 1 else ():
        patches = [Patch("rename", (*path, name), "nvidia.com/mig-1g.10gb")]
        if name in (at(subject, (*path[:-1], "requests")) or {}):
            patches.append(Patch("rename", (*path[:-1], "requests", name), "nvidia.com/mig-1g.10gb"))
        yield Change(tuple(patches))


def _spread(subject: Subject) -> Iterator[Change]:
    """Over nodes that refuse the pods, though each of those is a place to fill."""
    for seen in judged(subject):
        path = seen.pod_set.place("topologySpreadConstraints")
        refused = [one.pool for one in seen.landings if one.taint is not None and not one.accepts]
        counted = any(shape.minimum > 0 for pool in refused for shape in pool.shapes)
        free = path[-1:] == ("topologySpreadConstraints",) and at(subject, path) is None
        if counted and free and seen.pod_set.labels and not seen.pod_set.per_node and seen.accepting:
            key, value = next(iter(seen.pod_set.labels.items()))
            constraint = {
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "DoNotSchedule",
                "nodeAffinityPolicy": "Ignore",
                "labelSelector": {"matchLabels": {key: value}},
            }
            if subject.manifest.kind in ("Deployment", "StatefulSet"):
                yield Change((Patch("add", path, [constraint]), Patch("add", ("spec", "replicas"), 5_000)))


def _daemon(subject: Subject) -> Iterator[Change]:
    """A daemon that serves the cards without its tolerations."""
    vendors = {card.vendor for card in subject.cluster.cards.values()} if subject.cluster else set()
    images = [container.get("image") for _, container in containers(subject)]
    serving = {daemons.serves(image) for image in images if isinstance(image, str)}
    if subject.manifest.kind == "DaemonSet" and vendors & serving:
        yield from (remove(path) for path, _ in written(subject, "tolerations"))


def _memory(subject: Subject) -> Iterator[Change]:
    """Said to need a gibibyte, where a smaller card would do."""
    for seen in judged(subject):
        there = [size for pool in seen.accepting if (size := _card_memory(subject, pool))]
        fitting = [size for pool in _usable(subject, seen) if (size := _card_memory(subject, pool))]
        if there and fitting and min(fitting) < max(there) and max(there) >= 2048:
            yield put(seen.pod_set.place("annotations", "policykit.io/card-memory"), "1Gi")


def _card_memory(subject: Subject, pool: Pool) -> int:
    card = subject.cluster.card_of(pool) if subject.cluster else None
    return (card.memory_mib or 0) if card else 0


def _usable(subject: Subject, seen: Review) -> list[Pool]:
    pools = subject.cluster.pools if subject.cluster else ()
    return [
        pool
        for pool in pools
        if seen.workload
        and is_allowed(seen.workload, pool)
        and all(name in pool.resources for name in seen.card_resources)
    ]


def _other_vendor(subject: Subject) -> Iterator[Change]:
    """Nodes are selected by a label of one vendor's cards, and another one's are asked for."""
    for seen in judged(subject):
        place = seen.pod_set.place("nodeSelector")
        if place[-1:] == ("nodeSelector",) and seen.card_resources == ("nvidia.com/gpu",):
            yield put((*place, "amd.com/gpu.product-name"), "AMD_Instinct_MI300X_OAM")


def _model(subject: Subject) -> Iterator[Change]:
    """No word about the card's model any more; what tolerated one tolerates all."""
    for seen in judged(subject):
        models = {_product(subject, pool) for pool in _usable(subject, seen)} - {""}
        stated = bool(seen.products) and not any(map(names_machine, seen.affinity.selector))
        changes = list(_silent_about(subject, seen, models)) if len(models) > 1 and stated else []
        if changes:
            yield Change(tuple(changes))


def _product(subject: Subject, pool: Pool) -> str:
    card = subject.cluster.card_of(pool) if subject.cluster else None
    return card.product if card else ""


def _silent_about(subject: Subject, seen: Review, models: set[str]) -> Iterator[Patch]:
    selector = at(subject, seen.pod_set.place("nodeSelector"))
    for key, value in selector.items() if isinstance(selector, dict) else ():
        if value in models:
            yield Patch("remove", seen.pod_set.place("nodeSelector", key))
    for path, item in expressions(subject, seen, REQUIRED):
        if models.intersection(item.get("values") or ()) and len(at(subject, path[:-1])) > 1:
            yield Patch("remove", path)
    tolerated = at(subject, seen.pod_set.place("tolerations"))
    for index, item in enumerate(tolerated if isinstance(tolerated, list) else ()):
        if isinstance(item, dict) and item.get("value") in models:
            everything = {
                "key": item["key"],
                "operator": "Exists",
                "effect": item.get("effect", "NoSchedule"),
            }
            yield Patch("replace", seen.pod_set.place("tolerations", index), everything)


def _odd(subject: Subject) -> Iterator[Change]:
    """Three cards, of nodes with eight."""
    for seen in judged(subject):
        shapes = [shape for pool in seen.eligible_pools or () for shape in pool.shapes if shape.maximum != 0]
        sizes = {shape.allocatable.get(name, 0) for shape in shapes for name in seen.card_resources}
        if len(seen.card_resources) != 1 or seen.pod_set.per_node or sizes != {8}:
            continue
        asking = [each for each in limits(subject) if each[0][: len(seen.pod_set.path)] == seen.pod_set.path]
        if len(asking) == 1 and asking[0][1] == seen.card_resources[0]:
            path, name, _ = asking[0]
            patches = [Patch("replace", (*path, name), 3)]
            if name in (at(subject, (*path[:-1], "requests")) or {}):
                patches.append(Patch("replace", (*path[:-1], "requests", name), 3))
            yield Change(tuple(patches))


def _quota(subject: Subject) -> Iterator[Change]:
    own = {quota.name for quota in subject.cluster.quotas} if subject.cluster else set()
    hard = at(subject, ("spec", "hard"))
    whole = subject.cluster is not None and subject.cluster.complete
    if subject.manifest.kind == "ResourceQuota" and whole and subject.manifest.name not in own:
        for key in hard if isinstance(hard, dict) else ():
            if key.startswith("requests.nvidia.com/"):
                yield replace(("spec", "hard", key), "100000")


def _shared(subject: Subject) -> Iterator[Change]:
    """Two turns on a card, of which both may be on the same one."""
    for path, name, _ in limits(subject) if subject.cluster is None else ():
        if name == "nvidia.com/gpu":
            there = at(subject, path[:-1])
            shared = {f"{name}.shared": 2}
            asked = {side: {k: v for k, v in there[side].items() if k != name} for side in there}
            yield replace(path[:-1], {**asked, "limits": {**asked["limits"], **shared}})


def _marks(subject: Subject) -> Iterator[tuple[Path, list[Any]]]:
    """Taints of nodes, where the policy has a word about them."""
    if subject.cluster and subject.manifest.kind in _NODES:
        for path in (("spec", "taints"), ("nodeRegistration", "taints")):
            taints = at(subject, path)
            if isinstance(taints, list) and taints:
                yield path, taints


def _own_taint(subject: Subject, taint: Any) -> bool:
    """Whether pods are kept out by it: some pool of the policy has it."""
    pools = subject.cluster.pools if subject.cluster else ()
    keys = {one.key for pool in pools for one in pool.hard_taints}
    return isinstance(taint, dict) and taint.get("key") in keys


def _no_taint(subject: Subject) -> Iterator[Change]:
    for path, taints in _marks(subject):
        for index, taint in enumerate(taints):
            if _own_taint(subject, taint):
                yield remove((*path, index))


def _other_taint(subject: Subject) -> Iterator[Change]:
    opposite = {"training": "inference", "inference": "training", "hybrid": "training"}
    for path, taints in _marks(subject):
        for index, taint in enumerate(taints):
            if _own_taint(subject, taint) and taint.get("value") in opposite:
                yield replace((*path, index, "value"), opposite[taint["value"]])


def _node_label(subject: Subject) -> Iterator[Change]:
    usage = subject.cluster.usage_key if subject.cluster else ""
    if subject.manifest.kind == "Node" and usage and at(subject, ("metadata", "labels", usage)):
        yield replace(("metadata", "labels", usage), "elsewhere")


def _overridden(path: Path, kinds: tuple[str, ...], inherited: Path) -> Inject:
    """A list of tolerations over another one, which it replaces."""

    def inject(subject: Subject) -> Iterator[Change]:
        spec = at(subject, path)
        if subject.manifest.kind in kinds and at(subject, inherited) and isinstance(spec, list):
            for index, template in enumerate(spec):
                if isinstance(template, dict) and ("container" in template or "containers" in template):
                    other = {"key": "example.com/other", "operator": "Exists"}
                    yield put((*path, index, "tolerations"), [other])

    return inject


FAULTS = (
    fault("pods without cards on nodes with cards", "PK114 PK124 PK104", _without_cards),
    fault("pods without cards that only nodes with cards let in", "PK114", _astray),
    fault("a part of a card where pools have whole ones", "PK202", _slice),
    fault("a spread that counts nodes of others", "PK119", _spread),
    fault("a daemon of the cards without tolerations", "PK120", _daemon),
    fault("a large card for a small need", "PK123", _memory),
    fault("nodes of another vendor", "PK126", _other_vendor),
    fault(
        "a list that replaces an inherited one",
        "PK127",
        _overridden(("spec", "templates"), ("Workflow", "WorkflowTemplate"), ("spec", "tolerations")),
    ),
    fault("a node without its taint", "PK129", _no_taint),
    fault("a node with the taint of others", "PK129", _other_taint),
    fault("a node of an unknown usage", "PK129", _node_label),
    fault("no word about the card's model", "PK130", _model),
    fault("cards that leave some over", "PK204", _odd),
    fault("a quota above all pools", "PK209", _quota),
    fault("several replicas of a shared card", "PK214", _shared),
)
