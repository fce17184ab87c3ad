"""A small cluster: its policy, and the objects that it has if all is well."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]

USAGE = "a.example.com/node.usage"
PRODUCT = "nvidia.com/gpu.product"
POLICY = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
metadata: {name: demo}
domain: a.example.com
scheme: {preset: seed, controlPlane: false}
cards: {h20: {product: NVIDIA-H20}}
pools:
  train: {usage: training, card: h20, nodes: {names: ["train-[1-2]"]}, allocatable: {cpu: 100, memory: 1Ti}}
  web: {nodes: 1}
workloads:
  training: {usages: [training]}
priorities:
  urgent: {value: 1000}
"""
_TAINTS = [
    {"key": USAGE, "value": "training", "effect": "NoSchedule"},
    {"key": PRODUCT, "value": "NVIDIA-H20", "effect": "NoSchedule"},
]
URGENT = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "urgent"},
    "value": 1000,
    "preemptionPolicy": "PreemptLowerPriority",
}


def node(name: str, cards: int = 0, **spec: Any) -> Object:
    """A node as the policy wants it."""
    labels = {"kubernetes.io/hostname": name}
    if cards:
        labels |= {USAGE: "training", PRODUCT: "NVIDIA-H20", "nvidia.com/gpu.count": str(cards)}
        spec = {"taints": _TAINTS, **spec}
    amounts = {
        "cpu": "100",
        "memory": "1Ti",
        "pods": "110",
        **({"nvidia.com/gpu": str(cards)} if cards else {}),
    }
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels, "managedFields": [{"manager": "kubelet"}]},
        "spec": spec,
        "status": {"allocatable": amounts, "capacity": amounts, "conditions": [ready], "images": [{}]},
    }


NODES = (node("train-1", 8), node("train-2", 8), node("web-1"))


def pod_spec(cards: int = 0, *, placed: bool = True) -> Object:
    """Of a training pod; `placed`: as `patch` writes it."""
    container: Object = {"name": "main", "image": "registry.example/app:1"}
    if cards:
        requests = {"cpu": "8", "memory": "64Gi"}
        container["resources"] = {"limits": {"nvidia.com/gpu": str(cards)}, "requests": requests}
    spec: Object = {"containers": [container]}
    if placed:
        expressions = [
            {"key": USAGE, "operator": "In", "values": ["training"]},
            {"key": PRODUCT, "operator": "In", "values": ["NVIDIA-H20"]},
        ]
        required = {"nodeSelectorTerms": [{"matchExpressions": expressions}]}
        spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
        spec["tolerations"] = [{**taint, "operator": "Equal"} for taint in _TAINTS]
    return spec


def deployment(name: str, spec: Object, namespace: str = "default", replicas: int = 1) -> Object:
    labels = {"app": name, "policykit.io/workload": "training"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
        "status": {"replicas": replicas},
    }


def pod(
    name: str, spec: Object, namespace: str = "default", owner: Object | None = None, **status: Any
) -> Object:
    """A pod; `owner`: kind, name and uid of its controller."""
    metadata: Object = {
        "name": name,
        "namespace": namespace,
        "uid": f"uid-{name}",
        "labels": {"policykit.io/workload": "training"},
    }
    if owner:
        metadata["ownerReferences"] = [{**owner, "controller": True}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": spec,
        "status": {"phase": "Pending", **status},
    }
