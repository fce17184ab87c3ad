"""Volcano: scheduler configuration, queues and jobs, written and read."""

from __future__ import annotations

from policykit.lazy import Lazy
from policykit.linter.target import FactReader, QueueSupport, Target
from policykit.targets.volcano.configurations import CONFIGURATION
from policykit.targets.volcano.groups import read_group, read_membership
from policykit.targets.volcano.names import CONFIG_FILE, GROUP_NAME, KEYS, QUEUE_NAME, SCHEDULER

TARGET = Target(
    "volcano",
    "Volcano",
    frozenset({SCHEDULER}),
    KEYS,
    gangs=True,
    resources_first=True,
    gang_words=("volcano",),
    read_group=read_group,
    read_membership=read_membership,
    configurations=(CONFIGURATION,),
    facts=(
        FactReader(Lazy("policykit.targets.volcano.sharing:facts"), frozenset({"Queue", "PodGroup"})),
        FactReader(
            Lazy("policykit.targets.volcano.topology_facts:facts"),
            frozenset({"CronJob", "HyperNode", "Job", "JobTemplate", "PodGroup", CONFIG_FILE}),
        ),
    ),
    queues=QueueSupport(
        Lazy("policykit.targets.volcano.sharing:queue_semantics"),
        Lazy("policykit.targets.volcano.sharing:policy_queues"),
        namespace_key=QUEUE_NAME,
        group_key=GROUP_NAME,
    ),
    pod_fields=Lazy("policykit.targets.volcano.pods:fields"),
    options=Lazy("policykit.targets.volcano.options:VolcanoOptions"),
    generate=Lazy("policykit.targets.volcano.generate:generate"),
    import_reader=Lazy("policykit.targets.volcano.importing:VolcanoReader"),
)
