"""A queue of Kueue has a setting that has no effect, given the fair sharing of Kueue's configuration.

With `fairSharing`, Kueue 0.11 and newer preempt by shares alone, and borrowWithinCohort has no effect;
without it the weights of ClusterQueues and Cohorts have none. Weights of LocalQueues, and a ClusterQueue's
admissionMode UsageBasedAdmissionFairSharing, need `admissionFairSharing`.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import Scope
from policykit.model.kueue import FairSharing, FairSharingField
from policykit.model.severity import Severity
from policykit.targets.kueue import versions

BAD = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: kueue-manager-config
  namespace: kueue-system
data:
  controller_manager_config.yaml: |
    apiVersion: config.kueue.x-k8s.io/v1beta2
    kind: Configuration
    fairSharing:
      preemptionStrategies: [LessThanOrEqualToFinalShare, LessThanInitialShare]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: research
spec:
  cohortName: all
  namespaceSelector: {}
  preemption:
    reclaimWithinCohort: Any
    borrowWithinCohort:
      policy: LowerPriority
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - name: any
      resources:
      - name: nvidia.com/gpu
        nominalQuota: 8
"""

GOOD = BAD.replace("    borrowWithinCohort:\n      policy: LowerPriority\n", "")


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Where all configurations agree. Source: `pkg/scheduler/preemption/preemption.go` (0.9 to 0.19)."""
    stated = scope.of(FairSharing)
    if not stated or any(each.partial or each.value.unknown for each in stated):
        return
    have = versions.release_of(context.cluster)
    queues = {each.value.queues for each in stated}
    admission = {each.value.admission for each in stated}
    by_shares_alone = have is None or have >= versions.SHARES_ALONE
    for one in scope.of(FairSharingField):
        field = one.value
        if not (field.needed or by_shares_alone):
            continue
        section = "admissionFairSharing" if field.admission else "fairSharing"
        if one.partial or (admission if field.admission else queues) != {not field.needed}:
            continue
        says = "does not enable" if field.needed else "enables"
        yield Violation(
            one.at("field"),
            f"{field.stated}, but Kueue's configuration {says} {section}: it has no effect",
            f"enable {section} there, or delete {field.name} here"
            if field.needed
            else f"delete it, or {section} there",
        )


RULE = Rule(
    code="PK937",
    name="fair-sharing-setting",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(FairSharingField,),
)
