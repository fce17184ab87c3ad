"""Random clusters and objects: nodes, volumes, and objects that make pods, which may depend on each other.

Labels, taints and amounts come from few values, so that most wishes are about something that is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any, NamedTuple

Object = dict[str, Any]
ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
RACK, GROUP, CARD = "example.com/rack", "example.com/group", "nvidia.com/gpu"
_TAINTS = (
    {"key": "dedicated", "value": "cards", "effect": "NoSchedule"},
    {"key": "dedicated", "value": "web", "effect": "NoSchedule"},
    {"key": CARD, "value": "present", "effect": "NoSchedule"},
    {"key": "example.com/old", "effect": "PreferNoSchedule"},
    {"key": "example.com/drained", "effect": "NoExecute"},
)
_APPS = ("serve", "cache", "train")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_AMOUNTS = {
    "cpu": ("2", "4", "16"),
    "memory": ("8Gi", "32Gi"),
    "pods": ("2", "110", "110", "110", "110", "110"),
}


class RandomCluster(NamedTuple):
    """One scenario. Names are its own: many may follow each other on one control plane."""

    namespace: str
    nodes: tuple[Object, ...]
    objects: tuple[Object, ...]
    """In the order in which they are created: volumes and claims, then what makes pods."""


class Draw:
    """Draws one scenario."""

    def __init__(self, seed: int, scheduler: str = "") -> None:
        self._random = Random(seed)
        self._scheduler = scheduler
        self.namespace = f"drawn-{seed}"
        self._names = [f"node-{number}.s{seed}" for number in range(self._random.choice([2, 3, 4, 5]))]
        self._volumes: list[Object] = []
        self._claims: list[str] = []

    def cluster(self) -> RandomCluster:
        nodes = tuple(self._node(name) for name in self._names)
        if self._chance(0.35):
            self._add_volumes()
        count = self._random.choice([1, 1, 2, 2, 3])
        made = tuple(self._workload(app) for app in self._random.sample(_APPS, count))
        return RandomCluster(self.namespace, nodes, (*self._limits(), *self._volumes, *made))

    def _limits(self) -> list[Object]:
        """A quota of the namespace, or what containers get that state nothing."""
        random = self._random
        found: list[Object] = []
        if self._chance(0.12):
            key, amount = random.choice(
                [("pods", "3"), ("requests.cpu", "6"), (f"requests.{CARD}", "4"), ("limits.memory", "20Gi")]
            )
            spec: Object = {"hard": {key: amount}}
            found.append(self._own("ResourceQuota", "quota", spec))
        if self._chance(0.1):
            amounts = {"cpu": random.choice(["1", "4"]), "memory": random.choice(["1Gi", "12Gi"])}
            limit = {"type": "Container", random.choice(["default", "defaultRequest", "max", "min"]): amounts}
            found.append(self._own("LimitRange", "range", {"limits": [limit]}))
        return found

    def _own(self, kind: str, name: str, spec: Object) -> Object:
        metadata = {"name": name, "namespace": self.namespace}
        return {"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec}

    def _chance(self, share: float) -> bool:
        return self._random.random() < share

    def _node(self, name: str) -> Object:
        random = self._random
        labels = {HOSTNAME: name, GROUP: random.choice(["web", "cards"])}
        if self._chance(0.85):
            labels[ZONE] = random.choice(["a", "b"])
        if self._chance(0.6):
            labels[RACK] = random.choice(["1", "2", "11"])
        amounts = {key: random.choice(values) for key, values in _AMOUNTS.items()}
        if labels[GROUP] == "cards":
            amounts[CARD] = random.choice(["1", "4", "8"])
        if self._chance(0.2):
            amounts["hugepages-2Mi"] = "1Gi"
        spec: Object = {}
        taints = {(taint["key"], taint["effect"]): taint for taint in _TAINTS if self._chance(0.09)}
        if taints:
            spec["taints"] = [*taints.values()]
        if self._chance(0.08):
            spec["unschedulable"] = True
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": labels},
            "spec": spec,
            "status": {"allocatable": amounts, "capacity": amounts},
        }

    def _add_volumes(self) -> None:
        """A claim, with its volume or with a StorageClass whose volumes are made by hand or by a driver."""
        random = self._random
        mode = random.choice(["ReadWriteOnce", "ReadWriteOncePod", "ReadWriteMany"])
        style = random.choice(["bound", "by-hand", "topologies"])
        class_name = "" if style == "bound" else f"class-{self.namespace}"
        claim = {"accessModes": [mode], "resources": {"requests": {"storage": "1Gi"}}}
        claim["storageClassName"] = class_name
        if style != "bound":
            provisioner = "kubernetes.io/no-provisioner" if style == "by-hand" else "disk.example.com"
            self._volumes.append(
                {
                    "apiVersion": "storage.k8s.io/v1",
                    "kind": "StorageClass",
                    "metadata": {"name": class_name},
                    "provisioner": provisioner,
                    "volumeBindingMode": "WaitForFirstConsumer",
                    **({"allowedTopologies": self._topologies()} if style == "topologies" else {}),
                }
            )
        if style != "topologies":
            name = f"volume-{self.namespace}"
            spec: Object = {
                "capacity": {"storage": "1Gi"},
                "accessModes": [mode],
                "storageClassName": class_name,
                "nodeAffinity": {"required": {"nodeSelectorTerms": [self._term(fields=False)]}},
                "local": {"path": "/data"},
            }
            if style == "bound":
                spec["claimRef"] = {"namespace": self.namespace, "name": "data"}
                claim["volumeName"] = name
            self._volumes.append(
                {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}
            )
        self._volumes.append(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {"name": "data", "namespace": self.namespace},
                "spec": claim,
            }
        )
        self._claims.append("data")

    def _topologies(self) -> list[Object]:
        key, values = self._random.choice([(ZONE, ["a"]), (ZONE, ["c"]), (RACK, ["1", "2"])])
        return [{"matchLabelExpressions": [{"key": key, "values": values}]}]

    def _workload(self, app: str) -> Object:
        random = self._random
        kind = random.choice(["Deployment", "Deployment", "StatefulSet", "Job", "Pod", "DaemonSet"])
        labels = {"app": app, "tier": random.choice(["front", "back"])}
        metadata = {"name": app, "namespace": self.namespace}
        spec = self._pod_spec(labels, per_node=kind == "DaemonSet")
        if kind == "Pod":
            return {
                "apiVersion": "v1",
                "kind": kind,
                "metadata": {**metadata, "labels": labels},
                "spec": spec,
            }
        if kind == "Job":
            spec["restartPolicy"] = "Never"
        template = {"metadata": {"labels": labels}, "spec": spec}
        count = random.choice([1, 2, 2, 3, 4])
        if kind == "Job":
            own: Object = {"parallelism": count, "completions": count, "template": template}
            return {"apiVersion": "batch/v1", "kind": kind, "metadata": metadata, "spec": own}
        own = {"selector": {"matchLabels": {"app": app}}, "template": template}
        if kind != "DaemonSet":
            own["replicas"] = count
        if kind == "StatefulSet":
            own |= {"serviceName": app, "podManagementPolicy": "Parallel"}
        return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": own}

    def _pod_spec(self, labels: Mapping[str, str], *, per_node: bool) -> Object:
        random = self._random
        container: Object = {
            "name": "main",
            "image": "registry.example/app:1",
            "resources": self._resources(),
        }
        if self._chance(0.08):
            container["ports"] = [{"containerPort": 8080, "hostPort": 8080}]
        spec: Object = {"containers": [container]}
        if self._scheduler:
            spec["schedulerName"] = self._scheduler
        if self._chance(0.15):
            early = {"name": "early", "image": "registry.example/app:1", "resources": self._resources()}
            if self._chance(0.5):
                early["restartPolicy"] = "Always"
            spec["initContainers"] = [early]
        if self._chance(0.2):
            key, value = random.choice(
                [(GROUP, "cards"), (GROUP, "web"), (ZONE, "a"), (ZONE, "c"), (RACK, "1")]
            )
            spec["nodeSelector"] = {key: value}
        affinity: Object = {}
        if self._chance(0.3):
            terms = [self._term() for _ in range(random.choice([1, 1, 2]))]
            affinity["nodeAffinity"] = {_REQUIRED: {"nodeSelectorTerms": terms}}
        for field, share in (("podAffinity", 0.2), ("podAntiAffinity", 0.25)):
            if self._chance(share) and not per_node:
                affinity[field] = {
                    _REQUIRED: [self._pod_term(labels) for _ in range(random.choice([1, 1, 2]))]
                }
        if affinity:
            spec["affinity"] = affinity
        if self._chance(0.25) and not per_node:
            spec["topologySpreadConstraints"] = [self._spread(labels)]
        tolerations = [self._toleration(taint) for taint in _TAINTS if self._chance(0.3)]
        if self._chance(0.1):
            tolerations = [{"operator": "Exists"}]
        if tolerations:
            spec["tolerations"] = tolerations
        if self._claims and self._chance(0.7):
            spec["volumes"] = [
                {"name": "data", "persistentVolumeClaim": {"claimName": random.choice(self._claims)}}
            ]
        if self._chance(0.04):
            spec["schedulingGates"] = [{"name": "example.com/wait"}]
        return spec

    def _resources(self) -> Object:
        random = self._random
        found: Object = {}
        if self._chance(0.7):
            found["requests"] = {"cpu": random.choice(["500m", "500m", "1", "1", "3", "8", "17"])}
            if self._chance(0.5):
                found["requests"]["memory"] = random.choice(["1Gi", "1Gi", "9Gi", "40Gi"])
        if self._chance(0.2):
            found["limits"] = {CARD: random.choice(["1", "1", "2", "4", "8", "9"])}
        if self._chance(0.05):
            found.setdefault("requests", {}).setdefault("cpu", "1")
            found.setdefault("limits", {})["hugepages-2Mi"] = random.choice(["512Mi", "2Gi"])
        return found

    def _term(self, *, fields: bool = True) -> Object:
        if fields and self._chance(0.1):
            name = self._random.choice(self._names)
            return {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}
        return {"matchExpressions": [self._expression() for _ in range(self._random.choice([1, 1, 2]))]}

    def _expression(self) -> Object:
        random = self._random
        key, values = random.choice(
            [
                (ZONE, ["a"]),
                (ZONE, ["b", "c"]),
                (GROUP, ["cards"]),
                (GROUP, ["web"]),
                (RACK, ["1"]),
                (RACK, ["2"]),
            ]
        )
        if self._chance(0.1):
            key, values = HOSTNAME, [random.choice(self._names)]
        operator = random.choice(["In", "In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"])
        if operator in ("Gt", "Lt"):
            return {"key": RACK, "operator": operator, "values": [random.choice(["1", "5"])]}
        return {"key": key, "operator": operator, **({"values": values} if "In" in operator else {})}

    def _selector(self, labels: Mapping[str, str]) -> Object:
        random = self._random
        app = random.choice([labels["app"], labels["app"], *_APPS])
        choice = random.random()
        if choice < 0.6:
            return {"matchLabels": {"app": app}}
        if choice < 0.75:
            return {"matchLabels": {"app": app, "tier": random.choice(["front", "back"])}}
        if choice < 0.9:
            return {
                "matchExpressions": [
                    {"key": "app", "operator": random.choice(["In", "NotIn"]), "values": [app]}
                ]
            }
        return random.choice([{}, {"matchExpressions": [{"key": "tier", "operator": "Exists"}]}])

    def _pod_term(self, labels: Mapping[str, str]) -> Object:
        random = self._random
        term: Object = {
            "topologyKey": random.choice([HOSTNAME, HOSTNAME, ZONE, ZONE, RACK, "example.com/none"])
        }
        term["labelSelector"] = self._selector(labels)
        if self._chance(0.08):
            del term["labelSelector"]
        if self._chance(0.1):
            term["namespaces"] = [random.choice([self.namespace, "default"])]
        if self._chance(0.05):
            term["namespaceSelector"] = {}
        if self._chance(0.08) and "labelSelector" in term:
            term["matchLabelKeys"] = ["tier"]
        return term

    def _spread(self, labels: Mapping[str, str]) -> Object:
        random = self._random
        found: Object = {
            "maxSkew": random.choice([1, 1, 2]),
            "topologyKey": random.choice([HOSTNAME, ZONE, RACK, "example.com/none"]),
            "whenUnsatisfiable": random.choice(["DoNotSchedule"] * 4 + ["ScheduleAnyway"]),
            "labelSelector": self._selector(labels),
        }
        if found["whenUnsatisfiable"] == "DoNotSchedule" and self._chance(0.2):
            found["minDomains"] = random.choice([1, 2, 3])
        if self._chance(0.15):
            found["nodeTaintsPolicy"] = random.choice(["Honor", "Ignore"])
        if self._chance(0.15):
            found["nodeAffinityPolicy"] = random.choice(["Honor", "Ignore"])
        return found

    def _toleration(self, taint: Mapping[str, str]) -> Object:
        exists = {"key": taint["key"], "operator": "Exists"}
        exact = {**taint, "operator": "Equal"}
        return self._random.choice(
            [exists, exact, exact, {**exact, "value": "other"}, {**exists, "effect": "NoSchedule"}]
        )
