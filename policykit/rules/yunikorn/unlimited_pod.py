"""A pod that YuniKorn places requests nothing, so no quota counts it.

YuniKorn counts what pods request. A pod without requests counts only against `pods`: it uses cores
and memory without being charged to its queue, and nodes where it runs look empty.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.shape import mappings
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
  containers:
  - name: main
    image: registry.example/train:1
"""

GOOD = f"{BAD}    resources:\n      requests: {{cpu: '1', memory: 1Gi}}\n"


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Templates whose containers all have neither requests nor limits."""
    manifest, pod_set = review.manifest, review.pod_set
    containers = mappings(pod_set.spec.get("containers"))
    if manifest.partial or not pod_set.scheduler_name or not metadata.is_scheduled(pod_set, review.cluster):
        return
    several = (*containers, *mappings(pod_set.spec.get("initContainers")), pod_set.spec)
    if not containers or pod_set.devices or any(each.get("resources") for each in several):
        return
    if pod_set.spec.get("overhead") or _has_defaults(review):
        return
    yield Violation(
        pod_set.place("containers"),
        "no container requests anything: YuniKorn charges the pod to `pods` and to no other quota",
        "add cpu and memory requests",
        key=True,
    )


def _has_defaults(review: Review) -> bool:
    """Whether the policy sets default requests or limits for containers of the namespace."""
    here = review.manifest.namespace or review.namespace
    quotas = review.cluster.quotas if review.cluster else ()
    ranges = [quota.containers for quota in quotas if quota.namespace == here and quota.containers]
    return is_placeholder(here) or any(each.default_request or each.default for each in ranges)


RULE = Rule(
    code="PK713",
    name="unlimited-pod",
    severity=Severity.WARNING,
    subject=Review,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=("cheduler",),
)
