"""Actions of the scheduler, and their arguments in `configurations`."""

from __future__ import annotations

from collections.abc import Mapping

from policykit.catalogue.volcano.argument import Argument
from policykit.catalogue.volcano.wording import Release
from policykit.namedtuple import NamedTuple


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
