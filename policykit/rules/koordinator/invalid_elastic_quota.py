"""An ElasticQuota that Koordinator refuses, or that does not count what it names.

Its webhook refuses amounts that do not fit together and annotations that are no JSON. What it does
not check has no effect: a label under an old name leaves the quota below the root, and a quota of
koordinator.sh/gpu never counts a pod, since pods are rewritten to its parts.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
from policykit.targets.koordinator.checks import elastic_quotas, releases

BAD = """\
apiVersion: scheduling.sigs.k8s.io/v1alpha1
kind: ElasticQuota
metadata:
  name: team-a
  namespace: default
spec:
  min:
    cpu: "10"
    nvidia.com/gpu: "4"
  max:
    cpu: "40"
"""

GOOD = BAD + '    nvidia.com/gpu: "8"\n'


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """What one object shows; trees of quotas are the business of PK403 to PK406."""
    if manifest.kind == "ElasticQuotaProfile":
        if manifest.group == "quota.koordinator.sh":
            yield from elastic_quotas.profile(manifest)
    elif manifest.group == "scheduling.sigs.k8s.io":
        yield from elastic_quotas.faults(manifest, releases.stated(context.cluster))


RULE = Rule(
    code="PK610",
    name="invalid-elastic-quota",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"ElasticQuota", "ElasticQuotaProfile"}),
)
