"""Apache YuniKorn: queues and gangs set by pod metadata, and how its files are recognized."""

from __future__ import annotations

from policykit.lazy import Lazy
from policykit.linter.configurations import Configuration
from policykit.linter.target import FactReader, QueueAmounts, QueueKey, QueueSupport, Target
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.model.pool import NodeFilters
from policykit.nearest import nearest
from policykit.targets.yunikorn.metadata import read_membership
from policykit.targets.yunikorn.names import APP_ID, KEYS, QUEUE, SCHEDULER

NAME = "queues.yaml"
_CONFIG_MAPS = "yunikorn-"
"""Prefix of the two ConfigMaps that the scheduler reads."""
_KEYS = frozenset(
    {"limits", "name", "nodesortpolicy", "placementrules", "preemption", "queues", "usergroupresolver"}
)
_VALUES = "yunikornDefaults"
"""Helm value of the chart that contains the data of the ConfigMap."""


def _matches_shape(data: object) -> bool:
    if not isinstance(data, dict):
        return False
    partitions = data.get("partitions")
    return isinstance(partitions, list) and any(map(_is_partition, partitions))


def _is_partition(data: object) -> bool:
    """Whether it has queues, or only keys of a partition: disks have named partitions, too."""
    if not isinstance(data, dict):
        return False
    return "queues" in data or ("name" in data and all(_is_key(str(key).lower()) for key in data))


def _is_key(key: str) -> bool:
    """A key of a partition, or a misspelling of one: `queeus`."""
    return key in _KEYS or bool(nearest(key, tuple(_KEYS), 0.8))


def _is_named(holder: Manifest, path: Path) -> bool:
    if path == (NAME,):
        return not holder.kind  # the data of a ConfigMap on its own
    return path[-1:] == (NAME,) and (holder.name.startswith(_CONFIG_MAPS) or _VALUES in path)


CONFIGURATION = Configuration(NAME, ("partitions", NAME), _matches_shape, _is_named)

VALUES = Configuration(
    "yunikorn-values", (_VALUES,), lambda data: isinstance(data, dict) and isinstance(data.get(_VALUES), dict)
)
"""A file of Helm values for the chart."""


TARGET = Target(
    "yunikorn",
    "YuniKorn",
    frozenset({SCHEDULER}),
    frozenset({"yunikorn-scheduler", "yunikorn-scheduler-k8s"}),
    KEYS,
    supports_gangs=True,
    gangs_of_cluster=True,
    reserves_gangs=True,
    batch_scheduler=True,
    filters=NodeFilters(resources_first=True, skips_cordoned=True),
    application_label=APP_ID,
    gang_substrings=("yunikorn",),
    overrides_scheduler=Lazy("policykit.targets.yunikorn.admission:covers"),
    ignores_preferences=Lazy("policykit.targets.yunikorn.metadata:is_scheduled"),
    read_membership=read_membership,
    configurations=(CONFIGURATION, VALUES),
    facts=(
        FactReader(Lazy("policykit.targets.yunikorn.queue_facts:facts"), frozenset({NAME})),
        FactReader(
            Lazy("policykit.targets.yunikorn.facts:application_facts"),
            pods=True,
            substrings=("queue", "yunikorn", "applicationId", "spark-app-selector"),
        ),
        FactReader(
            Lazy("policykit.targets.yunikorn.facts:task_group_facts"), pods=True, substrings=("yunikorn",)
        ),
        FactReader(Lazy("policykit.targets.yunikorn.facts:namespace_facts"), frozenset({"Namespace"})),
        FactReader(Lazy("policykit.targets.yunikorn.queue_facts:static_queue_facts"), frozenset({NAME})),
    ),
    queues=QueueSupport(
        Lazy("policykit.targets.yunikorn.queue_facts:queue_semantics"),
        Lazy("policykit.targets.yunikorn.queue_facts:policy_queues"),
        QUEUE,
        resolve=Lazy("policykit.targets.yunikorn.queue_facts:resolved"),
        metadata=(
            QueueKey(QUEUE, claims=True),
            QueueKey("queue", where="labels"),
            QueueKey(APP_ID, "app", claims=True),
            QueueKey("applicationId", "app", "labels"),
        ),
        amounts=QueueAmounts(frozenset({NAME}), Lazy("policykit.targets.yunikorn.queue_facts:amount_paths")),
    ),
    pod_fields=Lazy("policykit.targets.yunikorn.pods:fields"),
    options=Lazy("policykit.targets.yunikorn.options:YuniKornOptions"),
    generate=Lazy("policykit.targets.yunikorn.generate:generate"),
    import_reader=Lazy("policykit.targets.yunikorn.importing:YunikornReader"),
    releases=Lazy("policykit.targets.yunikorn.versions:RELEASES"),
    release_facts=Lazy("policykit.targets.yunikorn.release_facts:FACTS"),
)
