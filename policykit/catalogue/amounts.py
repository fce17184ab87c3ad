"""Amounts that the device plugin of a card resource rejects or changes, and shapes of TPU slices."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from math import prod

from policykit.catalogue.resources import resource
from policykit.manifests.problem import Problem
from policykit.model.severity import Severity

RESOURCE = "google.com/tpu"
ACCELERATOR = "cloud.google.com/gke-tpu-accelerator"
TOPOLOGY = "cloud.google.com/gke-tpu-topology"
_FORM = re.compile(r"\d{1,4}(?:x\d{1,4}){1,2}")


def dimensions_problem(accelerator: str, topology: str) -> str:
    """Why a generation has no slices with this many dimensions, as a predicate; empty: it has."""
    sides = _sides(topology)
    if not sides:
        return ""
    from policykit.catalogue.cards import product

    card = product(accelerator)
    wanted = card.facts.get("topology_dims") if card is not None else None
    if wanted is None or len(sides) == wanted:
        return ""
    return f"has {len(sides)} numbers, {accelerator} has topologies of {wanted}"


def chips_problem(topology: str, chips: int, pods: int | None) -> str:
    """Why pods with this many chips do not form whole slices, as a predicate; empty: they may."""
    sides = _sides(topology)
    total = prod(sides)
    if not sides or chips <= 0 or total <= 0:
        return ""
    if total % chips:
        return f"is a slice of {total} chips, which pods of {chips} chips cannot fill"
    if pods is not None and pods * chips % total:
        return f"is a slice of {total} chips, but {pods} pods of {chips} chips have {pods * chips}"
    return ""


def chips_of_one_slice(topology: str, chips: int, pods: int) -> str:
    """Why so many pods do not form exactly one slice of several nodes, as a predicate; empty: they do."""
    total = prod(_sides(topology))
    if chips <= 0 or total <= chips or pods * chips == total:
        return ""
    several = "1 pod" if pods == 1 else f"{pods} pods"
    return f"is a slice of {total} chips, but {several} of {chips} chips have {pods * chips}"


def _sides(topology: str) -> tuple[int, ...]:
    return tuple(map(int, topology.split("x"))) if _FORM.fullmatch(topology) else ()


_MAKER, _HAMI = "huawei", "huawei-hami"
_MEMORY = "-memory"
_JUDGED_ELSEWHERE = frozenset({"koordinator", "nvidia-volcano"})
"""Vendors whose amounts other rules check."""
_PERCENTAGE, _HUNDRED = "-percentage", 100


def amount_problems(asked: Mapping[str, int]) -> tuple[Problem, ...]:
    """Problems with the requests of one container, except amount 0. Unknown names have none.

    The path of each is the name of the resource, and the message follows that name.
    """
    return _problems(tuple(asked.items()))


@lru_cache(maxsize=1024)  # most containers ask for the same few amounts
def _problems(amounts: tuple[tuple[str, int], ...]) -> tuple[Problem, ...]:
    found, asked = [], dict(amounts)
    for name, amount in amounts:
        for judge in (
            _outside,
            _in_bytes,
            _not_allowed,
            _several_slices,
            _several_with_memory,
            _between_templates,
        ):
            fault = judge(name, amount, asked)
            if fault is not None:
                found.append(fault)
                break
    return tuple(found)


def _outside(name: str, amount: int, asked: Mapping[str, int]) -> Problem | None:
    known = resource(name)
    if known is None or known.vendor in _JUDGED_ELSEWHERE:
        return None
    limit = known.maximum or (_HUNDRED if name.endswith(_PERCENTAGE) else 0)
    if not limit or amount <= limit:
        return None
    predicate = f"is {amount}, the maximum is {limit} (percent of one card)"
    return Problem((name,), predicate, f"write {limit}, or request more cards", Severity.WARNING)


_MOST_MIB, _MIB = 4_000_000, 1 << 20
"""No card has as much memory."""


def _in_bytes(name: str, amount: int, asked: Mapping[str, int]) -> Problem | None:
    """A quantity such as 2Gi for a plain number of MiB."""
    known = resource(name)
    counted = known is not None and known.role == "memory" and known.unit == "MiB"
    if not counted or amount <= _MOST_MIB:
        return None
    predicate = f"is {amount}, but it is a number of MiB: no card has as much"
    advice = f"write {amount // _MIB}" if amount % _MIB == 0 else "write the number of MiB"
    return Problem((name,), predicate, advice, Severity.WARNING)


def _not_allowed(name: str, amount: int, asked: Mapping[str, int]) -> Problem | None:
    known = resource(name)
    if known is None:
        return None
    allowed = known.allowed or (_counts(known.vendor) if known.role == "card" and amount > 1 else ())
    if not allowed or amount in allowed:
        return None
    listed = ", ".join(map(str, allowed))
    predicate = f"is {amount}, the plugin accepts only {listed}"
    return Problem((name,), predicate, f"request one of {listed}", Severity.WARNING)


def _counts(maker: str) -> tuple[int, ...]:
    """Numbers of cards that the plugin accepts with any setting; empty: all."""
    from policykit.catalogue.cards import vendor

    known = vendor(maker)
    return known.allowed_counts if known is not None and not known.allowed_when else ()


def _several_slices(name: str, amount: int, asked: Mapping[str, int]) -> Problem | None:
    """Source: Ascend mind-cluster docs/en/scheduling: a container gets one vNPU."""
    known = resource(name)
    if known is None or amount <= 1 or (known.vendor, known.role) != (_MAKER, "partition"):
        return None
    predicate = f"is {amount}, a container gets one virtual NPU"
    return Problem((name,), predicate, "request 1 of a larger template, or whole chips", Severity.ERROR)


def _several_with_memory(name: str, amount: int, asked: Mapping[str, int]) -> Problem | None:
    """A slice belongs to one chip: HAMi's Ascend and Hygon plugins. More memory than of any: whole."""
    known = resource(name)
    memory = {_HAMI: name + _MEMORY, "hygon": "hygon.com/dcumem"}.get(known.vendor) if known else None
    slices = known is not None and (known.role == "shared" or known.vendor == _HAMI)
    if memory is None or memory not in asked or amount <= 1 or not slices or name == memory:
        return None
    if known is not None and known.vendor == _HAMI and asked[memory] > max(_templates(name), default=0):
        return None
    predicate = f"is {amount} with {memory}, but a slice belongs to one card"
    return Problem((name,), predicate, f"request 1, or remove {memory}", Severity.WARNING)


def _between_templates(name: str, amount: int, asked: Mapping[str, int]) -> Problem | None:
    if not name.endswith(_MEMORY) or "/" not in name:
        return None
    sizes = _templates(name.removesuffix(_MEMORY))
    if not sizes or amount in sizes:
        return None
    larger = [size for size in sizes if size > amount]
    given = f"which is rounded up to a slice of {larger[0]}" if larger else "which is given as a whole chip"
    predicate = f"is {amount} MiB, {given}"
    listed = ", ".join(map(str, sizes))
    return Problem((name,), predicate, f"sizes of slices: {listed}", Severity.INFO)


def _templates(chip: str) -> list[int]:
    """MiB of each slice of a chip of HAMi's Ascend plugin, the smallest first."""
    from policykit.catalogue.cards import vendor

    maker = vendor(_HAMI)
    return sorted(maker.templates_mib.get(chip.partition("/")[2], {}).values()) if maker else []
