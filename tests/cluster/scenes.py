"""A random cluster on the control plane: its objects are created, settle, and are deleted again."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from tests.cluster.api_server import NODES, ApiServer, RefusedError
from tests.cluster.random_objects import RandomCluster

Object = dict[str, Any]
_SETTLES = 60
"""Seconds in which pods are made, and placed or refused."""
_HOLDS = 1.5
"""Seconds for which it must stay so."""
_LIMITED = 4
"""Seconds after which pods that a quota forbids are taken for refused."""
_RETRIES = 9
"""Seconds in which the scheduler tries pods again that it has refused."""
_PATHS = {
    "StorageClass": "/apis/storage.k8s.io/v1/storageclasses",
    "PersistentVolume": "/api/v1/persistentvolumes",
    "ResourceQuota": "/api/v1/namespaces/{}/resourcequotas",
    "LimitRange": "/api/v1/namespaces/{}/limitranges",
    "PersistentVolumeClaim": "/api/v1/namespaces/{}/persistentvolumeclaims",
    "Deployment": "/apis/apps/v1/namespaces/{}/deployments",
    "StatefulSet": "/apis/apps/v1/namespaces/{}/statefulsets",
    "DaemonSet": "/apis/apps/v1/namespaces/{}/daemonsets",
    "Job": "/apis/batch/v1/namespaces/{}/jobs",
    "ReplicaSet": "/apis/apps/v1/namespaces/{}/replicasets",
    "Pod": "/api/v1/namespaces/{}/pods",
}
_MAKERS = ("Deployment", "StatefulSet", "DaemonSet", "Job", "Pod")
_FORBIDDEN = "forbidden"
"""Quotas and ranges: a pod is valid, but not admitted."""


class PodFate(NamedTuple):
    """What became of a pod."""

    node: str
    message: str


class Fates(NamedTuple):
    """What became of a scene."""

    pods: Mapping[str, tuple[PodFate, ...]]
    """By object; those that could not be made are left out."""
    invalid: Mapping[str, str]
    """Objects whose pods the API server refuses, and its words."""


def is_maker(one: Object) -> bool:
    return one["kind"] in _MAKERS


def count(maker: Object) -> int | None:
    """Pods that an object asks for; None: one on each node."""
    spec = maker["spec"]
    found: dict[str, int | None] = {"Pod": 1, "DaemonSet": None, "Job": spec.get("parallelism")}
    return found.get(maker["kind"], spec.get("replicas"))


class Scene:
    """One that was created."""

    def __init__(self, server: ApiServer, drawn: RandomCluster, hopes: frozenset[str]) -> None:
        self._server, self._drawn, self._hopes = server, drawn, hopes
        self._made_volume = False
        self._invalid: dict[str, str] = {}
        self._wanted: dict[str, int | None] = {}

    def create(self) -> None:
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self._drawn.namespace}}
        self._server.create("/api/v1/namespaces", namespace)
        self._server.create_nodes(self._drawn.nodes)
        time.sleep(0.3)
        for one in self._drawn.objects:
            name = one["metadata"]["name"]
            if is_maker(one) and (words := self._refusal(one)):
                self._invalid[name] = words
                continue
            try:
                self._server.create(self._path(one["kind"]), one)
            except RefusedError as refused:
                if _FORBIDDEN not in str(refused):
                    raise
            if is_maker(one):
                self._wanted[name] = count(one)

    def _refusal(self, maker: Object) -> str:
        """Whether its pods are valid, in the words of the API server."""
        template = maker if maker["kind"] == "Pod" else maker["spec"]["template"]
        metadata = {**template["metadata"], "name": "try", "namespace": self._drawn.namespace}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
        try:
            self._server.request("POST", f"{self._path('Pod')}?dryRun=All&fieldValidation=Strict", pod)
        except RefusedError as refused:
            return "" if _FORBIDDEN in str(refused) else str(refused)
        return ""

    def settled(self) -> Fates:
        """Waits until all pods that can be made are placed or refused."""
        begun = changed = time.monotonic()
        before: Mapping[str, tuple[PodFate, ...]] = {}
        limited = any(one["kind"] in ("ResourceQuota", "LimitRange") for one in self._drawn.objects)
        while True:
            self._provision()
            found, now = self._fates(), time.monotonic()
            if found != before:
                before, changed = found, now
            made = all(wanted in (None, len(found[name])) for name, wanted in self._wanted.items())
            every = [fate for fates in found.values() for fate in fates]
            decided = all(fate.node or fate.message for fate in every)
            waits = any(not fate.node for name in self._hopes & found.keys() for fate in found[name])
            late = limited or not every
            holds = _RETRIES if waits else _LIMITED if late else _HOLDS
            if decided and (made or (late and now - begun > _LIMITED)) and now - changed > holds:
                return Fates(found, self._invalid)
            assert now - begun < _SETTLES, found
            time.sleep(0.2)

    def _fates(self) -> dict[str, tuple[PodFate, ...]]:
        found: dict[str, list[PodFate]] = {name: [] for name in self._wanted}
        for pod in self._server.items(self._path("Pod")):
            conditions = pod["status"].get("conditions", [])
            said = [each.get("message", "") for each in conditions if each["type"] == "PodScheduled"]
            fate = PodFate(pod["spec"].get("nodeName", ""), said[0] if said else "")
            found[pod["metadata"]["labels"]["app"]].append(fate)
        return {name: tuple(sorted(fates)) for name, fates in found.items()}

    def _provision(self) -> None:
        """A volume for a claim for which the scheduler has chosen a node, as a driver would make it."""
        by_hand = any(one["kind"] == "PersistentVolume" for one in self._drawn.objects)
        claims = [one for one in self._drawn.objects if one["kind"] == "PersistentVolumeClaim"]
        if by_hand or self._made_volume or not claims:
            return
        path = f"{self._path('PersistentVolumeClaim')}/{claims[0]['metadata']['name']}"
        claim = self._server.request("GET", path)
        metadata, spec = claim["metadata"], claim["spec"]
        if "volume.kubernetes.io/selected-node" not in metadata.get("annotations", {}):
            return
        self._made_volume = True
        reference = {key: metadata[key] for key in ("name", "namespace", "uid")}
        volume = {
            "capacity": {"storage": "1Gi"},
            "accessModes": spec["accessModes"],
            "storageClassName": spec["storageClassName"],
            "claimRef": reference,
            "csi": {"driver": "disk.example.com", "volumeHandle": self._drawn.namespace},
        }
        body = {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": self._volume},
            "spec": volume,
        }
        self._server.create(self._path("PersistentVolume"), body)

    @property
    def _volume(self) -> str:
        return f"made-{self._drawn.namespace}"

    def delete(self) -> None:
        """Its pods too, before the next scene has nodes that would take them."""
        kinds = (*_MAKERS[:-1], "ReplicaSet", "Pod")
        for _ in range(50):
            for kind in kinds:
                self._server.request("DELETE", f"{self._path(kind)}?gracePeriodSeconds=0")
            if not self._server.items(self._path("Pod")):
                break
            time.sleep(0.1)
        self._server.delete_all(NODES)
        gone = [f"/api/v1/namespaces/{self._drawn.namespace}"]
        of_cluster = [
            one for one in self._drawn.objects if "namespace" not in one["metadata"] and not is_maker(one)
        ]
        gone += [f"{_PATHS[one['kind']]}/{one['metadata']['name']}" for one in of_cluster]
        gone += [f"{_PATHS['PersistentVolume']}/{self._volume}"] if self._made_volume else []
        for path in gone:
            self._server.request("DELETE", path)

    def _path(self, kind: str) -> str:
        return _PATHS[kind].format(self._drawn.namespace)


@contextmanager
def scene(server: ApiServer, drawn: RandomCluster, hopes: frozenset[str]) -> Iterator[Scene]:
    """`hopes`: objects whose pods are expected to be placed, which get time for another try."""
    made = Scene(server, drawn, hopes)
    try:
        made.create()
        yield made
    finally:
        made.delete()


def summary(fates: tuple[PodFate, ...]) -> str:
    """How many pods are placed, and what is said of the others."""
    said = Counter(fate.message for fate in fates if not fate.node)
    placed = sum(1 for fate in fates if fate.node)
    return "\n".join(
        [f"{placed} of {len(fates)} placed", *(f"  {number} x {words}" for words, number in said.items())]
    )
