"""YuniKorn ignores a preference of a pod.

YuniKorn uses kube-scheduler's filters to find nodes where a pod may run, and sorts those nodes by
its own policy, one for the whole partition. Preferred affinity and soft spread constraints have no
effect.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping
from policykit.model.severity import Severity
from policykit.placement.review import Review
from policykit.targets.yunikorn import metadata

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train
  labels:
    yunikorn.apache.org/app-id: train
spec:
  schedulerName: yunikorn
  affinity:
    podAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: topology.kubernetes.io/zone
          labelSelector:
            matchLabels: {app: train}
  containers:
  - name: main
    image: registry.example/train:1
    resources:
      requests: {cpu: "1", memory: 1Gi}
"""

GOOD = (
    BAD.replace("preferredDuring", "requiredDuring")
    .replace("      - weight: 100\n        podAffinityTerm:\n", "")
    .replace("          topologyKey", "      - topologyKey")
    .replace("          labelSelector:\n            match", "        labelSelector:\n          match")
)

_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def check(review: Review, context: Context) -> Iterator[Violation]:
    """One violation per template, at its first preference.

    Silent where the policy itself sets the preference for the workload kind.
    """
    pod_set = review.pod_set
    kind = review.workload
    asked_for = kind is not None and bool(kind.prefer or (kind.across and not kind.across.hard))
    if not pod_set.scheduler_name or not metadata.is_scheduled(pod_set, review.cluster) or asked_for:
        return
    found = list(_preferences(pod_set.spec))
    if found:
        (field, *rest), what = found[0]
        others = f" and {len(found) - 1} more have" if len(found) > 1 else " has"
        yield Violation(
            pod_set.place(str(field), *rest),
            f"{what}{others} no effect: YuniKorn sorts nodes only by utilization",
            "make it required, or delete it",
            key=True,
        )


def _preferences(spec: Any) -> Iterator[tuple[Path, str]]:
    affinity = mapping(spec.get("affinity"))
    for kind in ("nodeAffinity", "podAffinity", "podAntiAffinity"):
        if mapping(affinity.get(kind)).get(_PREFERRED):
            yield ("affinity", kind, _PREFERRED), f"preferred {kind}"
    constraints = spec.get("topologySpreadConstraints")
    for number, each in enumerate(constraints if isinstance(constraints, list) else ()):
        if mapping(each).get("whenUnsatisfiable") == "ScheduleAnyway":
            path = ("topologySpreadConstraints", number, "whenUnsatisfiable")
            yield path, "a spread with ScheduleAnyway"


RULE = Rule(
    code="PK714",
    name="unheeded-preference",
    severity=Severity.INFO,
    subject=Review,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=("cheduler",),
)
