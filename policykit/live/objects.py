"""Objects of a cluster as someone wrote them: without status and without what the cluster has added."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.live.client import Object
from policykit.live.discovery import Resource
from policykit.live.kinds import NODE, POD, Role
from policykit.manifests.shape import mapping
from policykit.namedtuple import NamedTuple

_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""Annotation of `kubectl apply`: the object once more."""
_OF_SERVER = (
    "managedFields",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "selfLink",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)
"""Metadata that the server keeps."""
_OF_ADMISSION = ("nodeName", "priority", "preemptionPolicy")
"""Fields of a pod that the scheduler and admission set."""
_EVICTIONS = frozenset({"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"})
"""Taints that admission lets every pod tolerate for a while."""
_NODE_STATUS = ("allocatable", "capacity", "conditions", "nodeInfo")
"""The rest, such as the images on a node, is several times as long."""
_ENDS = frozenset({"Complete", "Completed", "Failed", "Finished", "Succeeded"})
_OVER = frozenset({"Failed", "Succeeded"})


class LiveObject(NamedTuple):
    """An object of a cluster."""

    name: str
    """In findings: `Deployment default/chat`."""
    data: Object
    """As written, apiVersion and kind included."""
    resource: Resource

    @property
    def text(self) -> bytes:
        """As YAML, which findings quote."""
        from policykit.manifests.writer import dump

        return dump(self.data).encode("utf-8", errors="replace")


def live_object(resource: Resource, item: Object) -> LiveObject:
    """An item of a list."""
    metadata = mapping(item.get("metadata"))
    name, namespace = metadata.get("name"), metadata.get("namespace")
    shown = f"{namespace}/{name}" if namespace else f"{name}"
    data = {"apiVersion": resource.api_version, "kind": resource.kind.name, **_as_written(resource, item)}
    return LiveObject(f"{resource.kind.shown} {shown}", data, resource)


def controller(item: Object) -> Mapping[str, Any] | None:
    """The reference to the object that controls it; None: nobody does."""
    owners = mapping(item.get("metadata")).get("ownerReferences")
    for each in owners if isinstance(owners, list) else ():
        if isinstance(each, dict) and each.get("controller") is True:
            return each
    return None


def is_finished(item: Object) -> bool:
    """Whether a pod or job has ended: nobody schedules it any more."""
    status = mapping(item.get("status"))
    if status.get("phase") in _OVER:
        return True
    conditions = status.get("conditions")
    return any(
        each.get("type") in _ENDS and each.get("status") == "True"
        for each in (conditions if isinstance(conditions, list) else ())
        if isinstance(each, dict)
    )


def _as_written(resource: Resource, item: Object) -> Object:
    metadata = {key: value for key, value in mapping(item.get("metadata")).items() if key not in _OF_SERVER}
    noted = {key: value for key, value in mapping(metadata.get("annotations")).items() if key != _APPLIED}
    metadata = {**metadata, **({"annotations": noted} if noted else {})}
    if not noted:
        metadata.pop("annotations", None)
    found = {**item, "metadata": metadata}
    if resource.kind == NODE:
        status = mapping(item.get("status"))
        found["status"] = {key: status[key] for key in _NODE_STATUS if key in status}
    elif resource.kind.role is not Role.QUOTAS:
        found.pop("status", None)
    if resource.kind == POD and isinstance(item.get("spec"), dict):
        found["spec"] = _pod_spec(item["spec"])
    return found


def _pod_spec(spec: Object) -> Object:
    found = {key: value for key, value in spec.items() if key not in _OF_ADMISSION}
    tolerated = found.get("tolerations")
    if isinstance(tolerated, list):
        kept = [each for each in tolerated if not _is_added(each)]
        found |= {"tolerations": kept}
        if not kept:
            del found["tolerations"]
    return found


def _is_added(toleration: object) -> bool:
    """Whether DefaultTolerationSeconds added it."""
    fields = mapping(toleration)
    return fields.get("key") in _EVICTIONS and fields.get("effect") == "NoExecute"
