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
    "pods,deployments,statefulsets,daemonsets,replicasets,jobs,cronjobs,services,configmaps,resourcequotas,"
    "limitranges,poddisruptionbudgets"
)
_OF_CLUSTER = "nodes,priorityclasses.scheduling.k8s.io"
_KEPT_NAMESPACES = frozenset({"default", "kube-system", "kube-public", "kube-node-lease"})


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

    def versions(self, objects: Iterable[Object]) -> list[str]:
        """Kind, name and resource version of objects as they are now."""
        text = yaml.safe_dump_all(list(objects))
        form = "{range .items[*]}{.kind}/{.metadata.name} {.metadata.resourceVersion}{'\\n'}{end}"
        return self.kubectl("get", "-f", "-", "-o", f"jsonpath={form}", text=text).splitlines()

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

    def create_namespaces(self, names: Iterable[str]) -> None:
        """Creates namespaces that are not there yet."""
        self.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in names)

    def sweep(self) -> None:
        """Deletes what tests create, whatever its namespace."""
        gone = ("--ignore-not-found", "--grace-period=0", "--force", "--wait=true")
        self.kubectl("delete", _SWEPT, "--all", "--all-namespaces", *gone)
        names = [
            f"{one['kind'].lower()}/{one['metadata']['name']}"
            for one in self.get(_OF_CLUSTER)
            if not one["metadata"]["name"].startswith("system-")
        ]
        if names:
            self.kubectl("delete", "--ignore-not-found", *names)
        spaces = [one["metadata"]["name"] for one in self.get("namespaces")]
        left = [name for name in spaces if name not in _KEPT_NAMESPACES]
        if left:
            self.kubectl("delete", "namespace", "--wait=false", *left)


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
