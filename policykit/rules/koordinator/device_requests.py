"""Devices that the containers of a pod request, and the combinations koord-scheduler cannot serve."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.kube.podsets.podset import PodSet
from policykit.kube.requests import containers
from policykit.linter.rule import Violation
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping
from policykit.model.quantity import amount
from policykit.model.release import Version
from policykit.model.severity import Severity
from policykit.namedtuple import NamedTuple
from policykit.targets.koordinator.versions import GPU_SHARED, NPU_CORES, RELEASES

GPU, CORE = "koordinator.sh/gpu", "koordinator.sh/gpu-core"
MEMORY, RATIO, SHARED = (f"koordinator.sh/gpu{part}" for part in ("-memory", "-memory-ratio", ".shared"))
RDMA, FPGA = "koordinator.sh/rdma", "koordinator.sh/fpga"
NPU_CORE, NPU_CPU, NPU_DVPP = (f"huawei.com/npu-{part}" for part in ("core", "cpu", "dvpp"))
WHOLE_CARDS = ("nvidia.com/gpu", "amd.com/gpu", "dcu.com/gpu")

_FIRST, _1_6, _1_7 = RELEASES.oldest, GPU_SHARED, NPU_CORES
_COMBINATIONS: Mapping[frozenset[str], Version] = {
    **{frozenset({name}): _FIRST for name in (*WHOLE_CARDS, GPU, MEMORY, RATIO)},
    frozenset({CORE, MEMORY}): _FIRST,
    frozenset({CORE, RATIO}): _FIRST,
    frozenset({NPU_CORE, RATIO}): _1_7,
    frozenset({SHARED, MEMORY}): _1_6,
    frozenset({SHARED, RATIO}): _1_6,
    frozenset({SHARED, MEMORY, CORE}): _1_6,
    frozenset({SHARED, RATIO, CORE}): _1_6,
    frozenset({SHARED, NPU_CORE, NPU_CPU, MEMORY}): _1_7,
    frozenset({SHARED, NPU_CORE, NPU_CPU, MEMORY, NPU_DVPP}): _1_7,
}
"""GPU resources a pod may request together, to the first release that serves them.

Source: koordinator `deviceshare/utils.go`.
"""
_GPU_RESOURCES = frozenset().union(*_COMBINATIONS)
_CARDS_PER_NODE = 8
"""Usual maximum: a percentage up to this is more likely a count."""
_PENDING = "the pod stays pending"


class Request(NamedTuple):
    """What one pod requests of a resource, over all its containers."""

    path: Path
    """Of the first container's."""
    amount: int | None
    """cpu in milli-cores, else units; None: unknown, since one of them is a placeholder."""


def device_requests(pod_set: PodSet) -> dict[str, Request]:
    """Resources that containers request, init containers excluded; amounts of 0 are left out."""
    found: dict[str, Request] = {}
    for name, index, container in containers(pod_set.spec):
        if name != "containers":
            continue
        resources = mapping(container.get("resources"))
        limits, requests = mapping(resources.get("limits")), mapping(resources.get("requests"))
        for resource in dict.fromkeys((*limits, *requests)):
            if not isinstance(resource, str):
                continue
            field, values = ("requests", requests) if resource in requests else ("limits", limits)
            number = amount(resource, values[resource])
            if number == 0:
                continue
            path = (*pod_set.place(name, index, "resources"), field, resource)
            before = found.get(resource, Request(path, 0))
            known = before.amount is not None and number is not None
            found[resource] = before._replace(amount=(before.amount or 0) + (number or 0) if known else None)
    return found


def check(requests: Mapping[str, Request], counted: frozenset[str], newest: Version) -> Iterator[Violation]:
    """`counted`: resources whose amount is a number of devices, by the allocate hint."""
    amounts = {name: each.amount for name, each in requests.items() if each.amount is not None}
    percents = {name: number for name, number in amounts.items() if name not in counted}
    yield from _combination({n: each for n, each in requests.items() if n in _GPU_RESOURCES}, newest)
    yield from _partial_devices(requests, amounts, percents)
    yield from _shared_cards(requests, amounts)
    yield from _wrong_unit(requests, amounts, percents)


def _combination(gpus: Mapping[str, Request], newest: Version) -> Iterator[Violation]:
    names = frozenset(gpus)
    since = _COMBINATIONS.get(names)
    if not names or (since and since <= newest):
        return
    first = min(gpus, key=lambda name: gpus[name].path[-1] != name)
    *others, last = sorted(names)
    listed = f"{', '.join(others)} and {last} together" if others else f"{last} alone"
    when = f" before Koordinator {since.major}.{since.minor}" if since else ""
    yield Violation(
        gpus[first].path,
        f"the pod requests {listed}, which is not a valid combination{when}: {_PENDING}",
        _valid_combination(names),
        key=True,
    )


def _valid_combination(names: frozenset[str]) -> str:
    whole = next((name for name in WHOLE_CARDS if name in names), "")
    if whole:
        return f"request whole cards with {whole} alone, or parts of a card without it"
    if names == {CORE}:
        return f"add {RATIO} or {MEMORY}"
    if {MEMORY, RATIO} <= names:
        return f"keep either {MEMORY} or {RATIO}"
    if {GPU, SHARED} <= names:
        return f"replace {GPU} with {CORE} and {RATIO}"
    return f"valid: {GPU} alone, {CORE} with {RATIO} or {MEMORY}, and {SHARED} with these"


def _partial_devices(
    requests: Mapping[str, Request], amounts: Mapping[str, int], percents: Mapping[str, int]
) -> Iterator[Violation]:
    for name in (GPU, RDMA, FPGA, *(() if SHARED in requests else (CORE, RATIO))):
        number = percents.get(name, 0)
        if number > 100 and number % 100:
            yield Violation(
                requests[name].path,
                f"{name} is {number}, but above 100 it must be a multiple of 100: {_PENDING}",
                f"write {number // 100 * 100} or {number // 100 * 100 + 100}",
            )
    core = amounts.get(CORE, 0)
    if MEMORY in requests and not requests.keys() & {RATIO, SHARED} and core > 100 and not core % 100:
        yield Violation(
            requests[CORE].path,
            f"{CORE} is {core}, but {MEMORY} without {RATIO} limits it to one card, 100: {_PENDING}",
            f"replace {MEMORY} with {RATIO}: {core}, or write at most 100",
        )


def _shared_cards(requests: Mapping[str, Request], amounts: Mapping[str, int]) -> Iterator[Violation]:
    shares = amounts.get(SHARED, 0)
    if shares <= 0:
        return
    for name in (CORE, RATIO):
        number = amounts.get(name)
        if number is not None and (number % shares or number // shares > 100):
            why = f"not divisible by {shares}" if number % shares else "more than 100 per card"
            yield Violation(
                requests[name].path,
                f"{name} is {number} on {shares} shared cards, {why}: {_PENDING}",
                f"write a multiple of {shares}, up to {shares * 100}",
            )
    if NPU_CORE in requests and shares != 1:
        yield Violation(
            requests[SHARED].path,
            f"{SHARED} is {shares}, but part of an NPU comes from a single card: {_PENDING}",
            "write 1",
        )
    if amounts.get(NPU_DVPP, 0) > 100:
        message = f"{NPU_DVPP} is {amounts[NPU_DVPP]}, above 100: {_PENDING}"
        yield Violation(requests[NPU_DVPP].path, message, "write at most 100")


def _wrong_unit(
    requests: Mapping[str, Request], amounts: Mapping[str, int], percents: Mapping[str, int]
) -> Iterator[Violation]:
    """A count where Koordinator reads percent, or the other way round."""
    for name in (GPU, RDMA):
        number = percents.get(name, 0)
        if 1 <= number <= _CARDS_PER_NODE:
            devices = f"{number} whole device{'s' if number > 1 else ''}"
            yield Violation(
                requests[name].path,
                f"{name} is {number}: that is {number} percent of one device, not {devices}",
                f"write {number * 100} for {devices}",
                Severity.WARNING,
            )
    for name in WHOLE_CARDS:
        number = amounts.get(name, 0)
        if number >= 100 and number % 100 == 0:
            yield Violation(
                requests[name].path,
                f"{name} is {number}: that is {number} cards, not {number} percent of one",
                f"write {number // 100} for {number // 100} whole cards",
                Severity.WARNING,
            )
