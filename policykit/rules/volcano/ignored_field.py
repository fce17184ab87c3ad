"""An object sets something that Volcano does not read.

The API accepts these fields, but no controller reads them, or what they say is incomplete and has no
effect. The same holds for fields newer than the release in the policy.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest, words
from policykit.model.severity import Severity
from policykit.rules.volcano import unread_fields
from policykit.targets.volcano import versions

BAD = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata:
  name: train
  ownerReferences:
  - {apiVersion: example.com/v1, kind: Training, name: train, uid: "1"}
spec:
  minMember: 4
  networkTopology:
    mode: hard
"""

GOOD = BAD + "    highestTierAllowed: 1\n"

_KEYS = ("jdb-min-available", "jdb-max-unavailable", "sla-waiting-time")
_KINDS = frozenset(
    {
        "ColocationConfiguration",
        "CronJob",
        "DaemonSet",
        "Deployment",
        "HyperJob",
        "HyperNode",
        "Job",
        "JobFlow",
        "JobTemplate",
        "NodeShard",
        "Pod",
        "PodGroup",
        "Queue",
        "ReplicaSet",
        "StatefulSet",
    }
)


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Fields of Volcano's objects, and annotations of all objects whose pods it schedules."""
    if ".volcano.sh" in manifest.api_version or "scheduling.incubator.k8s.io" in manifest.api_version:
        yield from unread_fields.newer_fields(manifest, versions.release_of(context.cluster))
        yield from unread_fields.unread_fields(manifest)
    if words(manifest.data).end(_KEYS):
        yield from unread_fields.unread_annotations(manifest)


RULE = Rule(
    code="PK514",
    name="ignored-field",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=_KINDS,
)
