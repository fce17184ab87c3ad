"""Names in Apache YuniKorn (1.8): its root queue, and labels and annotations that nobody else reads.

The bare labels `queue` and `applicationId` are read too, but other programs use them as well.
"""

from policykit.linter.target import Key

SCHEDULER = "yunikorn"
ROOT = "root"
"""The queue above all others."""
TASK_GROUPS = "yunikorn.apache.org/task-groups"
"""Pod annotation: JSON list of the task groups of the application's gang."""
TASK_GROUP_NAME = "yunikorn.apache.org/task-group-name"
"""Pod annotation: the task group of the pod."""
QUEUE = "yunikorn.apache.org/queue"
APP_ID = "yunikorn.apache.org/app-id"
"""Pod label or annotation: the application the pod belongs to."""
PARAMETERS = "yunikorn.apache.org/schedulingPolicyParameters"
"""Pod annotation: `key=value` pairs of the gang, separated by spaces."""
PARENT_QUEUE = "yunikorn.apache.org/parentqueue"
"""Namespace annotation: the queue of its pods, or the parent of the namespace's own queue."""
NAMESPACE_QUOTA = "yunikorn.apache.org/namespace.quota"
"""Namespace annotation: JSON of Kubernetes quantities, the max of the namespace's own queue."""
OLD_QUEUE = "queue"
"""Label of the queue, read if QUEUE is missing; before 1.6 in its place."""
OLD_APP_IDS = ("applicationId", "spark-app-selector")
"""Labels read if APP_ID is missing, in this order."""

KEYS = (
    Key("annotations", TASK_GROUPS, "gang"),
    Key("annotations", TASK_GROUP_NAME, "gang"),
    Key("annotations", PARAMETERS, "gang"),
    Key("labels", QUEUE, "queue"),
    Key("annotations", QUEUE, "queue"),
    Key("labels", APP_ID, "queue"),
    Key("annotations", APP_ID, "queue"),
)
