"""Labels and annotations of KAI-Scheduler."""

from policykit.linter.dialect import Dialect, Key

QUEUE = "kai.scheduler/queue"
"""Label of the pod or of its topmost owner."""

KEYS = (
    Key("labels", QUEUE, "queue"),
    Key("labels", QUEUE, "queue", on_owner=True),
)

DIALECT = Dialect("kai", "KAI-Scheduler", frozenset({"kai-scheduler"}), KEYS, groups_itself=True)
