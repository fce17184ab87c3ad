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
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping
from policykit.model.severity import Severity
from policykit.targets.koordinator.checks import releases, whose
from policykit.targets.koordinator.scheduler import config
from policykit.targets.koordinator.scheduler.points import PLUGINS
from policykit.targets.koordinator.scheduler.weights import MAX_POINTS, rivals
from policykit.targets.kubernetes.scheduler.in_tree import FIRST
from policykit.targets.release import Version

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

_BINDER = "DefaultBinder"
_FIRST_AT = {"preScore": Severity.ERROR, "reserve": Severity.WARNING}
"""Koordinator's own kustomize files have it last at reserve."""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Source: the chart's koord-scheduler-config (1.6 to 1.8)."""
    version = releases.reading(manifest.data, context.cluster)[-1]
    for path, profile in whose.profiles(manifest.data):
        yield from _first(profile, path)
        yield from _binder(profile, path)
        yield from _weight(profile, path, version)


def _first(profile: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    for point, severity in _FIRST_AT.items():
        there = list(whose.entries(profile, point))
        for place, name in there[1:]:
            if name == config.FIRST:
                yield Violation(
                    (*path, *place, "name"),
                    f"Reservation must be the first plugin at {point}, but {there[0][1]} is",
                    "move it to the top of the list",
                    severity,
                )


def _binder(profile: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    named = [name for point in ("bind", "multiPoint") for _, name in whose.entries(profile, point)]
    own = any(name not in PLUGINS and name not in FIRST for name in named)  # it may bind pods itself
    named_here = any(name == _BINDER for _, name in whose.entries(profile, "bind"))
    if own or named_here or whose.runs_by_default(profile, "bind", _BINDER):
        return
    for point in ("bind", "multiPoint"):
        off = [place for place, name in whose.entries(profile, point, "disabled") if name in ("*", _BINDER)]
        if off:
            yield Violation(
                (*path, *off[0], "name"),
                f"{point} disables DefaultBinder and nothing enables another binder: no pod is bound",
                "enable DefaultBinder at bind, behind Reservation",
            )
            return


def _weight(profile: Mapping[str, Any], path: Path, version: Version) -> Iterator[Violation]:
    scoring = config.scoring_plugins(profile, version)
    own, others = scoring.get(config.FIRST, 0) * MAX_POINTS, _others(scoring)
    for point in ("score", "multiPoint"):
        for place, name in whose.entries(profile, point):
            if name == config.FIRST and 0 < own <= others:
                weighed = "weight" in mapping(lookup(profile, place))
                yield Violation(
                    (*path, *place, "weight" if weighed else "name"),
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
