"""Names in Apache YuniKorn (1.8): its root queue, and labels and annotations that nobody else reads.

The bare labels `queue` and `applicationId` are read too, but they are anybody's words.
"""

from policykit.linter.target import Key

SCHEDULER = "yunikorn"
ROOT = "root"
"""The queue above all others."""
TASK_GROUPS = "yunikorn.apache.org/task-groups"
"""Pod annotation: JSON list of the groups of the application's gang."""
TASK_GROUP_NAME = "yunikorn.apache.org/task-group-name"
"""Pod annotation: the group this pod is a member of."""
QUEUE = "yunikorn.apache.org/queue"
APP_ID = "yunikorn.apache.org/app-id"
"""Pod label or annotation: the application the pod belongs to."""
PARAMETERS = "yunikorn.apache.org/schedulingPolicyParameters"
"""Pod annotation: `key=value` of the gang, with spaces between them."""
PARENT_QUEUE = "yunikorn.apache.org/parentqueue"
"""Namespace annotation: the queue its pods go to, or below which it has its own."""
NAMESPACE_QUOTA = "yunikorn.apache.org/namespace.quota"
"""Namespace annotation: JSON of Kubernetes quantities, the max of its own queue."""
OLD_APP_IDS = ("applicationId", "spark-app-selector")
"""Labels read where APP_ID is missing, in this order."""

KEYS = (
    Key("annotations", TASK_GROUPS, "gang"),
    Key("annotations", TASK_GROUP_NAME, "gang"),
    Key("annotations", PARAMETERS, "gang"),
    Key("labels", QUEUE, "queue"),
    Key("annotations", QUEUE, "queue"),
    Key("labels", APP_ID, "queue"),
    Key("annotations", APP_ID, "queue"),
)
