"""A pod requests a share of a card in a way that Volcano does not support.

volcano.sh/vgpu-memory and vgpu-cores apply to each card, volcano.sh/vgpu-number is the number of cards.
Only Volcano's scheduler records which cards a pod gets: placed by another one, the pod never starts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from policykit.kube import requests
from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping
from policykit.model.quantity import parse
from policykit.model.severity import Severity
from policykit.placement.review import Review
from policykit.targets import DEFAULT_SCHEDULER, target_name_of
from policykit.targets.volcano.names import SCHEDULER

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: notebook
spec:
  schedulerName: volcano
  containers:
  - name: main
    image: registry.example/notebook:1
    resources:
      requests: {cpu: 2, memory: 8Gi}
      limits: {volcano.sh/vgpu-cores: 50}
"""

GOOD = BAD.replace("vgpu-cores: 50", "vgpu-number: 1, volcano.sh/vgpu-cores: 50")

_NUMBER, _MEMORY, _CORES, _PERCENT = (
    f"volcano.sh/vgpu-{part}" for part in ("number", "memory", "cores", "memory-percentage")
)
_FAMILY = (_NUMBER, _MEMORY, _CORES, _PERCENT)
_OLDER = ("volcano.sh/gpu-memory", "volcano.sh/gpu-number")
_MIB = 1 << 20
_TOO_MUCH = 4_000_000
"""MiB that no card has, and no share of one."""
_MODE = "volcano.sh/vgpu-mode"
_MODES = ("hami-core", "mig", "mps")
_BUILT_IN = frozenset({"", "apps", "batch"})
"""API groups whose pods nobody gives another schedulerName, webhooks apart."""


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Each container by its limits, then the pod. Source: `api/devices/nvidia/vgpu` (1.8 to 1.15)."""
    first = ""
    for field, position, container in requests.containers(review.pod_set.spec):
        limits = mapping(mapping(container.get("resources")).get("limits"))
        path = review.pod_set.place(field, position, "resources", "limits")
        if written := [name for name in _FAMILY if name in limits]:
            first = first or written[0]
            yield from _container(limits, path, review.cluster)
    if first:
        yield from _scheduler(review, first)
    mode = review.pod_set.annotations.get(_MODE)
    if mode and mode not in _MODES and not is_placeholder(mode):
        yield Violation(
            review.pod_set.place("annotations", _MODE),
            f"{_MODE} is {mode!r}, which no node supports",
            f"write {', '.join(_MODES[:-1])} or {_MODES[-1]}",
        )


def _container(limits: Mapping[str, Any], path: Path, cluster: Cluster | None) -> Iterator[Violation]:
    written = [name for name in _FAMILY if name in limits]
    if _NUMBER not in limits and _MEMORY not in limits:
        yield Violation(
            (*path, written[0]),
            f"{' and '.join(written)} without {_NUMBER} or {_MEMORY} requests no card",
            f"add {_NUMBER}: 1",
            key=True,
        )
    elif _PERCENT in limits:
        yield Violation(
            (*path, _PERCENT),
            f"{_PERCENT} is not read unless the device configuration defines that name",
            f"write {_MEMORY}, in MiB",
            Severity.WARNING,
            key=True,
        )
    cores = _whole(limits.get(_CORES))
    if cores is not None and not 0 <= cores <= 100:
        yield Violation((*path, _CORES), f"{_CORES} is {cores}, but a whole card has 100", "write 0 to 100")
    memory = _whole(limits.get(_MEMORY))
    if memory is not None and memory > _TOO_MUCH:
        yield Violation(
            (*path, _MEMORY),
            f"{_MEMORY} is {limits[_MEMORY]}, counted in MiB: no card has {memory} MiB",
            _in_mib(memory),
        )
    for name in _OLDER:
        if name in limits:
            yield Violation(
                (*path, name),
                f"{name} and {written[0]} belong to different device plugins",
                f"keep the one your nodes run: {written[0]} is of the newer plugin",
                Severity.WARNING,
                key=True,
            )
    number, most = _whole(limits.get(_NUMBER)), _most(cluster)
    if number is not None and most and number > most:
        yield Violation(
            (*path, _NUMBER),
            f"{_NUMBER} is {number}, but nodes of the policy have at most {most} cards",
            "the shares of a container come from different cards: request fewer, with more of each",
        )


def _in_mib(amount: int) -> str:
    """What was most likely meant: so many bytes."""
    return f"write the number of MiB: {amount // _MIB}" if amount >= _MIB else "write the number of MiB"


def _whole(written: object) -> int | None:
    quantity = parse(written)
    return quantity.units if quantity is not None else None


def _most(cluster: Cluster | None) -> int:
    """Cards of the largest node; 0: unknown."""
    if cluster is None or not cluster.complete:
        return 0
    cards = [cluster.card_of(pool) for pool in cluster.pools]
    sizes = [card.per_node for card in cards if card is not None and card.resource.startswith("nvidia.com/")]
    return max(sizes, default=0) if all(sizes) else 0


def _scheduler(review: Review, resource: str) -> Iterator[Violation]:
    """Only where it is known to be another one: an operator or a webhook may fill it in."""
    pod_set = review.pod_set
    name = pod_set.scheduler_name
    if review.manifest.partial or review.manifest.group not in _BUILT_IN or is_placeholder(name):
        return
    target_name = target_name_of(name, review.cluster)
    if target_name is not None and target_name != SCHEDULER:
        yield Violation(
            pod_set.place("schedulerName"),
            f"only Volcano allocates {resource}, but {name or DEFAULT_SCHEDULER} schedules the pod",
            "set schedulerName: volcano",
        )


RULE = Rule(
    code="PK516",
    name="vgpu-misuse",
    severity=Severity.ERROR,
    subject=Review,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=("volcano",),
)
