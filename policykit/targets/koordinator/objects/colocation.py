"""ClusterColocationProfiles: the priority and QoS class of each workload kind, written and read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from policykit.manifests.shape import mapping, mappings, pairs, text, texts, whole
from policykit.model.cluster import Cluster
from policykit.model.workload import WorkloadKind
from policykit.namedtuple import NamedTuple
from policykit.placement.recognition import WORKLOAD_KEY
from policykit.targets.koordinator import options
from policykit.targets.koordinator.names import TARGET_NAME
from policykit.targets.koordinator.objects.values import OVERCOMMITTED, present
from policykit.targets.koordinator.options import PodClass


class Band(NamedTuple):
    """A class of pods, defined by a range of priorities."""

    name: str
    """prod, mid, batch or free."""
    lowest: int
    highest: int
    description: str

    @property
    def priority_class(self) -> str:
        """The PriorityClass that Koordinator's chart installs for it, with the lowest value."""
        return f"koord-{self.name}"


BANDS = (
    Band("prod", 9000, 9999, "Services with their resources guaranteed."),
    Band("mid", 7000, 7999, "Work on resources that prod has requested and is not going to use for long."),
    Band("batch", 5000, 5999, "Work on resources that prod has requested and does not use now."),
    Band("free", 3000, 3999, "Work that runs on spare resources and is evicted first."),
)
QOS: Mapping[str, tuple[str, ...]] = {
    "prod": ("LS", "LSR", "LSE"),
    "mid": ("LS", "BE"),
    "batch": ("BE",),
    "free": ("BE",),
}
"""Priority class to its valid QoS classes, the default first.

Source: koordinator `pkg/webhook/pod/validating/` (1.8), and the recommendations of its documentation.
"""


def band_of(value: int) -> Band | None:
    """The class of pods with this priority; None if it is in no band.

    Source: koordinator `apis/extension/priority.go` (1.8).
    """
    return next((band for band in BANDS if band.lowest <= value <= band.highest), None)


def band_of_priority_class(priority_class: str) -> Band | None:
    """The class that one of Koordinator's own PriorityClasses is for."""
    return next((band for band in BANDS if band.priority_class == priority_class), None)


API_VERSION = "config.koordinator.sh/v1alpha1"
KIND = "ClusterColocationProfile"
QOS_CLASSES = ("LSE", "LSR", "LS", "BE", "SYSTEM")
NAMESPACE_NAME = "kubernetes.io/metadata.name"
"""Label that every namespace has: its name."""

_READ = frozenset(
    {
        *("selector", "namespaceSelector", "qosClass"),
        *("priorityClassName", "koordinatorPriority", "schedulerName"),
    }
)
"""Fields of its spec that `read` knows."""


class Profile(NamedTuple):
    """The pods that a ClusterColocationProfile selects, and the class they get."""

    name: str
    labels: Mapping[str, str] = {}
    """Of the pods; empty: any."""
    namespaces: tuple[str, ...] = ()
    """Names; empty: any."""
    qos: str = ""
    priority_class: str = ""
    priority: int | None = None
    """Order among pods of one class."""
    scheduler: str = ""
    unread: tuple[str, ...] = ()
    """Fields of its spec that this type does not have."""


def write(profile: Profile) -> dict[str, Any]:
    """The object, without the fields in `unread`."""
    namespaces = {"key": NAMESPACE_NAME, "operator": "In", "values": list(profile.namespaces)}
    spec = present(
        namespaceSelector={"matchExpressions": [namespaces]} if profile.namespaces else {},
        selector={"matchLabels": dict(profile.labels)} if profile.labels else {},
        qosClass=profile.qos,
        priorityClassName=profile.priority_class,
        koordinatorPriority=profile.priority,
        schedulerName=profile.scheduler,
    )
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": profile.name}, "spec": spec}


def read(data: Mapping[str, Any]) -> Profile:
    """A ClusterColocationProfile. Fields that are missing or have the wrong type are ignored."""
    spec = mapping(data.get("spec"))
    selector, of_namespaces = mapping(spec.get("selector")), mapping(spec.get("namespaceSelector"))
    unread = {field for field in spec if isinstance(field, str) and field not in _READ}
    if selector.keys() - {"matchLabels"}:
        unread.add("selector")
    namespaces = _namespaces(of_namespaces)
    if of_namespaces and not namespaces:
        unread.add("namespaceSelector")
    return Profile(
        text(mapping(data.get("metadata")).get("name")),
        pairs(selector.get("matchLabels")),
        namespaces,
        text(spec.get("qosClass")),
        text(spec.get("priorityClassName")),
        whole(spec.get("koordinatorPriority")),
        text(spec.get("schedulerName")),
        tuple(sorted(unread)),
    )


def _namespaces(selector: Mapping[str, Any]) -> tuple[str, ...]:
    """Names that a namespaceSelector lists; empty if it selects by other criteria."""
    listed = mappings(selector.get("matchExpressions"))
    if len(listed) != 1 or selector.get("matchLabels"):
        return ()
    only = listed[0]
    by_name = only.get("key") == NAMESPACE_NAME and only.get("operator") == "In"
    return texts(only.get("values")) if by_name else ()


_UNFIT = re.compile(r"[^a-z0-9-]+")
_WHOLE_CPUS = frozenset({"LSE", "LSR"})


def classes(cluster: Cluster) -> dict[str, PodClass]:
    """Workload kind to its class, in the order of the policy."""
    stated = options.koordinator_options(cluster.targets.get(TARGET_NAME)).classes
    return {name: each for name, each in stated.items() if name in cluster.workloads}


def priority_class(kind: WorkloadKind, of: PodClass) -> str:
    """The PriorityClass of its pods: the kind's own, whose value is in the band, or Koordinator's."""
    return kind.priority_class or f"koord-{of.priority}"


def profiles(cluster: Cluster, scheduler: str) -> tuple[Profile, ...]:
    """One for each workload kind, which selects by the label of the kind, so no pod matches two.

    A kind whose tenants own no namespace gets none: a profile without namespaces applies to all.
    `scheduler` is Koordinator's schedulerName, which profiles set for kinds that have it.
    """
    namespaces = {tenant.name: tenant.namespaces for tenant in cluster.tenants}
    found: list[Profile] = []
    for name, of in classes(cluster).items():
        kind = cluster.workloads[name]
        where = [*(n for tenant in of.tenants for n in namespaces.get(tenant, ())), *of.namespaces]
        if of.tenants and not where:
            continue
        found.append(
            Profile(
                _unique_name(name, found),
                {WORKLOAD_KEY: name},
                tuple(dict.fromkeys(where)),
                of.qos,
                priority_class(kind, of),
                of.order,
                scheduler if kind.scheduler == scheduler else "",
            )
        )
    return tuple(found)


def notices(cluster: Cluster) -> Iterator[str]:
    """Consequences of a class that are easy to miss."""
    limits = {queue.name: queue.limit for queue in cluster.queues}
    for name, of in classes(cluster).items():
        if of.qos in _WHOLE_CPUS:
            yield (
                f"workload kind {name} runs as {of.qos}: each of its pods must request whole cpus in total, "
                "or Koordinator's webhook refuses it"
            )
        native = [r for r in ("cpu", "memory") if r in limits.get(cluster.workloads[name].queue, {})]
        counted = OVERCOMMITTED.get(of.priority)
        if counted and native:
            queue = cluster.workloads[name].queue
            yield (
                f"workload kind {name} runs as {of.priority}: its requests of cpu and memory become "
                f"{' and '.join(counted)}, so the limit of {' and '.join(native)} of queue {queue} does not "
                f"apply. Limit {counted[0]} (in thousandths of a core) and {counted[1]} there"
            )
        if of.priority == "free":
            yield (
                f"workload kind {name} runs as free: Koordinator does not translate its requests, so it uses "
                "cpu and memory as any other pod does"
            )


def _unique_name(name: str, taken: list[Profile]) -> str:
    """A name for the object, numbered if two kinds result in the same name."""
    plain = _UNFIT.sub("-", name.lower()).strip("-") or "workload"
    there, free, number = {profile.name for profile in taken}, plain, 1
    while free in there:
        number += 1
        free = f"{plain}-{number}"
    return free
