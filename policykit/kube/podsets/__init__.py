"""Pod templates, gangs and queues of each API kind, according to the kinds table."""

from policykit.kube.podsets.gangs import Gang, Minimum, gang, gangs
from policykit.kube.podsets.kind_entry import KindEntry
from policykit.kube.podsets.podset import DeviceRequest, PodSet
from policykit.kube.podsets.reading import pod_sets, priority_class
from policykit.kube.podsets.table import entries, entry, known

__all__ = (
    "DeviceRequest",
    "Gang",
    "KindEntry",
    "Minimum",
    "PodSet",
    "entries",
    "entry",
    "gang",
    "gangs",
    "known",
    "pod_sets",
    "priority_class",
)
