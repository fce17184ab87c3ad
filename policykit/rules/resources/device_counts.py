"""Device counts that do not suit the node, the board or the containers of a pod."""

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
"""Prefix of the instance type on nodes of SageMaker HyperPod."""
_ASCEND = "huawei.com/Ascend910"
_BOARD = 8
"""Cards per node of the instance types whose network devices are listed."""


def unlikely_counts(review: Review) -> Iterator[Violation]:
    """Counts of one pod set that are very probably wrong, each a warning."""
    yield from _network(review)
    yield from _unused(review)
    yield from _sidecars(review)
    yield from _boards(review)


def _network(review: Review) -> Iterator[Violation]:
    """Compares network devices with the selected instance type, or with all pools."""
    machine = review.affinity.selector.get(_INSTANCE, "")
    cards = sum(review.requests[name] for name in review.card_resources)
    for name, amount in review.requests.items():
        known = resource(name)
        if known is None or known.role != "network" or amount <= 0:
            continue
        available = known.per_node.get(machine.removeprefix(_SAGEMAKER))
        if available is not None and (amount > available or (amount < available and cards >= _BOARD)):
            yield _unlikely(
                request_path(review.pod_set, name),
                f"requests {amount} {name}, but a {machine} node has {available}",
                f"request {available} together with all cards of a node",
            )
        elif _no_pool_has(review, name):
            yield _unlikely(
                request_path(review.pod_set, name),
                f"requests {amount} {name}, which no pool of the policy has",
                "correct the name, or add the resource to allocatable of the pools that have it",
            )


def _no_pool_has(review: Review, name: str) -> bool:
    """Whether the pools lack it; only if the policy lists every pool and their network devices."""
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
    """Cards requested only by init containers: the pod holds them after they have finished."""
    if review.manifest.partial or review.pod_set.devices or review.is_system_pod:
        return
    by_field = _card_requests(review)
    if by_field["containers"] or by_field["sidecars"] or not by_field["initContainers"]:
        return
    if has_unknown_amounts(review.pod_set, review.cluster):
        return
    path, name, title = by_field["initContainers"][0]
    yield _unlikely(
        path,
        f"only init container {title} requests {name}, so the other containers have no card",
        "request the card in the container that uses it; an init container can then use the same card",
    )


def _sidecars(review: Review) -> Iterator[Violation]:
    by_field = _card_requests(review)
    main = {name for _, name, _ in by_field["containers"]}
    for path, name, title in by_field["sidecars"]:
        if name in main:
            yield _unlikely(
                path,
                f"sidecar {title} and a main container both request {name}: the pod gets the sum",
                "request cards only in the main container, unless the sidecar needs its own",
            )


def _card_requests(review: Review) -> dict[str, list[tuple[Path, str, str]]]:
    """(path, resource, container) of every requested card, by type of container."""
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
    """Ascend boards connect chips in pairs (910C) or in rings (910A)."""
    amount = review.requests.get(_ASCEND, 0)
    cluster, pools = review.cluster, review.eligible_pools
    if cluster is None or not pools or amount <= 1:
        return
    from policykit.catalogue.cards import product

    cards = [cluster.card_of(pool) for pool in pools]
    facts = [known.facts if card and (known := product(card.product)) else {} for card in cards]
    for fact, allowed, reason in (
        ("request_step", (2, 4, 6, 8, 10, 12, 14, 16), "its cards have two chips each"),
        ("ring", (1, 2, 4, 8), "its chips form rings of four"),
    ):
        if all(fact in each for each in facts) and amount not in allowed:
            listed = ", ".join(map(str, allowed))
            yield _unlikely(
                request_path(review.pod_set, _ASCEND),
                f"requests {amount} {_ASCEND}, but {reason} (pool {pools[0].name})",
                f"request one of {listed}",
            )


def _unlikely(path: Path, message: str, advice: str) -> Violation:
    return Violation(path, message, advice, Severity.WARNING)
