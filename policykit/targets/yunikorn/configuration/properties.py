"""Properties of queues: the releases that read them, and their valid values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from policykit.durations import is_duration
from policykit.model.release import Version
from policykit.targets.yunikorn import versions
from policykit.targets.yunikorn.configuration.values import Parameter, parameter_problem

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


KNOWN: Mapping[str, Parameter] = {
    SORT: Parameter(_one_of("fifo", "fair", any_case=False), "fifo or fair"),
    "application.sort.priority": Parameter(_one_of("enabled", "disabled"), "enabled or disabled"),
    "priority.policy": Parameter(_one_of("default", "fence"), "default or fence"),
    OFFSET: Parameter(_offset, "a whole number of 32 bits"),
    PREEMPTION: Parameter(_one_of("default", "fence", "disabled"), "default, fence or disabled"),
    "preemption.delay": Parameter(is_duration, "a duration such as 30s"),
    QUOTA_DELAY: Parameter(is_duration, "a duration such as 30s", versions.QUOTA_PREEMPTION),
    "application.unschedasks.backoff": Parameter(_count, "a whole number", versions.ASK_BACKOFF),
    "application.unschedasks.backoff.delay": Parameter(
        is_duration, "a duration such as 30s", versions.ASK_BACKOFF
    ),
}


def problem(name: str, text: str, version: Version) -> str:
    """Why a property has no effect; empty: it has one."""
    return parameter_problem("property", KNOWN, name, text, version)


OF_LEAVES = frozenset({SORT, "preemption.delay"})
"""Properties of leaf queues only. A leaf that a placement rule creates gets them from its child template."""
_COUNTS_AS_FIFO = "stateaware"
_ABOVE_ZERO = frozenset({"preemption.delay", "application.unschedasks.backoff.delay"})


def no_effect_reason(name: str, text: str, version: Version | None) -> str:
    """Why a property of a configuration has no effect; properties have the names of the release.

    `version` None: unknown, so a property that any release reads is accepted.
    """
    if name in (QUOTA_DELAY, _OLD_QUOTA_DELAY) and version is not None:
        read = _OLD_QUOTA_DELAY if version < versions.QUOTA_DELAY_RENAMED else QUOTA_DELAY
        if version < versions.QUOTA_PREEMPTION:
            return f"requires YuniKorn {versions.QUOTA_PREEMPTION} or later"
        if name != read:
            return f"is called {read} in YuniKorn {version}"
    if name == SORT and text == _COUNTS_AS_FIFO:
        if version is not None and version < versions.STATE_AWARE_ENDS:
            return ""
        return f"is {text!r}, which YuniKorn treats as fifo"
    if name in _ABOVE_ZERO and is_duration(text) and not any(digit in text for digit in "123456789"):
        return f"is {text!r}, not a duration above zero"
    return problem(newest_name(name), text, version or versions.parse(""))


def newest_name(name: str) -> str:
    """The name in the newest release."""
    return QUOTA_DELAY if name == _OLD_QUOTA_DELAY else name


def release_names(properties: Mapping[str, str], version: Version) -> dict[str, str]:
    """Properties under the names of a release."""
    renamed = version < versions.QUOTA_DELAY_RENAMED
    return {
        _OLD_QUOTA_DELAY if renamed and name == QUOTA_DELAY else name: text
        for name, text in properties.items()
    }


def newest_names(properties: Mapping[str, str]) -> dict[str, str]:
    """Properties under the names of the newest release."""
    return {
        newest_name(name): text
        for name, text in properties.items()
        if name != _OLD_QUOTA_DELAY or QUOTA_DELAY not in properties
    }
