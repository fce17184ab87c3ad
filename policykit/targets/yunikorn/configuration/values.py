"""Values and amounts in a queue configuration, read as YuniKorn and its Go libraries read them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from policykit.kube.placeholders import is_placeholder
from policykit.manifests.shape import mapping
from policykit.model.pool import Amounts
from policykit.model.quantity import amount_text
from policykit.model.release import Version
from policykit.namedtuple import NamedTuple
from policykit.nearest import nearest


def items(data: object) -> list[Mapping[str, Any]]:
    """The maps of a list. As upstream, nulls are skipped; any other item counts as an empty map."""
    return [mapping(item) for item in data if item is not None] if isinstance(data, list) else []


def text(data: object) -> str:
    """A scalar as a string: YuniKorn's decoder accepts numbers and booleans as strings."""
    if isinstance(data, bool):
        return "true" if data else "false"
    return str(data) if isinstance(data, (str, int, float)) else ""


def texts(data: object) -> dict[str, str]:
    """A map of strings."""
    return {text(key): text(value) for key, value in data.items()} if isinstance(data, dict) else {}


def names(data: object) -> tuple[str, ...]:
    """A list of strings."""
    return tuple(text(item) for item in data if item is not None) if isinstance(data, list) else ()


def whole(data: object) -> int:
    """A count; 0 if there is none."""
    return data if isinstance(data, int) and not isinstance(data, bool) and data > 0 else 0


def flag(data: object) -> bool | None:
    """A boolean. As upstream, the words of YAML 1.1 count."""
    if isinstance(data, str):
        return _WORDS.get(data.lower())
    return data if isinstance(data, bool) else None


_WORDS = {"yes": True, "on": True, "y": True, "no": False, "off": False, "n": False}


def without_unset(entries: Mapping[str, Any]) -> dict[str, Any]:
    """The entries with a value other than None, False, 0, or an empty string, list or map."""
    return {key: value for key, value in entries.items() if value}


def contains_placeholder(data: object) -> bool:
    """Whether any value or key in the data is a placeholder of a template."""
    if isinstance(data, dict):
        return any(is_placeholder(key) or contains_placeholder(value) for key, value in data.items())
    if isinstance(data, (list, tuple, frozenset)):
        return any(map(contains_placeholder, data))
    return is_placeholder(data)


_CLASS = r"\[:\^?[a-z]+:\]"
"""[:alpha:] within a set, which Python reads as a nested set."""
_ONLY_PYTHON = r"\(\?(?:<?[=!]|\(|P=)|(?<!\\)(?:\\\\)*\\[1-9]"
"""Lookaround, conditions and back references."""
_ONLY_GO = ("bad escape", "global flags", "unknown extension", "missing :", "unknown flag")
"""How Python's error messages begin for what Go may accept: \\pL, \\z, flags in the middle."""


def is_regular_expression(text: str) -> bool:
    """Whether Go (RE2) accepts it. Syntax that only Go knows is not checked and counts as valid."""
    if re.search(_ONLY_PYTHON, text):
        return False
    try:
        re.compile(re.sub(_CLASS, "a", text))
    except re.error as error:
        return error.msg.startswith(_ONLY_GO)
    except (OverflowError, RecursionError):
        return True
    return True


class Parameter(NamedTuple):
    """The values of a property or setting that YuniKorn reads."""

    takes: Callable[[str], bool]
    words: str = ""
    """The valid values, for messages."""
    since: Version | None = None
    gone: Version | None = None
    """First release that no longer reads it."""


def parameter_problem(
    what: str, known: Mapping[str, Parameter], name: str, text: str, version: Version
) -> str:
    """Why a property or setting, as `what` says, has no effect; empty: it has one."""
    parameter = known.get(name)
    if parameter is None:
        near = nearest(name, tuple(known))
        return f"is not a {what} that YuniKorn reads{f': did you mean {near}?' if near else ''}"
    if parameter.since and version < parameter.since:
        return f"requires YuniKorn {parameter.since} or later"
    if parameter.gone and version >= parameter.gone:
        return f"was removed in YuniKorn {parameter.gone}"
    return "" if parameter.takes(text) else f"is {text!r}, not {parameter.words}"


CORES = "vcore"
"""What YuniKorn calls cpu; a plain number means cores."""
CountedAmounts = Mapping[str, int]
"""Resource by YuniKorn's name to amount: vcore in thousandths, everything else in units."""

_TEXT = r"([0-9]+)\s*([mkKMGTPE]i?)?\Z"
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


def write_amounts(resources: Resources) -> dict[str, Any]:
    stated = {"guaranteed": resources.guaranteed, "max": resources.maximum}
    return {key: dict(sorted(value.items())) for key, value in stated.items() if value is not None}


def read_amounts(data: object) -> Resources:
    found = mapping(data)
    return Resources(*(texts(found[key]) if _given(found, key) else None for key in ("guaranteed", "max")))


def _given(data: Mapping[str, Any], key: str) -> bool:
    return isinstance(data.get(key), dict)


def quantity(resource: str, text: str) -> int | None:
    """The amount; None if YuniKorn refuses it (core resources/quantity.go, 1.9)."""
    match = re.match(_TEXT, text.strip())
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
