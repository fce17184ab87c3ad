"""Device counts that do not fit the node, the board or the containers of a pod."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.catalogue.resources import resource
from policykit.kube.requests import containers, requested
from policykit.linter.rule import Violation
from policykit.manifests.path import Path
from policykit.model.severity import Severity
from policykit.placement.card_requests import has_unknown_amounts, request_path
from policykit.placement.review import Review

_INSTANCE = "node.kubernetes.io/instance-type"
_SAGEMAKER = "ml."
"""Before the machine's name on nodes of SageMaker HyperPod."""
_ASCEND = "huawei.com/Ascend910"
_BOARD = 8
"""Cards of a whole node of the machines whose network devices are listed."""


def unlikely_counts(review: Review) -> Iterator[Violation]:
    """Counts of one pod set that are very probably wrong, each a warning."""
    yield from _network(review)
    yield from _unused(review)
    yield from _beside(review)
    yield from _boards(review)


def _network(review: Review) -> Iterator[Violation]:
    """Network devices against the machine that is selected, or against all pools."""
    machine = review.affinity.selector.get(_INSTANCE, "")
    cards = sum(review.requests[name] for name in review.card_resources)
    for name, asked in review.requests.items():
        known = resource(name)
        if known is None or known.role != "network" or asked <= 0:
            continue
        there = known.per_node.get(machine.removeprefix(_SAGEMAKER))
        if there is not None and (asked > there or (asked < there and cards >= _BOARD)):
            yield _unlikely(
                request_path(review.pod_set, name),
                f"asks for {asked} {name}, a node {machine} has {there}",
                f"ask for {there} with all cards of a node",
            )
        elif _lacked(review, name):
            yield _unlikely(
                request_path(review.pod_set, name),
                f"asks for {asked} {name}, which no pool of the policy has",
                "correct the name, or write the resource under allocatable of the pools that have it",
            )


def _lacked(review: Review, name: str) -> bool:
    """Only where every pool there is says what its nodes have, network devices included."""
    cluster = review.cluster
    if cluster is None or not cluster.complete or not review.is_final:
        return False
    shapes = [shape for pool in cluster.pools for shape in pool.shapes]
    devices = {each for shape in shapes for each in shape.allocatable if _is_network(each)}
    return bool(devices) and name not in devices


def _is_network(name: str) -> bool:
    known = resource(name)
    return known is not None and known.role == "network"


def _unused(review: Review) -> Iterator[Violation]:
    """Cards of init containers alone: kept for the pod's life, and used for its start."""
    if review.manifest.partial or review.pod_set.devices or review.is_system_pod:
        return
    by_field = _asking(review)
    if by_field["containers"] or by_field["sidecars"] or not by_field["initContainers"]:
        return
    if has_unknown_amounts(review.pod_set, review.cluster):
        return
    path, name, title = by_field["initContainers"][0]
    yield _unlikely(
        path,
        f"only init container {title} asks for {name}: the containers that run after it have no card",
        "ask for the card in the container that uses it; an init container may then use the same one",
    )


def _beside(review: Review) -> Iterator[Violation]:
    by_field = _asking(review)
    main = {name for _, name, _ in by_field["containers"]}
    for path, name, title in by_field["sidecars"]:
        if name in main:
            yield _unlikely(
                path,
                f"sidecar {title} asks for {name} beside the main container: the pod takes both amounts",
                "ask for cards in the main container alone, unless the sidecar needs its own",
            )


def _asking(review: Review) -> dict[str, list[tuple[Path, str, str]]]:
    """(place, resource, container) of every card asked for, by kind of container."""
    found: dict[str, list[tuple[Path, str, str]]] = {"containers": [], "initContainers": [], "sidecars": []}
    cards = set(review.card_resources)
    for field, position, container in containers(review.pod_set.spec):
        kind = "sidecars" if field != "containers" and container.get("restartPolicy") == "Always" else field
        for name, amount in requested(container).items():
            if amount > 0 and name in cards:
                limits = container["resources"].get("limits")
                side = "limits" if isinstance(limits, dict) and name in limits else "requests"
                place = review.pod_set.place(field, position, "resources", side, name)
                found[kind].append((place, name, str(container.get("name", position))))
    return found


def _boards(review: Review) -> Iterator[Violation]:
    """Ascend boards join chips in pairs (910C) or in rings (910A)."""
    asked = review.requests.get(_ASCEND, 0)
    cluster, meant = review.cluster, review.eligible_pools
    if cluster is None or not meant or asked <= 1:
        return
    from policykit.catalogue.products import product

    cards = [cluster.card_of(pool) for pool in meant]
    facts = [known.facts if card and (known := product(card.product)) else {} for card in cards]
    for fact, allowed, why in (
        ("request_step", (2, 4, 6, 8, 10, 12, 14, 16), "its cards have two chips each"),
        ("ring", (1, 2, 4, 8), "its chips are joined in rings of four"),
    ):
        if all(fact in each for each in facts) and asked not in allowed:
            listed = ", ".join(map(str, allowed))
            yield _unlikely(
                request_path(review.pod_set, _ASCEND),
                f"asks for {asked} {_ASCEND}, and {why} (pool {meant[0].name})",
                f"ask for one of {listed}",
            )


def _unlikely(path: Path, message: str, advice: str) -> Violation:
    return Violation(path, message, advice, Severity.WARNING)
