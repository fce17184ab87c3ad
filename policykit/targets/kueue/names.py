"""Labels and annotations of Kueue (0.19). It keeps every pod's own scheduler."""

from policykit.linter.dialect import Dialect, Key

KEYS = (
    Key("labels", "kueue.x-k8s.io/queue-name", "gang"),
    Key("labels", "kueue.x-k8s.io/queue-name", "gang", on_owner=True),
    Key("labels", "kueue.x-k8s.io/pod-group-name", "gang"),
    Key("annotations", "kueue.x-k8s.io/podset-required-topology", "gang"),
    Key("annotations", "kueue.x-k8s.io/podset-preferred-topology", "gang"),
    Key("annotations", "kueue.x-k8s.io/podset-unconstrained-topology", "gang"),
)

DIALECT = Dialect("kueue", "Kueue", keys=KEYS)
