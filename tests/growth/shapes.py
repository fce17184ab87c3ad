"""What grows: for each shape the files of size n, and the command that looks at them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import NamedTuple

Files = Mapping[str, str]


class Shape(NamedTuple):
    """A repository of any size, and a command line."""

    files: Callable[[int], Files]
    words: tuple[str, ...] = ("lint", ".", "--no-cache", "--jobs", "1", "--exit-zero")
    size: int = 40
    """The smallest n."""


_POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: p{0}}}
spec: {{containers: [{{name: main, image: registry.example/a:1, resources: {{limits: {{cpu: 1}}}}}}]}}
"""
_DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: d{0}, labels: {{n: {0}}}}}
spec:
  selector: {{matchLabels: {{app: d{0}}}}}
  template:
    metadata: {{labels: {{app: d{0}, policykit.io/workload: training}}}}
    spec:
      containers:
      - {{name: main, image: registry.example/a:1, resources: {{limits: {{nvidia.com/gpu: 1}}}}}}
"""
_QUEUE = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {{name: q{0}}}
spec: {{weight: 1, parent: q{1}}}
"""
_CONFIGURATION = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: volcano-scheduler-configmap}
data:
  volcano-scheduler.conf: |
    actions: "allocate"
    tiers:
    - plugins:
"""


def _documents(texts: list[str]) -> Files:
    return {"a.yaml": "---\n".join(texts)}


def _pods(n: int) -> Files:
    return _documents([_POD.format(number) for number in range(n)])


def _deployments(n: int) -> Files:
    return _documents([_DEPLOYMENT.format(number) for number in range(n)])


def _nodes(n: int) -> Files:
    labels = {"nvidia.com/gpu.product": "NVIDIA-L20"}
    size = {"cpu": "90", "memory": "700Gi", "nvidia.com/gpu": "8"}
    nodes = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"n{number}", "labels": labels},
            "status": {"allocatable": size, "capacity": size},
        }
        for number in range(n)
    ]
    return {"nodes.json": json.dumps({"apiVersion": "v1", "kind": "List", "items": nodes})}


def _files(n: int) -> Files:
    return {f"{number}.yaml": _POD.format(number) for number in range(n)}


def _queue_cycle(n: int) -> Files:
    return _documents([_QUEUE.format(number, (number + 1) % n) for number in range(n)])


def _queue_chain(n: int) -> Files:
    return _documents([_QUEUE.format(number, number - 1 if number else "root") for number in range(n)])


def _ignored_names(n: int) -> Files:
    return {".gitignore": "*a" * n + "b\n", "a" * n + ".yaml": _POD.format(0)}


def _broken(n: int) -> Files:
    return _documents(["a: [1\n" for _ in range(n)])


def _in_a_string(n: int) -> Files:
    plugins = "".join(f"    - name: gamg{number}\n" for number in range(n))
    return {"a.yaml": _CONFIGURATION + plugins}


def _doubled_bases(n: int) -> Files:
    head = "apiVersion: policykit.io/v1alpha1\nkind: Policy\nmetadata: {name: demo}\n"
    files = {
        f"{number}.yaml": f"{head}extends: [{number + 1}.yaml, {number + 1}.yaml]\n" for number in range(n)
    }
    return {**files, f"{n}.yaml": f"{head}domain: ai.example.com\n"}


def _brackets(n: int) -> Files:
    text = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: a, annotations: {{x: '{'[' * n * 100}'}}}}\n"
    return {"a.yaml": text + "spec: {containers: [{name: main, image: registry.example/a:1}]}\n"}


SHAPES: Mapping[str, Shape] = {
    "documents of a file": Shape(_pods),
    "files": Shape(_files),
    "a cycle of queues": Shape(_queue_cycle),
    "a chain of queues": Shape(_queue_chain, size=100),
    "a pattern of .gitignore and a name": Shape(_ignored_names, size=20),
    "broken documents": Shape(_broken),
    "findings in a string": Shape(_in_a_string),
    "bases named twice": Shape(_doubled_bases, ("gen", "-p", "0.yaml", "--no-cache", "-o", "-"), size=8),
    "brackets in an annotation": Shape(_brackets),
    "where": Shape(_deployments, ("where", "a.yaml", "-p", "profile:hybrid-volcano", "--no-cache")),
    "patch": Shape(_deployments, ("patch", "a.yaml", "-p", "profile:hybrid-volcano", "--no-cache")),
    "nodes of an import": Shape(_nodes, ("import", "nodes.json")),
}
