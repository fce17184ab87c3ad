"""Labels and annotations of KAI-Scheduler."""

from policykit.linter.target import Key

SCHEDULER = "kai-scheduler"
QUEUE = "kai.scheduler/queue"
"""Label of the pod or of its topmost owner."""

KEYS = (
    Key("labels", QUEUE, "queue"),
    Key("labels", QUEUE, "queue", on_owner=True),
)
