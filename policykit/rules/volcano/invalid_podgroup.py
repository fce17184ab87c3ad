"""Volcano rejects a PodGroup.

One tier limits how far apart the pods of a sub-group may run, given by its number or its name: the
webhook rejects both at once. A group of which no number of pods is stated starts them one by one:
minResources alone does not hold them back. PK309 covers the topology of the whole group, PK401 its queue.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import lookup
from policykit.manifests.shape import mapping, whole
from policykit.model.severity import Severity
from policykit.rules.volcano import job_specs
from policykit.targets.volcano import versions
from policykit.targets.volcano.names import GROUP_APIS

BAD = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata:
  name: train
  ownerReferences:
  - {apiVersion: example.com/v1, kind: Training, name: train, uid: "1"}
spec:
  minMember: 4
  subGroupPolicy:
  - name: servers
    subGroupSize: 2
    matchLabelKeys: [server]
    networkTopology:
      mode: hard
      highestTierAllowed: 1
      highestTierName: rack
"""

GOOD = BAD.replace("      highestTierName: rack\n", "")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Source: `webhooks/admission/podgroups/validate` (1.13 to 1.15)."""
    if manifest.group not in GROUP_APIS:
        return
    yield from _below_zero(manifest, context)
    if not manifest.partial:
        yield from _alone(manifest)
    for path, bound in job_specs.sub_group_topologies(manifest.data):
        yield from job_specs.both_tiers(bound, path)


def _below_zero(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Rejected since 1.14; earlier it has no effect."""
    path = ("spec", "minMember")
    value = whole(lookup(manifest.data, path))
    if value is not None and value < 0:
        certain = (versions.release_of(context.cluster) or (0,)) >= versions.MEMBERS_BOUNDED
        severity = Severity.ERROR if certain else Severity.WARNING
        yield Violation(path, f"minMember is {value}, below 0", "write 0 or more", severity)


def _alone(manifest: Manifest) -> Iterator[Violation]:
    """Source: `plugins/gang` (1.8 to 1.15) counts pods, and `plugins/overcommit` acts at the enqueue only."""
    spec = mapping(manifest.data.get("spec"))
    if spec.get("minResources") and not any(
        spec.get(field) for field in ("minMember", "minTaskMember", "subGroupPolicy")
    ):
        yield Violation(
            ("spec", "minResources"),
            "minResources without minMember: the pods of the group start one by one",
            "set minMember to the number of pods that must start together",
            Severity.WARNING,
            key=True,
        )


RULE = Rule(
    code="PK512",
    name="invalid-podgroup",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"PodGroup"}),
)
