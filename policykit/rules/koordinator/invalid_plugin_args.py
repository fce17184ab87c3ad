"""Args of a plugin of koord-scheduler are refused, or have no effect.

koord-scheduler stops at start at a field that it does not know and at numbers out of range. The
args of NodeResourcesFitPlus and ScarceResourceAvoidance are not checked at all: a slip leaves the
scheduler running with a score that decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.model.severity import Severity
from policykit.targets.koordinator.checks import bounds, known_fields, releases, scorers, whose
from policykit.targets.koordinator.scheduler.config import FIT_PLUS, SCARCE
from policykit.targets.koordinator.scheduler.points import PLUGINS

BAD = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: koord-scheduler
  pluginConfig:
  - name: LoadAwareScheduling
    args:
      resourceWeights:
        cpu: 1
        nvidia.com/gpu: 2
"""

GOOD = BAD + "      estimatedScalingFactors:\n        nvidia.com/gpu: 100\n"

_FACTORS = {"cpu": 85, "memory": 70}
"""What LoadAwareScheduling adds to estimatedScalingFactors by itself."""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Every entry of pluginConfig that is for a plugin of Koordinator's."""
    possible = releases.reading(manifest.data, context.cluster)
    for path, profile in whose.profiles(manifest.data):
        yield from scorers.apart(profile, path)
        for position, name in bounds.named_once(profile.get("pluginConfig")):
            if name in PLUGINS:
                yield Violation(
                    (*path, "pluginConfig", position, "name"),
                    f"pluginConfig has {name} twice: koord-scheduler stops at start",
                    "make one entry of the two",
                )
        for place, plugin, args in whose.arguments(profile):
            yield from known_fields.faults(plugin, args, (*path, *place), possible)
            yield from _values(plugin, args, (*path, *place), context)


def _values(plugin: str, args: Mapping[str, Any], path: Path, context: Context) -> Iterator[Violation]:
    yield from bounds.faults(plugin, args, path)
    if plugin == "LoadAwareScheduling":
        yield from bounds.load_aware(args, path, _FACTORS)
    elif plugin == FIT_PLUS:
        yield from scorers.fit_plus(args, path, context.cluster)
    elif plugin == SCARCE:
        yield from scorers.scarce(args, path)


RULE = Rule(
    code="PK603",
    name="invalid-plugin-args",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({whose.KIND}),
)
