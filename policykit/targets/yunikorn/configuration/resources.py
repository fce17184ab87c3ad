"""Amounts in queues.yaml, in YuniKorn's own syntax, which differs from Kubernetes quantities."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from policykit.manifests.shape import mapping
from policykit.model.pool import Amounts
from policykit.model.quantity import amount_text
from policykit.namedtuple import NamedTuple
from policykit.targets.yunikorn.configuration.values import texts

CORES = "vcore"
"""What YuniKorn calls cpu; a plain number means cores."""
CountedAmounts = Mapping[str, int]
"""Resource by YuniKorn's name to amount: vcore in thousandths, everything else in units."""

_TEXT = re.compile(r"([0-9]+)\s*([mkKMGTPE]i?)?\Z")
_SCALE = {
    "": 1,
    **{suffix: 1000**power for power, suffix in enumerate("kMGTPE", start=1)},
    **{f"{suffix}i": 1024**power for power, suffix in enumerate("KMGTPE", start=1)},
}
_LARGEST = (1 << 63) - 1


class Resources(NamedTuple):
    """`resources` of a queue or child template, as written. None: the key is missing."""

    guaranteed: Mapping[str, str] | None = None
    maximum: Mapping[str, str] | None = None


def write(resources: Resources) -> dict[str, Any]:
    stated = {"guaranteed": resources.guaranteed, "max": resources.maximum}
    return {key: dict(sorted(value.items())) for key, value in stated.items() if value is not None}


def read(data: object) -> Resources:
    found = mapping(data)
    return Resources(*(texts(found[key]) if _given(found, key) else None for key in ("guaranteed", "max")))


def _given(data: Mapping[str, Any], key: str) -> bool:
    return isinstance(data.get(key), Mapping)


def quantity(resource: str, text: str) -> int | None:
    """The amount; None if YuniKorn refuses it (core resources/quantity.go, 1.9)."""
    match = _TEXT.match(text.strip())
    if match is None or len(match[1]) > len(str(_LARGEST)):
        return None
    number, suffix = int(match[1]), match[2] or ""
    if number > _LARGEST or (suffix not in _SCALE and not (suffix == "m" and resource == CORES)):
        return None
    if resource == CORES:
        number *= 1 if suffix == "m" else _SCALE[suffix] * 1000
    else:
        number *= _SCALE[suffix]
    return number if number <= _LARGEST else None


def counted(stated: Mapping[str, str] | None) -> dict[str, int]:
    """Every valid amount."""
    found = {name: quantity(name, text) for name, text in (stated or {}).items()}
    return {name: number for name, number in found.items() if number is not None}


def from_amounts(amounts: Amounts) -> dict[str, str]:
    """Kubernetes amounts under YuniKorn's names."""
    return {CORES if name == "cpu" else name: amount_text(name, amounts[name]) for name in sorted(amounts)}


def to_amounts(stated: Mapping[str, str] | None) -> dict[str, int]:
    """Kubernetes amounts. `cpu` is left out: YuniKorn counts nothing under that name."""
    return {
        "cpu" if name == CORES else name: number for name, number in counted(stated).items() if name != "cpu"
    }


def first_excess(larger: CountedAmounts, smaller: CountedAmounts) -> str:
    """The first resource of which `smaller` has more. Resources missing in `larger` are unlimited."""
    return next((name for name in sorted(smaller) if name in larger and smaller[name] > larger[name]), "")


def minimum(one: CountedAmounts, other: CountedAmounts) -> dict[str, int]:
    """The smaller amount of each resource that either names."""
    return {**one, **{name: min(amount, one.get(name, amount)) for name, amount in other.items()}}


def total(each: Iterable[CountedAmounts]) -> dict[str, int]:
    found: dict[str, int] = {}
    for amounts in each:
        for name, amount in amounts.items():
            found[name] = found.get(name, 0) + amount
    return found
