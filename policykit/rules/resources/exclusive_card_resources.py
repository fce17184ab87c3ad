"""A pod requests cards by two exclusive resources, or in an amount that the device plugin refuses.

Resources for the same cards (whole cards and slices, an amount and a percentage) are alternatives: a
pod that requests both waits for a node with both, or one of them is ignored. Few nodes have cards of two
makers. Fractions of cards, boards and network devices allow only certain amounts, and a part of a card that
an annotation requests needs a pool with such cards. The pods of a job fill slices of TPUs, and exactly one if
a JobSet keeps each job on a node pool of its own. Few of these problems are reported before a pod starts.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.catalogue import amounts
from policykit.catalogue.resources import alternatives, resource
from policykit.kube.requests import containers, requested
from policykit.linter.rule import Context, Rule, Violation, violation_of
from policykit.manifests.path import Path
from policykit.model.severity import Severity
from policykit.model.shared_cards import HAMI_SCHEDULER
from policykit.placement.card_requests import has_unknown_amounts, request_path
from policykit.placement.review import Review
from policykit.rules.resources.parts_of_cards import (
    GPUSHARE_MEMORY,
    TENCENT_CORES,
    TENCENT_MEMORY,
    half_of_two,
    in_one_container,
)
from policykit.rules.system_checks import system_violations
from policykit.targets import DEFAULT_TARGET, target_name_of

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: serve
spec:
  containers:
  - name: main
    image: registry.example/serve:1
    resources:
      limits:
        nvidia.com/gpu: 1
        nvidia.com/gpumem: 8000
        nvidia.com/gpumem-percentage: 50
"""

GOOD = BAD.replace("        nvidia.com/gpumem-percentage: 50\n", "")

_DEVICES = frozenset({"card", "shared", "partition"})
_KOORDINATOR = "koordinator"
_HAMI = "nvidia-hami"

_INSTANCE = "node.kubernetes.io/instance-type"
_SAGEMAKER = "ml."
"""Prefix of the instance type on nodes of SageMaker HyperPod."""
_MIG = "nvidia.com/mig-"
_MEMORY = "nvidia.com/gpumem"
_ASCEND = "huawei.com/Ascend910"
_BOARD = 8
"""Cards per node of the instance types whose network devices are listed."""


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Other rules check Koordinator's combinations and Volcano's amounts."""
    yield from system_violations("PK213", review, context)
    if amounts.TOPOLOGY in review.affinity.selector:
        from policykit.rules.resources import tpu_slices

        yield from tpu_slices.violations(review)
    extended = ["/" in name for name in review.requests].count(True)
    if not extended:
        return
    yield from _amounts(review)
    if extended > 1:
        yield from _pairs(review)
        yield from _two_partitions(review)
        from policykit.rules.resources.card_makers import of_two_makers

        yield from of_two_makers(review)
    if _MEMORY in review.requests:
        yield from _card_memory(review)
    if TENCENT_CORES in review.requests or TENCENT_MEMORY in review.requests:
        yield from half_of_two(review)
    if GPUSHARE_MEMORY in review.requests:
        from policykit.rules.resources import gpushare

        yield from gpushare.violations(review)
    yield from _other_scheduler(review)
    yield from _unlikely_counts(review)


def _pairs(review: Review) -> Iterator[Violation]:
    names = (name for name, amount in review.requests.items() if amount > 0 and "/" in name)
    for one, other in alternatives(names):
        if _vendor(one) == _KOORDINATOR or _vendor(other) == _KOORDINATOR:
            continue
        message = f"requests {one} and {other}, which are alternatives for the same cards"
        # Few nodes offer both, but some do. Of an amount and a percentage one is ignored.
        if _role(one) in _DEVICES or _role(other) in _DEVICES:
            path = request_path(review.pod_set, other)
            yield _unlikely(path, message, "request only one of the two")
        elif path := in_one_container(review, one, other):
            yield _unlikely(path, message, "request only one of the two: the other is ignored")


def _amounts(review: Review) -> Iterator[Violation]:
    for field, position, container in containers(review.pod_set.spec):
        positive = {name: amount for name, amount in requested(container).items() if amount > 0}
        for problem in amounts.amount_problems(positive):
            (name,) = problem.path
            limits = container["resources"].get("limits")
            side = "limits" if isinstance(limits, dict) and name in limits else "requests"
            message = f"{name} {problem.message}"
            path = review.pod_set.place(field, position, "resources", side)
            yield violation_of(problem._replace(message=message), path)


def _card_memory(review: Review) -> Iterator[Violation]:
    """Compares HAMi's card memory with the largest card of the vendor in the policy."""
    requested_mib = review.requests[_MEMORY]
    cards = review.cluster.cards.values() if review.cluster else ()
    sizes = [card.memory_mib for card in cards if card.resource == "nvidia.com/gpu"]
    largest = max((size for size in sizes if size is not None), default=0)
    if largest and None not in sizes and requested_mib > largest:
        yield Violation(
            request_path(review.pod_set, _MEMORY),
            f"{_MEMORY} is {requested_mib} MiB of one card, but the largest card of the policy has {largest}",
            "request less memory, or more cards",
            Severity.WARNING,
            follows=frozenset({"PK203"}),
        )


def _other_scheduler(review: Review) -> Iterator[Violation]:
    """HAMi's webhook sets schedulerName only if it is absent or the default."""
    names = [name for name in review.card_resources if _vendor(name) == _HAMI]
    scheduler = review.pod_set.scheduler_name
    target_name = target_name_of(scheduler, review.cluster) if scheduler != HAMI_SCHEDULER else None
    if names and target_name not in (None, DEFAULT_TARGET):
        yield Violation(
            request_path(review.pod_set, names[0]),
            f"{names[0]} requires HAMi's scheduler, but schedulerName is {scheduler}",
            f"delete schedulerName (HAMi's webhook writes {HAMI_SCHEDULER}), or request whole cards",
            Severity.WARNING,
        )


def _two_partitions(review: Review) -> Iterator[Violation]:
    """CUDA uses one MIG instance in a process. Source: NVIDIA's MIG user guide (r580)."""
    if sum(name.startswith(_MIG) for name in review.requests) < 2:
        return
    for field, position, container in containers(review.pod_set.spec):
        sizes = sorted(name for name, n in requested(container).items() if n and name.startswith(_MIG))
        if len(sizes) > 1:
            limits = container["resources"].get("limits")
            side = "limits" if isinstance(limits, dict) and sizes[1] in limits else "requests"
            yield _unlikely(
                review.pod_set.place(field, position, "resources", side, sizes[1]),
                f"one container requests {' and '.join(sizes)}, but a process uses only one MIG instance",
                "request one size in each container",
            )


def _vendor(name: str) -> str:
    known = resource(name)
    return known.vendor if known else ""


def _role(name: str) -> str:
    known = resource(name)
    return known.role if known else ""


def _unlikely_counts(review: Review) -> Iterator[Violation]:
    """Counts of one pod set that are very probably wrong, each a warning."""
    yield from _network(review)
    yield from _by_container(review)
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


def _by_container(review: Review) -> Iterator[Violation]:
    if not review.card_resources or not review.pod_set.spec.get("initContainers"):
        return
    by_field = _card_requests(review)
    yield from _unused(review, by_field)
    yield from _sidecars(by_field)


def _unused(review: Review, by_field: _Requests) -> Iterator[Violation]:
    """Cards requested only by init containers: the pod holds them after they have finished."""
    if review.manifest.partial or review.pod_set.devices or review.is_system_pod:
        return
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


def _sidecars(by_field: _Requests) -> Iterator[Violation]:
    main = {name for _, name, _ in by_field["containers"]}
    for path, name, title in by_field["sidecars"]:
        if name in main:
            yield _unlikely(
                path,
                f"sidecar {title} and a main container both request {name}: the pod gets the sum",
                "request cards only in the main container, unless the sidecar needs its own",
            )


_Requests = dict[str, list[tuple[Path, str, str]]]
"""(path, resource, container) of every requested card, by type of container."""


def _card_requests(review: Review) -> _Requests:
    found: _Requests = {"containers": [], "initContainers": [], "sidecars": []}
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


RULE = Rule(
    code="PK213",
    name="exclusive-card-resources",
    severity=Severity.ERROR,
    subject=Review,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
