"""Requests for devices that koord-scheduler cannot serve: combinations and numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.linter.rule import Violation
from policykit.model.severity import Severity
from policykit.targets.koordinator.checks.asked import (
    CORE,
    FPGA,
    GPU,
    MEMORY,
    NPU_CORE,
    NPU_CPU,
    NPU_DVPP,
    OF_GPUS,
    RATIO,
    RDMA,
    SHARED,
    WHOLE_CARDS,
    Asked,
)
from policykit.targets.release import Version

_FIRST, _1_6, _1_7 = Version(1, 4, 0), Version(1, 6, 0), Version(1, 7, 0)
_VALID: Mapping[frozenset[str], Version] = {
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
"""Combinations to the first release that serves them. Source: `deviceshare/utils.go`."""
_A_NODE = 8
"""Cards that a node has at the most, usually: a smaller percentage is rather a count."""
_NEVER = "koord-scheduler never places the pod"


def faults(found: Mapping[str, Asked], counts: frozenset[str], newest: Version) -> Iterator[Violation]:
    """`counts`: resources whose number is one of devices, by the allocate hint."""
    yield from _combination({name: each for name, each in found.items() if name in OF_GPUS}, newest)
    yield from _hundreds(found, counts)
    yield from _shares(found)
    yield from _suspect(found, counts)


def _combination(gpus: Mapping[str, Asked], newest: Version) -> Iterator[Violation]:
    names = frozenset(gpus)
    since = _VALID.get(names)
    if not names or (since and since <= newest):
        return
    first = min(gpus, key=lambda name: gpus[name].path[-1] != name)
    *others, last = sorted(names)
    listed = f"{', '.join(others)} and {last} together" if others else f"{last} alone"
    when = f" before Koordinator {since.major}.{since.minor}" if since else ""
    yield Violation(
        gpus[first].path,
        f"the pod asks for {listed}, which is no valid request{when}: {_NEVER}",
        _way_out(names),
        key=True,
    )


def _way_out(names: frozenset[str]) -> str:
    whole = next((name for name in WHOLE_CARDS if name in names), "")
    if whole:
        return f"ask for whole cards by {whole} alone, or for parts without it"
    if names == {CORE}:
        return f"add {RATIO} or {MEMORY}"
    if {MEMORY, RATIO} <= names:
        return f"keep one of {MEMORY} and {RATIO}"
    if {GPU, SHARED} <= names:
        return f"write {CORE} and {RATIO} in place of {GPU}"
    return f"valid: {GPU} alone, {CORE} with {RATIO} or {MEMORY}, and {SHARED} with these"


def _hundreds(found: Mapping[str, Asked], counts: frozenset[str]) -> Iterator[Violation]:
    apart = () if SHARED in found else (CORE, RATIO)
    for name in (GPU, RDMA, FPGA, *apart):
        number = found[name].amount if name in found and name not in counts else None
        if number is not None and number > 100 and number % 100:
            yield Violation(
                found[name].path,
                f"{name} is {number}, but above 100 only whole devices count, 100 each: {_NEVER}",
                f"write {number // 100 * 100} or {number // 100 * 100 + 100}",
            )
    core = found[CORE].amount if CORE in found else None
    alone = MEMORY in found and not found.keys() & {RATIO, SHARED}
    if alone and core is not None and core > 100 and not core % 100:
        yield Violation(
            found[CORE].path,
            f"{CORE} is {core}, but {MEMORY} without {RATIO} is one card, of 100: {_NEVER}",
            f"write {RATIO}: {core} in place of {MEMORY}, or at most 100",
        )


def _shares(found: Mapping[str, Asked]) -> Iterator[Violation]:
    shares = found[SHARED].amount if SHARED in found else None
    if not shares or shares < 0:
        return
    for name in (CORE, RATIO):
        number = found[name].amount if name in found else None
        if number is not None and (number % shares or number // shares > 100):
            why = f"not divisible by {shares}" if number % shares else "more than 100 of each card"
            yield Violation(
                found[name].path,
                f"{name} is {number} on {shares} shared cards, {why}: {_NEVER}",
                f"write a multiple of {shares}, up to {shares * 100}",
            )
    if NPU_CORE in found and shares != 1:
        yield Violation(
            found[SHARED].path,
            f"{SHARED} is {shares}, but a part of an NPU is of one card: {_NEVER}",
            "write 1",
        )
    parts = found[NPU_DVPP].amount if NPU_DVPP in found else None
    if parts is not None and parts > 100:
        yield Violation(
            found[NPU_DVPP].path, f"{NPU_DVPP} is {parts}, above 100: {_NEVER}", "write at most 100"
        )


def _suspect(found: Mapping[str, Asked], counts: frozenset[str]) -> Iterator[Violation]:
    """A count where percents are meant, and the other way round."""
    for name in (GPU, RDMA):
        number = found[name].amount if name in found and name not in counts else None
        if number is not None and 1 <= number <= _A_NODE:
            yield Violation(
                found[name].path,
                f"{name} is {number}: that is {number} percent of one device, not {number} of them",
                f"write {number * 100} for {number} whole",
                Severity.WARNING,
            )
    for name in WHOLE_CARDS:
        number = found[name].amount if name in found else None
        if number is not None and number >= 100 and number % 100 == 0:
            yield Violation(
                found[name].path,
                f"{name} is {number}: that is {number} cards, not {number} percent of one",
                f"write {number // 100} for {number // 100} whole",
                Severity.WARNING,
            )
