"""Plugins of koord-scheduler stand in an order that breaks what they do.

Reservation chooses what is reserved before other plugins look, so it comes first at preScore and
reserve, and its score outweighs the rest. Bind disables every plugin so that Reservation may bind;
without DefaultBinder behind it no ordinary pod is bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.model.severity import Severity
from policykit.targets.koordinator.checks import releases, whose
from policykit.targets.koordinator.scheduler import config
from policykit.targets.koordinator.scheduler.points import PLUGINS
from policykit.targets.koordinator.scheduler.weights import MAX_POINTS, rivals

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

_FIRST_AT = {"preScore": Severity.ERROR, "reserve": Severity.WARNING}
"""Koordinator's own kustomize files have it last at reserve."""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Source: the chart's koord-scheduler-config (1.6 to 1.8)."""
    for path, profile in whose.profiles(manifest.data):
        yield from _first(profile, path)
        yield from _binder(profile, path)
        yield from _weight(profile, path, manifest, context)


def _first(profile: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    for point, severity in _FIRST_AT.items():
        there = list(whose.entries(profile, point))
        for place, name in there[1:]:
            if name == config.FIRST:
                yield Violation(
                    (*path, *place),
                    f"Reservation must be the first plugin at {point}, but {there[0][1]} is",
                    "move it to the top of the list",
                    severity,
                )


def _binder(profile: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    there = [name for _, name in whose.entries(profile, "bind")]
    disabled = whose.entries(profile, "bind", "disabled")
    off = [place for place, name in disabled if name in ("*", "DefaultBinder")]
    known = all(name in PLUGINS for name in there)  # any other may bind pods itself
    everywhere = any(name == "DefaultBinder" for _, name in whose.entries(profile, "multiPoint"))
    if off and known and not everywhere:
        yield Violation(
            (*path, *off[0]),
            "bind disables DefaultBinder and enables no other binder: no pod is bound",
            "enable DefaultBinder behind Reservation",
        )


def _weight(
    profile: Mapping[str, Any], path: Path, manifest: Manifest, context: Context
) -> Iterator[Violation]:
    version = releases.reading(manifest.data, context.cluster)[-1]
    scoring = config.scoring_plugins(profile, version)
    own, others = scoring.get(config.FIRST, 0) * MAX_POINTS, _others(scoring)
    for point in ("score", "multiPoint"):
        for place, name in whose.entries(profile, point):
            if name == config.FIRST and 0 < own <= others:
                yield Violation(
                    (*path, *place),
                    f"Reservation scores {own} points at the most, all others together {others}: pods may "
                    "miss the node that reserves for them",
                    "give it the chart's weight, 5000, or more than all others together",
                    Severity.WARNING,
                )
                return


def _others(scoring: Mapping[str, int]) -> int:
    """Points of all others together that a pod meets whatever it asks for, and of preferred nodes."""
    against = rivals(scoring, (), soft_taints=False, spreads=False, own=())
    return sum(rival.points for rival in against) + MAX_POINTS * scoring.get("NodeAffinity", 0)


RULE = Rule(
    code="PK605",
    name="plugin-order",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({whose.KIND}),
)
