"""Annotations of pods and their owners that say nothing to Volcano as they are, or where they are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from policykit.kube import podsets
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.targets.volcano.names import BATCH_GROUP, GROUP_APIS, SCHEDULER

_LEAST, _MOST = "volcano.sh/jdb-min-available", "volcano.sh/jdb-max-unavailable"
_WAITING = ("volcano.sh/sla-waiting-time", "sla-waiting-time")
_AMOUNT = re.compile(r"\+?0*[1-9][0-9]*\Z|0*[1-9][0-9]?%\Z")
_OWNERS = frozenset({"DaemonSet", "Deployment", "Job", "ReplicaSet", "StatefulSet"})


def faults(manifest: Manifest) -> Iterator[Violation]:
    """Budgets wherever they are read, and waiting times on pod templates, where nobody looks for them."""
    if manifest.group in (*GROUP_APIS, BATCH_GROUP):
        yield from _budget(manifest.annotations, ("metadata", "annotations"))
    for pod_set in podsets.pod_sets(manifest.data):
        ours = pod_set.scheduler_name == SCHEDULER or (
            manifest.group == BATCH_GROUP and not pod_set.scheduler_name
        )
        if not ours:
            continue
        place = pod_set.place("annotations")
        yield from _budget(pod_set.annotations, place)
        for key in _WAITING if manifest.kind in _OWNERS else ():
            if key in pod_set.annotations:
                yield Violation(
                    (*place, key),
                    f"{key} on the pod template is not read: the group does not get it",
                    f"write {_WAITING[0]} in the annotations of the {manifest.kind} itself",
                    key=True,
                )


def _budget(annotations: Mapping[str, str], place: Path) -> Iterator[Violation]:
    """Source: `scheduler/api/job_info.go` and `webhooks/admission/pods/validate` (1.8 to 1.15)."""
    if _LEAST in annotations and _MOST in annotations:
        yield Violation(
            (*place, _MOST),
            f"{_MOST} beside {_LEAST} is not read",
            "keep one of them",
            key=True,
        )
    for key in (_LEAST, _MOST):
        value = annotations.get(key)
        if value is not None and not is_placeholder(value) and not _AMOUNT.match(value):
            yield Violation(
                (*place, key),
                f"{key} is {value!r}, neither a whole number above 0 nor 1% to 99%",
                'write a number of pods or a percentage, in quotes: "2" or "50%"',
            )
