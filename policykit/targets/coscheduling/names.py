"""Labels of the coscheduling plugin, which any scheduler binary may carry under any name."""

from policykit.linter.dialect import Dialect, Key

POD_GROUP = "scheduling.x-k8s.io/pod-group"
"""Pod label: the PodGroup it joins."""

DIALECT = Dialect("coscheduling", "scheduler-plugins", keys=(Key("labels", POD_GROUP, "gang"),))
