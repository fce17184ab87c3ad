"""Small objects of many kinds, as text, and what comes of them."""

from __future__ import annotations

from typing import Any

import yaml

from policykit.manifests.document import Manifest, manifests
from policykit.manifests.parser import parse
from policykit.manifests.patch import patched
from policykit.model.cluster import Cluster
from policykit.targets.workloads.apply import ObjectPatch, apply_kinds
from policykit.targets.workloads.patch_options import PatchOptions

CARD = "containers: [{name: a, image: 'registry.example/a:1', resources: {limits: {nvidia.com/gpu: 1}}}]"
BARE = "containers: [{name: a, image: 'registry.example/a:1'}]"
TEMPLATE = f"template: {{spec: {{{CARD}}}}}"
HELPER = f"template: {{spec: {{{BARE}}}}}"
POD = f"{{apiVersion: v1, kind: Pod, metadata: {{name: a}}, spec: {{{CARD}}}}}"
JOB = (
    "{apiVersion: batch/v1, kind: Job, metadata: {name: a},"
    f" spec: {{parallelism: 4, completions: 4, completionMode: Indexed, {TEMPLATE}}}}}"
)
CRON_JOB = (
    "{apiVersion: batch/v1, kind: CronJob, metadata: {name: a},"
    f" spec: {{schedule: '@daily', jobTemplate: {{spec: {{parallelism: 4, {TEMPLATE}}}}}}}}}"
)
DEPLOYMENT = (
    f"{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: a}}, spec: {{replicas: 3, {TEMPLATE}}}}}"
)
STATEFUL_SET = DEPLOYMENT.replace("Deployment", "StatefulSet")
VOLCANO_JOB = f"""\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {{name: a}}
spec: {{tasks: [{{name: m, replicas: 1, {HELPER}}}, {{name: w, replicas: 3, {TEMPLATE}}}]}}
"""
PYTORCH_JOB = f"""\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {{name: a}}
spec: {{pytorchReplicaSpecs: {{Master: {{{TEMPLATE}}}, Worker: {{replicas: 3, {TEMPLATE}}}}}}}
"""
RAY_JOB = f"""\
apiVersion: ray.io/v1
kind: RayJob
metadata: {{name: a}}
spec:
  submitterPodTemplate: {{spec: {{{BARE}}}}}
  rayClusterSpec:
    headGroupSpec: {{{HELPER}}}
    workerGroupSpecs: [{{groupName: big, replicas: 2, {TEMPLATE}}}, {{replicas: 1, {TEMPLATE}}}]
"""
JOB_SET = f"""\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {{name: a}}
spec:
  replicatedJobs:
  - {{name: leader, template: {{spec: {{parallelism: 1, {HELPER}}}}}}}
  - {{name: workers, replicas: 2, template: {{spec: {{parallelism: 4, {TEMPLATE}}}}}}}
"""
GROUPS = f"""\
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {{name: a}}
spec: {{replicas: 2, leaderWorkerTemplate: {{size: 4, workerTemplate: {{spec: {{{CARD}}}}}}}}}
"""


def manifest(text: str) -> Manifest:
    (document,) = parse(text)
    assert document.root is not None
    (found,) = manifests(document.root, 0)
    return found


def apply(text: str, cluster: Cluster, **asked: Any) -> tuple[dict[str, Any], ObjectPatch]:
    """The changed object, and what was said about it."""
    found = apply_kinds(manifest(text), cluster, "default", PatchOptions(**asked))
    data: Any = yaml.safe_load(text)
    for one in found.patches:
        data = patched(data, one)
    return data, found


def written(text: str, cluster: Cluster, **asked: Any) -> dict[str, Any]:
    """What is new but for placement: path to value."""
    found = apply_kinds(manifest(text), cluster, "default", PatchOptions(**asked))
    skipped = ("affinity", "tolerations", "nodeSelector")
    return {
        ".".join(map(str, one.path)): one.value
        for one in found.patches
        if not any(step in skipped for step in one.path)
    }
