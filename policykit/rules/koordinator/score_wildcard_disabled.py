"""A profile of koord-scheduler disables every plugin that scores.

With it go the plugins that heed wishes: preferred node and pod affinity, PreferNoSchedule taints
and spreading with ScheduleAnyway. Pods still run, in places that nobody would prefer.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
from policykit.targets.koordinator.checks import whose

BAD = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: koord-scheduler
  plugins:
    score:
      disabled:
      - name: "*"
      enabled:
      - name: LoadAwareScheduling
"""

GOOD = BAD.replace('name: "*"', "name: NodeResourcesFit")

_HEEDED = {
    "TaintToleration": "PreferNoSchedule taints",
    "NodeAffinity": "preferred node affinity",
    "PodTopologySpread": "spreading with ScheduleAnyway",
    "InterPodAffinity": "preferred pod affinity",
}


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """What is enabled again by name counts as meant."""
    for path, profile in whose.profiles(manifest.data):
        again = {name for _, name in whose.entries(profile, "score")}
        lost = {plugin: wish for plugin, wish in _HEEDED.items() if plugin not in again}
        for place, name in whose.entries(profile, "score", "disabled"):
            if name == "*" and lost:
                yield Violation(
                    (*path, *place, "name"),
                    f"score disables every plugin, so {', '.join(lost.values())} no longer count",
                    f"disable only what is to stop, or enable {', '.join(lost)} again",
                )


RULE = Rule(
    code="PK604",
    name="score-wildcard-disabled",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({whose.KIND}),
)
