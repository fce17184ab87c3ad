"""A cluster as tests use it: objects applied by kubectl, nodes that no kubelet serves."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tests.cluster.control_plane import ControlPlane

Object = dict[str, Any]

_SWEPT = (
    "deployments,statefulsets,daemonsets,replicasets,replicationcontrollers,jobs,cronjobs,pods,podtemplates,"
    "services,configmaps,resourcequotas,limitranges,poddisruptionbudgets,horizontalpodautoscalers,"
    "persistentvolumeclaims"
)
_OF_CONTROLLERS = ("resourceVersion", "managedFields")
"""Of metadata: they change with the status too; `generation` changes with what is stated only."""
_OF_CLUSTER = (
    "nodes,priorityclasses.scheduling.k8s.io,runtimeclasses.node.k8s.io,persistentvolumes,"
    "storageclasses.storage.k8s.io,volumeattachments.storage.k8s.io,csidrivers.storage.k8s.io"
)


class Cluster(NamedTuple):
    """A control plane and a folder for files of one test."""

    plane: ControlPlane
    folder: Path

    def kubectl(self, *words: str, text: str = "", fails: bool = False) -> str:
        """What kubectl prints. A failure is an error unless it is expected."""
        return self.plane.kubectl(*words, text=text, fails=fails)

    def get(self, *words: str) -> list[Object]:
        """Objects as they are now."""
        found: list[Object] = json.loads(self.kubectl("get", *words, "-o", "json"))["items"]
        return found

    def apply(self, objects: Iterable[Object], *words: str) -> list[str]:
        """Applies objects with strict validation; kubectl's line about each."""
        text = yaml.safe_dump_all(list(objects))
        return self.kubectl("apply", "--validate=strict", *words, "-f", "-", text=text).splitlines()

    def stated(self, objects: Iterable[Object]) -> list[Object]:
        """Objects as they are now, without what controllers write about them."""
        found = json.loads(
            self.kubectl("get", "-f", "-", "-o", "json", text=yaml.safe_dump_all(list(objects)))
        )
        return [_stated(one) for one in found.get("items", [found])]

    def create_nodes(self, nodes: Sequence[Object]) -> None:
        """Creates nodes that are Ready and have their capacity, which only a status may state."""
        if not nodes:
            return
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(nodes)})
        self.kubectl("create", "-f", "-", text=text)
        ready = [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "ready"}]
        with_status = [{**node, "status": {**node.get("status", {}), "conditions": ready}} for node in nodes]
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": with_status})
        self.kubectl(
            "apply", "--server-side", "--subresource=status", "--force-conflicts", "-f", "-", text=text
        )

    def delete(self, objects: Iterable[Object]) -> None:
        """Deletes objects."""
        text = yaml.safe_dump_all(list(objects))
        self.kubectl("delete", "--ignore-not-found", "--grace-period=0", "--force", "-f", "-", text=text)

    def create_namespaces(self, names: Iterable[str]) -> None:
        """Creates namespaces that are not there yet."""
        made = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in names]
        if made:
            self.apply(made)

    def sweep(self) -> None:
        """Deletes what tests create; namespaces stay, because they take long to end."""
        gone = ("--ignore-not-found", "--grace-period=0", "--force", "--wait=true")
        self.kubectl("delete", _SWEPT, "--all", "--all-namespaces", *gone)
        names = [
            f"{one['kind'].lower()}/{one['metadata']['name']}"
            for one in self.get(_OF_CLUSTER)
            if not one["metadata"]["name"].startswith("system-")
        ]
        if names:
            self.kubectl("delete", "--ignore-not-found", *names)


def _stated(one: Object) -> Object:
    metadata = {key: value for key, value in one["metadata"].items() if key not in _OF_CONTROLLERS}
    noted = metadata.get("annotations", {})
    metadata["annotations"] = {key: noted[key] for key in noted if not key.startswith("deployment.")}
    return {**one, "metadata": metadata, "status": None}


def node(
    name: str, labels: Mapping[str, str], taints: Sequence[Object], allocatable: Mapping[str, str]
) -> Object:
    """A node of a pool."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}},
        "spec": {"taints": list(taints)} if taints else {},
        "status": {"allocatable": dict(allocatable), "capacity": dict(allocatable)},
    }
