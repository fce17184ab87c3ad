"""Labels and annotations of Kueue (0.19). It keeps every pod's own scheduler."""

from policykit.linter.target import Key

POD_GROUP = "kueue.x-k8s.io/pod-group-name"
"""Pod label: the group of plain pods it belongs to."""
POD_GROUP_TOTAL = "kueue.x-k8s.io/pod-group-total-count"
"""Pod annotation: how many pods the group has."""

KEYS = (
    Key("labels", "kueue.x-k8s.io/queue-name", "gang"),
    Key("labels", "kueue.x-k8s.io/queue-name", "gang", on_owner=True),
    Key("labels", POD_GROUP, "gang"),
    Key("annotations", "kueue.x-k8s.io/podset-required-topology", "gang"),
    Key("annotations", "kueue.x-k8s.io/podset-preferred-topology", "gang"),
    Key("annotations", "kueue.x-k8s.io/podset-unconstrained-topology", "gang"),
)
