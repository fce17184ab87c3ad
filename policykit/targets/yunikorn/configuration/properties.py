"""Properties of queues: which there are since when, and what they take."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from policykit.durations import is_duration
from policykit.nearest import nearest
from policykit.targets.release import Version
from policykit.targets.yunikorn import versions

SORT = "application.sort.policy"
OFFSET = "priority.offset"
PREEMPTION = "preemption.policy"
QUOTA_DELAY = "quota.preemption.delay"
_OLD_QUOTA_DELAY = "preemption.quota.delay"
"""What 1.8 reads."""

_INT32 = 1 << 31
_UINT64 = 1 << 64


def _one_of(*words: str, any_case: bool = True) -> Callable[[str], bool]:
    return lambda text: (text.lower() if any_case else text) in words


def _offset(text: str) -> bool:
    return bool(re.match(r"[-+]?[0-9]{1,20}\Z", text)) and -_INT32 <= int(text) < _INT32


def _count(text: str) -> bool:
    return bool(re.match(r"[0-9]{1,20}\Z", text)) and int(text) < _UINT64


class Property(NamedTuple):
    """A property YuniKorn reads."""

    takes: Callable[[str], bool]
    words: str
    since: Version | None = None


KNOWN: Mapping[str, Property] = {
    SORT: Property(_one_of("fifo", "fair", any_case=False), "fifo or fair"),
    "application.sort.priority": Property(_one_of("enabled", "disabled"), "enabled or disabled"),
    "priority.policy": Property(_one_of("default", "fence"), "default or fence"),
    OFFSET: Property(_offset, "a whole number of 32 bits"),
    PREEMPTION: Property(_one_of("default", "fence", "disabled"), "default, fence or disabled"),
    "preemption.delay": Property(is_duration, "a duration such as 30s"),
    QUOTA_DELAY: Property(is_duration, "a duration such as 30s", versions.QUOTA_PREEMPTION),
    "application.unschedasks.backoff": Property(_count, "a whole number", versions.ASK_BACKOFF),
    "application.unschedasks.backoff.delay": Property(
        is_duration, "a duration such as 30s", versions.ASK_BACKOFF
    ),
}


def problem(name: str, text: str, version: Version) -> str:
    """Why a property has no effect; empty: it has."""
    known = KNOWN.get(name)
    if known is None:
        near = nearest(name, tuple(KNOWN))
        return f"is not a property that YuniKorn reads{f': did you mean {near}?' if near else ''}"
    if known.since and version < known.since:
        return f"requires YuniKorn {known.since} or later"
    return "" if known.takes(text) else f"is {text!r}, not {known.words}"


OF_LEAVES = frozenset({SORT, "preemption.delay"})
"""What only leaves use; a leaf that a placement rule makes has it from its child template alone."""
_COUNTS_AS_FIFO = "stateaware"
_ABOVE_ZERO = frozenset({"preemption.delay", "application.unschedasks.backoff.delay"})


def unread(name: str, text: str, version: Version | None) -> str:
    """Why a property in a configuration has no effect, spelled as its release spells it.

    `version` None: none is stated, and what some release reads is fine.
    """
    if name in (QUOTA_DELAY, _OLD_QUOTA_DELAY) and version is not None:
        read = _OLD_QUOTA_DELAY if version < versions.QUOTA_DELAY_RENAMED else QUOTA_DELAY
        if version < versions.QUOTA_PREEMPTION:
            return f"requires YuniKorn {versions.QUOTA_PREEMPTION} or later"
        if name != read:
            return f"is called {read} in YuniKorn {version}"
    if name == SORT and text == _COUNTS_AS_FIFO:
        return f"is {text!r}, which YuniKorn treats as fifo"
    if name in _ABOVE_ZERO and is_duration(text) and not any(digit in text for digit in "123456789"):
        return f"is {text!r}, not a duration above zero"
    return problem(understood_name(name), text, version or versions.parse(""))


def understood_name(name: str) -> str:
    """As the newest release spells it."""
    return QUOTA_DELAY if name == _OLD_QUOTA_DELAY else name


def written(properties: Mapping[str, str], version: Version) -> dict[str, str]:
    """As a release spells them."""
    renamed = version < versions.QUOTA_DELAY_RENAMED
    return {
        _OLD_QUOTA_DELAY if renamed and name == QUOTA_DELAY else name: text
        for name, text in properties.items()
    }


def understood(properties: Mapping[str, str]) -> dict[str, str]:
    """As the newest release spells them."""
    return {
        understood_name(name): text
        for name, text in properties.items()
        if name != _OLD_QUOTA_DELAY or QUOTA_DELAY not in properties
    }
