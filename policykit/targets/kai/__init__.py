"""KAI-Scheduler: it groups the pods of known kinds itself."""

from __future__ import annotations

from policykit.lazy import Lazy
from policykit.linter.target import FactReader, Key, QueueSupport, Target

NAME = "kai"
SCHEDULER = "kai-scheduler"
QUEUE = "kai.scheduler/queue"
"""Label of the pod or of its topmost owner."""

FRACTION, MEMORY = "gpu-fraction", "gpu-memory"
"""Annotations of pods, for a part of a card and for MiB of one."""
QUEUE_OF_DYNAMO = "nvidia.com/kai-scheduler-queue"
"""Annotation of a DynamoGraphDeployment, whose operator gives its pods the label and the scheduler."""

PARTITION = "kai.scheduler/node-pool"
"""Label of nodes, queues and pods that one scheduler of several serves, as a SchedulingShard says."""

PREEMPTIBILITY = "kai.scheduler/preemptibility"
"""Label of the pod or of its owners (0.10)."""
DELAY, GRACE = "kai.scheduler/preemption-delay", "kai.scheduler/staleness-grace-period"
"""Annotations of the pod or of its owners (0.17)."""
SIZE = "kai.scheduler/batch-min-member"
"""Annotation of a job: the pods that must start together."""
TOPOLOGY = "kai.scheduler/topology"
LEVELS = ("kai.scheduler/topology-required-placement", "kai.scheduler/topology-preferred-placement")
"""Annotations of the topmost owner, or of a template. Source: `plugins/constants` in pkg/podgrouper."""
SEGMENT_LEVELS = (
    "kai.scheduler/segment-topology-required-placement",
    "kai.scheduler/segment-topology-preferred-placement",
)

KEYS = (
    Key("labels", QUEUE, "queue"),
    Key("labels", QUEUE, "queue", on_owner=True),
    Key("annotations", FRACTION, "device"),
    Key("annotations", MEMORY, "device"),
)


TARGET = Target(
    NAME,
    "KAI-Scheduler",
    frozenset({SCHEDULER}),
    frozenset({"kai"}),
    KEYS,
    supports_gangs=True,
    gang_annotations=frozenset({SIZE, DELAY, GRACE, TOPOLOGY, *LEVELS, *SEGMENT_LEVELS}),
    labels=frozenset({PREEMPTIBILITY, "kai.scheduler/subgroup-name"}),
    gang_substrings=("kai.scheduler",),
    releases=Lazy("policykit.targets.kai.facts:RELEASES"),
    release_facts=Lazy("policykit.targets.kai.facts:FACTS"),
    facts=(
        FactReader(
            Lazy("policykit.targets.kai.facts:facts"),
            frozenset({"Queue", "SchedulingShard"}),
            pods=True,
            substrings=("scheduling.run.ai", "kai.scheduler", "kai-scheduler-queue"),
        ),
        FactReader(
            Lazy("policykit.targets.kai.topology:facts"),
            frozenset({"PodGroup", "Topology"}),
            pods=True,
            substrings=("kai.scheduler", "topologyConstraint"),
        ),
    ),
    queues=QueueSupport(
        Lazy("policykit.targets.kai.facts:queue_semantics"),
        Lazy("policykit.targets.kai.facts:policy_queues"),
    ),
    groups_pods=True,
    queue_label=QUEUE,
    card_parts=(FRACTION, MEMORY),
)
