"""A gang starts before all its workers can run.

The pods of a synchronous job wait for each other: those that start early hold their cards and do
nothing. With a gang smaller than the job, two jobs can each get half of what they need and block
each other forever. Elastic jobs and parameter servers can run with fewer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product

from policykit.kube.gang_units import all_at_once, goes_on_with_fewer, size_patch
from policykit.kube.podsets import Gang, PodSet, gangs, pod_sets
from policykit.kube.podsets.gangs import size_text
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.model.severity import Applicability, Severity
from policykit.placement.card_requests import card_resources
from policykit.placement.review import review
from policykit.targets import TARGETS

BAD = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: train
spec:
  minAvailable: 1
  tasks:
  - name: worker
    replicas: 4
    template:
      spec:
        restartPolicy: Never
        containers:
        - name: main
          image: registry.example/train:1
          resources:
            limits:
              nvidia.com/gpu: 8
"""

GOOD = BAD.replace("minAvailable: 1", "minAvailable: 4")

_KINDS = (
    "Job",
    "CronJob",
    "JobSet",
    "JobTemplate",
    "PyTorchJob",
    "TFJob",
    "XGBoostJob",
    "PaddleJob",
    "JAXJob",
    "MXJob",
    "MPIJob",
)


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Explicit minima of training jobs, against the pods that request cards."""
    sets = pod_sets(manifest.data)
    if manifest.partial or not any(_synchronous(manifest, one) for one in sets):
        return
    if goes_on_with_fewer(manifest):
        return
    yield from _task_groups(manifest, sets, context)
    for gang in gangs(manifest.data):
        if gang.min_member is None or not gang.written or not gang.enabled or gang.minima:
            continue
        members = [one for one in sets if one.name in gang.members]
        workers = [one for one in members if card_resources(one, context.cluster)]
        pods = _pods(gang, members, workers)
        if (
            pods is not None
            and 1 < pods > gang.min_member
            and not _is_allowed_by_policy(manifest, workers, gang.min_member, context)
        ):
            yield Violation(
                gang.path,
                f"the gang starts with {gang.min_member} of {pods} pods that request cards",
                f"write {size_text(gang.path, pods)}, so that no pod holds cards while it waits for others; "
                "if the job can run with fewer, set the field that its kind has for that",
                fix=partial(_fix, gang.path, pods),
            )


def _pods(gang: Gang, members: Sequence[PodSet], workers: Sequence[PodSet]) -> int | None:
    """Pods with cards in one gang: of several alike, such as those of a replicated job, their share."""
    if any(one.replicas is None for one in workers):
        return None
    pods, every = (sum(one.replicas or 0 for one in some) for some in (workers, members))
    return pods if gang.pods is None or every <= gang.pods else pods * gang.pods // every


def _task_groups(manifest: Manifest, sets: Sequence[PodSet], context: Context) -> Iterator[Violation]:
    """Gangs whose size is part of a list in an annotation of their pods."""
    annotated = [one for one in sets if one.annotations and (one.replicas or 0) > 1]
    several = [one for one in annotated if card_resources(one, context.cluster)]
    readers = [target.read_membership for target in TARGETS if target.read_membership] if several else []
    for one, read in product(several, readers):
        pods = one.replicas or 0
        found = read(manifest, one, context.namespace)
        least = found.membership.min_member if found and found.membership.embedded else None
        if (
            found
            and least is not None
            and least < pods
            and not _is_allowed_by_policy(manifest, [one], least, context)
        ):
            yield Violation(
                found.min_member,
                f"task group {found.membership.group.rpartition('/')[2]} starts with {least} of {pods} pods "
                "that request cards",
                f"write minMember {pods}, so that no pod holds cards while it waits for others",
            )


def _is_allowed_by_policy(
    manifest: Manifest, workers: Sequence[PodSet], minimum: int, context: Context
) -> bool:
    """Whether the policy itself lets jobs of this kind start with that many pods."""
    if context.cluster is None or not any(kind.gang_rule for kind in context.cluster.workloads.values()):
        return False
    for one in workers:
        kind = review(manifest, one, context.cluster, context.namespace).workload
        rule = kind.gang_rule if kind else None
        if rule is None or rule.size is None or rule.size > minimum:
            return False
    return bool(workers)


def _fix(path: Path, pods: int) -> Fix:
    return Fix(f"start the gang with {pods} pods", (size_patch(path, pods),))


def _synchronous(manifest: Manifest, pod_set: PodSet) -> bool:
    return (pod_set.synchronous and pod_set.purpose == "training") or all_at_once(manifest)


RULE = Rule(
    code="PK302",
    name="partial-gang",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset(_KINDS),
    fix=Applicability.UNSAFE,
)
