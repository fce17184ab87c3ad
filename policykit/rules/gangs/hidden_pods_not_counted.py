"""A launcher, driver or submitter is left out of its gang.

The workers get their cards, but the pod that gives them work may not fit: they hold the cards and
wait. Pods that a controller creates without a template in the object are easy to forget.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.kube.podsets import Gang, PodSet, gangs, pod_sets
from policykit.kube.podsets.gangs import size_text
from policykit.kube.podsets.podset import title
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.model.severity import Severity
from policykit.placement.card_requests import card_resources
from policykit.targets import TARGETS

BAD = """\
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata:
  name: train
spec:
  runPolicy:
    schedulingPolicy:
      minAvailable: 2
  mpiReplicaSpecs:
    Launcher:
      template:
        spec:
          containers:
          - name: main
            image: registry.example/train:1
    Worker:
      replicas: 2
      template:
        spec:
          containers:
          - name: main
            image: registry.example/train:1
            resources:
              limits:
                nvidia.com/gpu: 8
"""

GOOD = BAD.replace("minAvailable: 2", "minAvailable: 3")

_LEADING = ("launcher", "master", "driver", "head", "submitter", "chief")
_KINDS = (
    "Job",
    "CronJob",
    "JobTemplate",
    "MPIJob",
    "PyTorchJob",
    "TFJob",
    "XGBoostJob",
    "JobSet",
    "RayCluster",
    "RayJob",
)
_QUEUES = ("volcano.sh/queue-name", "yunikorn.apache.org/queue", "kai.scheduler/queue")
"""Labels of a RayJob by which KubeRay gives the pods of its cluster a scheduler and a gang."""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Gangs of exactly the workers, templates of which only some join a gang, and a RayJob's submitter."""
    sets = pod_sets(manifest.data)
    if manifest.partial or len(sets) < 2:
        return
    if manifest.kind in _RAY:
        yield from _autoscaler(manifest)
        yield from _submitter(manifest) if manifest.kind == "RayJob" else ()
        return
    for gang in gangs(manifest.data):
        yield from _of_workers(manifest, gang, sets, context)
    yield from _joined(manifest, sets)


def _of_workers(
    manifest: Manifest, gang: Gang, sets: Sequence[PodSet], context: Context
) -> Iterator[Violation]:
    members = [one for one in sets if one.name in gang.members]
    outside = [one for one in members if not card_resources(one, context.cluster)]
    counted = [one.replicas for one in members if one not in outside]
    if not gang.written or gang.min_member is None or not outside or not counted or gang.minima:
        return
    if None in counted or sum(n or 0 for n in counted) != gang.min_member or _in_order(manifest):
        return
    leading = [one for one in outside if _is_launcher(manifest, one)]
    if not leading or len(leading) < len(outside) or any(one.replicas != 1 for one in leading):
        return
    what = " and ".join(title(manifest.data, one) for one in leading)
    yield Violation(
        gang.path,
        f"the gang starts with {gang.min_member} pods, all of them workers: {what} may not fit afterwards",
        f"write {size_text(gang.path, gang.min_member + len(leading))}",
    )


def _in_order(manifest: Manifest) -> bool:
    """Some pods are made once others run: a gang of all would never start."""
    if lookup(manifest.data, ("spec", "launcherCreationPolicy")) == "WaitForWorkersReady":
        return True
    for path in (("spec", "tasks"), ("spec", "jobTemplate", "spec", "tasks"), ("spec", "replicatedJobs")):
        listed = lookup(manifest.data, path)
        if isinstance(listed, list) and any(isinstance(one, dict) and one.get("dependsOn") for one in listed):
            return True
    return lookup(manifest.data, ("spec", "startupPolicy", "startupPolicyOrder")) == "InOrder"


def _is_launcher(manifest: Manifest, pod_set: PodSet) -> bool:
    return any(word in title(manifest.data, pod_set).lower() for word in _LEADING)


def _joined(manifest: Manifest, sets: Sequence[PodSet]) -> Iterator[Violation]:
    """Templates without the group that the workers name, under the same scheduler."""
    if _in_order(manifest):
        return
    for target in TARGETS:
        read = target.read_membership
        if read is None:
            continue
        inside = [(one, found) for one in sets if (found := read(manifest, one, "default"))]
        names = {found.membership.group for _, found in inside}
        for one in sets:
            outside = all(one is not each for each, _ in inside)
            if (
                len(names) == 1
                and outside
                and _is_launcher(manifest, one)
                and one.scheduler_name in {each.scheduler_name for each, _ in inside}
            ):
                yield Violation(
                    one.path,
                    f"{title(manifest.data, one)} is not in gang {min(names)}, which the other pods join: "
                    "it may not fit once they run",
                    "name the gang in its metadata too, and count it in the size of the gang",
                )


_RAY = ("RayCluster", "RayJob")
_GANG = "ray.io/gang-scheduling-enabled"
_APPLICATION = "yunikorn.apache.org/app-id"


def _autoscaler(manifest: Manifest) -> Iterator[Violation]:
    """KubeRay adds the container after it has computed the placeholders.

    Source: `yunikorn_task_groups.go` of the operator (1.3 to 1.5).
    """
    cluster: Path = ("spec", "rayClusterSpec") if manifest.kind == "RayJob" else ("spec",)
    path: Path = (*cluster, "enableInTreeAutoscaling")
    if lookup(manifest.data, path) is True and {_GANG, _APPLICATION} <= manifest.labels.keys():
        yield Violation(
            path,
            "the autoscaler is a further container of the head, which the placeholder of YuniKorn's gang "
            "does not count: the head stays pending",
            f"delete {_GANG}, or state the number of workers and switch the autoscaler off",
        )


def _submitter(manifest: Manifest) -> Iterator[Violation]:
    mode = lookup(manifest.data, ("spec", "submissionMode"))
    if (
        mode not in (None, "", "K8sJobMode")
        or lookup(manifest.data, ("spec", "submitterPodTemplate")) is not None
    ):
        return
    label = next((key for key in _QUEUES if key in manifest.labels), "")
    if label:
        yield Violation(
            ("spec", "submissionMode"),
            f"the pod that submits the job is neither in queue {manifest.labels[label]} nor in the gang: "
            "the default scheduler places it",
            "leave room for it, or set its scheduler and queue in submitterPodTemplate",
            Severity.INFO,
        )


RULE = Rule(
    code="PK307",
    name="hidden-pods-not-counted",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset(_KINDS),
)
