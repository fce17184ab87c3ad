"""Labels, annotations and settings of YuniKorn by release, 1.3 to 1.9.

Source: the shim's `pkg/common/constants`, and the core's `pkg/common/configs`, at the tags.
"""

from __future__ import annotations

from policykit.model.release import ReleaseFact, Version
from policykit.targets.yunikorn import versions
from policykit.targets.yunikorn.configuration.configmap import KNOWN as SETTINGS
from policykit.targets.yunikorn.configuration.properties import KNOWN as PROPERTIES
from policykit.targets.yunikorn.names import APP_ID, OLD_APP_IDS, OLD_QUEUE, QUEUE

_CONSTANTS = "k8shim pkg/common/constants/constants.go"
_LABELS = versions.CANONICAL_LABELS

FACTS: tuple[ReleaseFact, ...] = (
    ReleaseFact("label", QUEUE, _LABELS, instead=f"label {OLD_QUEUE}", source=_CONSTANTS),
    ReleaseFact("label", APP_ID, _LABELS, instead=f"label {OLD_APP_IDS[0]}", source=_CONSTANTS),
    ReleaseFact("label", "disableStateAware", gone=versions.STATE_AWARE_ENDS, source=_CONSTANTS),
    ReleaseFact("annotation", "yunikorn.apache.org/namespace.maxApps", _LABELS, source=_CONSTANTS),
    ReleaseFact(
        "annotation", "yunikorn.apache.org/namespace.guaranteed", Version(1, 4, 0), source=_CONSTANTS
    ),
    *(
        ReleaseFact("setting", name, known.since, known.gone, source="pkg/common/configs, k8shim pkg/conf")
        for name, known in SETTINGS.items()
        if known.since or known.gone
    ),
    *(
        ReleaseFact("property", name, known.since, known.gone, source="pkg/common/configs/config.go")
        for name, known in PROPERTIES.items()
        if known.since or known.gone
    ),
    ReleaseFact(
        "check",
        "limits fit into those of the same user or group above",
        versions.LIMITS_COMPARED,
        source="checkLimitResource and checkLimitMaxApplications of pkg/common/configs/configvalidator.go",
    ),
    ReleaseFact(
        "check",
        "limits fit into those of * above",
        versions.LIMITS_COMPARED_WITH_ALL,
        source="checkLimitResource and checkLimitMaxApplications of pkg/common/configs/configvalidator.go",
    ),
    ReleaseFact(
        "check",
        "limits of a queue with maxapplications have their own",
        gone=versions.LIMITS_COMPARED,
        source="checkLimit of pkg/common/configs/configvalidator.go",
    ),
    ReleaseFact(
        "value",
        ": # / @ in names of queues, # / in names of users",
        versions.QUEUE_NAME_SIGNS,
        source="QueueNameRegExp and UserRegExp of pkg/common/configs/configvalidator.go",
    ),
    ReleaseFact(
        "field",
        "statedumpfilepath of a partition",
        gone=versions.STATE_DUMP_ENDS,
        source="pkg/common/configs/config.go",
    ),
    ReleaseFact(
        "field",
        "usergroupresolver of a partition",
        versions.GROUP_RESOLVER,
        source="pkg/common/configs/config.go",
    ),
    ReleaseFact(
        "field",
        "preemption.quotapreemptionenabled of a partition",
        versions.QUOTA_PREEMPTION,
        source="pkg/common/configs/config.go",
    ),
    ReleaseFact(
        "property",
        "application.sort.policy",
        gone=versions.STATE_AWARE_ENDS,
        part="stateaware",
        instead="fifo",
        source="pkg/scheduler/policies/sorting_policy.go",
    ),
)
