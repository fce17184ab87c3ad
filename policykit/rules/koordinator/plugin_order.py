"""Plugins of koord-scheduler are in an order that breaks them.

Reservation selects what is reserved before other plugins look, so it must come first at preScore
and reserve, and its score must outweigh the rest. The chart disables every plugin at bind so that
Reservation can bind; without DefaultBinder after it no ordinary pod is bound.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.scores import MAX_SCORE
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.release import Version
from policykit.model.severity import Severity
from policykit.rules.koordinator import scheduler_configuration
from policykit.targets.koordinator.scheduler import validator
from policykit.targets.koordinator.scheduler.configuration import KIND, Profile
from policykit.targets.koordinator.scheduler.plugins import MULTI_POINT, RESERVATION
from policykit.targets.koordinator.scheduler.weights import rivals

BAD = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: koord-scheduler
  plugins:
    preScore:
      enabled:
      - name: NodeResourcesFitPlus
      - name: Reservation
"""

GOOD = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: koord-scheduler
  plugins:
    preScore:
      enabled:
      - name: Reservation
      - name: Coscheduling
"""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Source: the chart's koord-scheduler-config (1.6 to 1.8)."""
    configuration = scheduler_configuration.read(manifest)
    newest = scheduler_configuration.readers(configuration, context)[-1]
    for profile in configuration.profiles:
        yield from scheduler_configuration.violations(manifest, validator.plugin_order(profile))
        yield from _outweighed(profile, newest)


def _outweighed(profile: Profile, version: Version) -> Iterator[Violation]:
    """Against plugins that score every pod, and preferred nodes."""
    weights = profile.score_weights(version)
    own = weights.get(RESERVATION, 0) * MAX_SCORE
    against = rivals(weights, (), soft_taints=False, spreads=False, own=())
    others = sum(rival.points for rival in against) + MAX_SCORE * weights.get("NodeAffinity", 0)
    points = (profile.point(point).plugin(RESERVATION) for point in ("score", MULTI_POINT))
    entry = next((found for found in points if found), None)
    if entry and 0 < own <= others:
        yield Violation(
            (*profile.path, *entry.path, "weight" if entry.weight is not None else "name"),
            f"Reservation scores at most {own} points, all other plugins together {others}: pods may not get "
            "the node reserved for them",
            "use the chart's weight, 5000, or more than all others together",
            Severity.WARNING,
        )


RULE = Rule(
    code="PK605",
    name="plugin-order",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({KIND}),
)
