"""Values of arguments: which types Volcano's getters take, and what it does with others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from policykit.catalogue.volcano.argument import Argument
from policykit.manifests.path import dotted
from policykit.targets.volcano.checks.arguments import Given
from policykit.targets.volcano.checks.listing import FALSE, TRUE

_DURATION = re.compile(r"[-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|µs|ms|s|m|h))+\Z|[-+]?0\Z")
_HOURS = re.compile(r"\s*([01]?[0-9]|2[0-3]):[0-5][0-9]-([01]?[0-9]|2[0-3]):[0-5][0-9]\s*\Z")
_WHOLE = re.compile(r"-?[0-9]{1,18}\Z")
_NUMBER = re.compile(r"-?[0-9]{1,18}(?:\.[0-9]{1,18})?\Z")
_WORDS = {
    "whole": "a whole number",
    "number": "a number",
    "switch": "true or false",
    "text": "a text",
    "names": "one text with commas between the names",
    "duration": "a duration such as 1h30m",
    "hours": "hours of the day such as 20:00-08:00",
    "list": "a list",
    "map": "a map",
}
_TEXTS = ("text", "names", "duration", "hours")
_YES, _NO = frozenset({"yes", "on", "y"}), frozenset({"no", "off", "n"})
_EXITING = ("volumebinding.", "dynamicresources.", "extender.managedResources")
_MISSING = object()
NO_VALUE = _MISSING
"""There is no value that was certainly meant."""


def is_duration(text: str) -> bool:
    """Whether Go's time.ParseDuration takes it."""
    return _DURATION.match(text) is not None


def expected(argument: Argument) -> str:
    """What an argument takes, in words."""
    return _WORDS[argument.kind]


def fits(given: Given) -> bool:
    """Whether the getter takes the value. Source: `framework/arguments.go` and the plugins (1.8 to 1.15)."""
    argument, value = given.argument, given.value
    if argument is None:
        return True
    if value is None:
        return not panics(given)
    if argument.kind == "whole" and decoded(given) and isinstance(value, float):
        return True  # decoded into a structure: the fraction is cut off
    if given.owner == "metrics":
        return not isinstance(value, (list, Mapping))
    return _fits(value, argument.kind)


def _fits(value: Any, kind: str) -> bool:
    if kind == "switch":
        return isinstance(value, bool) or (isinstance(value, str) and value in TRUE | FALSE)
    if kind in ("whole", "number"):
        wanted = int if kind == "whole" else (int, float)
        return isinstance(value, wanted) and not isinstance(value, bool)
    if kind in ("list", "map"):
        return isinstance(value, list if kind == "list" else Mapping)
    if not isinstance(value, str):
        return False
    form = {"duration": _DURATION, "hours": _HOURS}.get(kind)
    return form is None or form.match(value) is not None


def decoded(given: Given) -> bool:
    """Read into a structure, where a value of another type ends the scheduler."""
    if given.name == "resource-strategy-fit":
        return True
    return given.name in ("predicates", "extender") and given.top.startswith(_EXITING)


def panics(given: Given) -> bool:
    """Read without a look at its type: another one ends the scheduler."""
    if given.inside or given.value == "" or isinstance(given.value, str):
        return False
    if given.name == "rescheduling":
        return given.key in ("interval", "metricsPeriod")
    return given.name == "tdm"


def effect(given: Given) -> str:
    """What Volcano does with a value of another type."""
    if decoded(given):
        return "the scheduler exits"
    if panics(given) or (given.name == "rescheduling" and given.argument and given.argument.kind == "whole"):
        return "the scheduler ends with a panic"
    if given.name == "usage" and given.top == "thresholds" and given.inside:
        return "it counts as 0, and no node in use is taken"
    if given.name == "tdm" and given.argument and given.argument.kind == "hours":
        return "its nodes take no pods"
    if given.owner == "metrics":
        return "the scheduler discards the whole file"
    default = given.argument.default if given.argument else None
    return (
        "it is ignored"
        if default in (None, "")
        else f"it is ignored, and the default {_shown(default)} holds"
    )


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def meant(given: Given) -> Any:
    """The value that was certainly meant, of the right type; NO_VALUE: none."""
    argument, value = given.argument, given.value
    if argument is None or given.owner == "metrics":
        return _MISSING
    kind = argument.kind
    if kind in ("whole", "number") and isinstance(value, str):
        return _number(value.strip(), kind)
    if kind == "whole" and isinstance(value, float) and value.is_integer():
        return int(value)
    if kind == "switch" and isinstance(value, str):
        word = value.strip().lower()
        return True if word in _YES | {"true"} else False if word in _NO | {"false"} else _MISSING
    if kind == "names" and isinstance(value, list) and value and all(isinstance(v, str) for v in value):
        return ", ".join(value)
    return _MISSING


def _number(written: str, kind: str) -> Any:
    if _WHOLE.match(written):
        return int(written)
    return float(written) if kind == "number" and _NUMBER.match(written) else _MISSING


def named(given: Given) -> str:
    """The argument in a message: its key, or for a part the way to it."""
    steps = list(given.path)
    start = steps.index("arguments") + 1 if "arguments" in steps else 1
    first, rest = str(steps[start]), steps[start + 1 :]
    if not rest:
        return first
    way = dotted(rest)
    return f"{first}{way}" if way.startswith("[") else f"{first}.{way}"
