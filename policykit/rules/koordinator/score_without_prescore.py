"""A plugin of Koordinator scores without having prepared it.

NodeResourcesFitPlus and ScarceResourceAvoidance read at score what they wrote at preScore.
Enabled at score alone they fail every pod that fits on two nodes or more; with one node scoring
is skipped, so a small test does not show it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.patch import APPEND, Patch
from policykit.manifests.path import Path
from policykit.model.severity import Applicability, Severity
from policykit.targets.koordinator.checks import releases, whose
from policykit.targets.koordinator.scheduler import points

BAD = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: koord-scheduler
  plugins:
    score:
      enabled:
      - name: NodeResourcesFitPlus
        weight: 2
  pluginConfig:
  - name: NodeResourcesFitPlus
    args:
      resources:
        nvidia.com/gpu: {type: MostAllocated, weight: 2}
        cpu: {type: LeastAllocated, weight: 1}
"""

GOOD = BAD.replace(
    "  plugins:\n", "  plugins:\n    preScore:\n      enabled:\n      - name: NodeResourcesFitPlus\n"
)

_PLUGINS = ("NodeResourcesFitPlus", "ScarceResourceAvoidance")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Source: the plugins' Score, which reads the cycle state of their PreScore (1.6 to 1.8)."""
    possible = releases.reading(manifest.data, context.cluster)
    for path, profile in whose.profiles(manifest.data):
        for point in ("score", "multiPoint"):
            for place, plugin in whose.entries(profile, point):
                if plugin not in _PLUGINS or whose.runs_at(profile, "preScore", plugin):
                    continue
                if point == "multiPoint" and not whose.runs_at(profile, "score", plugin):
                    continue
                if not any(points.implements(plugin, "score", each) is not False for each in possible):
                    continue  # config-version says that it is not there
                yield Violation(
                    (*path, *place, "name"),
                    f"{plugin} runs at score but not at preScore: every pod with two nodes or more to choose "
                    "from fails",
                    "enable it at preScore too",
                    fix=partial(_fix, path, plugin),
                )


def _fix(path: Path, plugin: str) -> Fix:
    place = (*path, "plugins", "preScore", "enabled", APPEND)
    return Fix(f"enable {plugin} at preScore", (Patch("add", place, {"name": plugin}),), Applicability.SAFE)


RULE = Rule(
    code="PK602",
    name="score-without-prescore",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({whose.KIND}),
    fix=Applicability.SAFE,
)
