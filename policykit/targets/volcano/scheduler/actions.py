"""Actions of the scheduler, and the types of arguments that actions and plugins take."""

from __future__ import annotations

import re
from collections.abc import Mapping

from policykit.durations import is_signed_duration
from policykit.manifests.shape import TRUE
from policykit.namedtuple import NamedTuple
from policykit.targets.volcano.versions import Release

TYPES: Mapping[str, str] = {
    "whole": "a whole number",
    "number": "a number",
    "switch": "true or false",
    "text": "a string",
    "names": "a string of comma-separated names",
    "duration": "a duration such as 1h30m",
    "hours": "hours such as 20:00-08:00",
    "list": "a list",
    "map": "a map",
}
"""Type of an argument, in words."""
_HOURS = re.compile(r"\s*([01]?[0-9]|2[0-3]):[0-5][0-9]-([01]?[0-9]|2[0-3]):[0-5][0-9]\s*\Z")


class Argument(NamedTuple):
    """One argument. Volcano ignores a value of another type, or exits."""

    kind: str
    """One of `TYPES`."""
    default: object = None
    """Volcano's default; None if there is none, or it depends."""
    since: Release = ()
    gone: Release = ()
    """First release without it; empty if it still exists."""
    least: int | None = None
    choices: tuple[str, ...] = ()
    fields: Mapping[str, Argument] = {}
    """Allowed keys of a map; empty: any."""
    each: Argument | None = None
    """Items of a list, or values of a map with any keys."""


def is_on(value: object) -> bool:
    """Whether a switch is on: Volcano reads strings as strconv.ParseBool does."""
    return value is True or (isinstance(value, str) and value in TRUE)


def is_of_type(value: object, kind: str) -> bool:
    """Whether a value has the type itself, without a conversion by Volcano."""
    if kind == "switch":
        return isinstance(value, bool)
    if kind in ("whole", "number"):
        numbers = int if kind == "whole" else (int, float)
        return isinstance(value, numbers) and not isinstance(value, bool)
    if kind in ("list", "map"):
        return isinstance(value, list if kind == "list" else Mapping)
    if not isinstance(value, str):
        return False
    if kind == "duration":
        return is_signed_duration(value)
    return kind != "hours" or _HOURS.match(value) is not None


class Action(NamedTuple):
    """A step of each scheduling cycle."""

    since: Release = ()
    arguments: Mapping[str, Argument] = {}


_CACHE = {"predicateErrorCacheEnable": Argument("switch", True, (1, 10))}
_GANG = {"maxDomains": Argument("whole", 8, least=1), "allowWholeBundle": Argument("switch", True)}

ACTIONS: Mapping[str, Action] = {
    "enqueue": Action(),
    "allocate": Action((), _CACHE),
    "backfill": Action((), _CACHE),
    "reclaim": Action((), _CACHE),
    "gangreclaim": Action((1, 15), _GANG),
    "preempt": Action(
        (),
        {
            **_CACHE,
            "enableTopologyAwarePreemption": Argument("switch", False, (1, 13)),
            "topologyAwarePreemptWorkerNum": Argument("whole", 16, (1, 13), least=1),
            "minCandidateNodesPercentage": Argument("whole", 10, (1, 13), least=0),
            "minCandidateNodesAbsolute": Argument("whole", 1, (1, 13), least=0),
            "maxCandidateNodesAbsolute": Argument("whole", 100, (1, 13), least=0),
        },
    ),
    "gangpreempt": Action((1, 15), _GANG),
    "shuffle": Action(),
}
"""Every action, in the order in which a cycle should run them: free resources are allocated first, then
resources of other queues are reclaimed, then pods in the same queue are preempted."""

ASCEND_CONFIGURATIONS = ("init-params", "selector")
"""Names under `configurations` that are no actions: the Ascend plugin reads them, for virtual NPUs and for
the labels of its nodes.

Source: `ascend-volcano-plugin/common/util` of mind-cluster, `pkg/scheduler/api/devices/ascend` (1.15).
"""

METRICS: Mapping[str, Argument] = {
    "type": Argument("text", choices=("prometheus", "prometheus_adaptor", "elasticsearch")),
    "address": Argument("text"),
    "interval": Argument("duration", "30s"),
    "tls.insecureSkipVerify": Argument("text", "false", choices=("true", "false")),
    "elasticsearch.index": Argument("text"),
    "elasticsearch.username": Argument("text"),
    "elasticsearch.password": Argument("text"),
    "elasticsearch.hostnameFieldName": Argument("text"),
}
"""Keys of `metrics`, from which plugins usage and rescheduling get the load of nodes: all are strings."""
