"""Apache YuniKorn: queues and gangs set by pod metadata."""

from __future__ import annotations

from policykit.lazy import Lazy
from policykit.linter.target import FactReader, QueueAmounts, QueueKey, QueueSupport, Target
from policykit.targets.yunikorn.configurations import CONFIGURATION, NAME, VALUES
from policykit.targets.yunikorn.metadata import read_membership
from policykit.targets.yunikorn.names import APP_ID, KEYS, QUEUE, SCHEDULER

TARGET = Target(
    "yunikorn",
    "YuniKorn",
    frozenset({SCHEDULER}),
    KEYS,
    gangs=True,
    batch_scheduler=True,
    application_label=APP_ID,
    gang_words=("yunikorn",),
    takes_over=Lazy("policykit.targets.yunikorn.admission:covers"),
    ignores_preferences=Lazy("policykit.targets.yunikorn.metadata:is_scheduled"),
    read_membership=read_membership,
    configurations=(CONFIGURATION, VALUES),
    facts=(
        FactReader(Lazy("policykit.targets.yunikorn.sharing:facts"), frozenset({NAME})),
        FactReader(
            Lazy("policykit.targets.yunikorn.facts:application_facts"),
            pods=True,
            words=("queue", "yunikorn", "applicationId", "spark-app-selector"),
        ),
        FactReader(Lazy("policykit.targets.yunikorn.facts:task_group_facts"), pods=True, words=("yunikorn",)),
        FactReader(Lazy("policykit.targets.yunikorn.facts:namespace_facts"), frozenset({"Namespace"})),
        FactReader(Lazy("policykit.targets.yunikorn.sharing:static_queue_facts"), frozenset({NAME})),
    ),
    queues=QueueSupport(
        Lazy("policykit.targets.yunikorn.sharing:queue_semantics"),
        Lazy("policykit.targets.yunikorn.sharing:policy_queues"),
        QUEUE,
        resolve=Lazy("policykit.targets.yunikorn.sharing:resolved"),
        metadata=(
            QueueKey(QUEUE, claims=True),
            QueueKey("queue", where="labels"),
            QueueKey(APP_ID, "app", claims=True),
            QueueKey("applicationId", "app", "labels"),
        ),
        amounts=QueueAmounts(frozenset({NAME}), Lazy("policykit.targets.yunikorn.sharing:amount_paths")),
    ),
    pod_fields=Lazy("policykit.targets.yunikorn.pods:fields"),
    options=Lazy("policykit.targets.yunikorn.options:Options"),
    generate=Lazy("policykit.targets.yunikorn.generate:generate"),
    import_reader=Lazy("policykit.targets.yunikorn.importing:YunikornReader"),
    releases=Lazy("policykit.targets.yunikorn.versions:RELEASES"),
    release_facts=Lazy("policykit.targets.yunikorn.release_facts:FACTS"),
)
