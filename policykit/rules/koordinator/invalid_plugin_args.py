"""Args of a koord-scheduler plugin are invalid, or have no effect.

koord-scheduler does not start with an unknown field, nor, where the plugin is enabled, with a number
out of range. The args of NodeResourcesFitPlus and ScarceResourceAvoidance are not validated at all: a
mistake leaves the scheduler running with a score that decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.shape import mapping
from policykit.model.cluster import Cluster
from policykit.model.severity import Severity
from policykit.rules.koordinator import scheduler_configuration
from policykit.targets.koordinator.scheduler import validator
from policykit.targets.koordinator.scheduler.configuration import KIND, Profile
from policykit.targets.koordinator.scheduler.plugins import FIT_PLUS

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


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Every entry of pluginConfig for a plugin of Koordinator."""
    configuration = scheduler_configuration.read(manifest)
    readers = scheduler_configuration.readers(configuration, context)
    offered = _offered(context.cluster) if context.cluster and context.cluster.complete else set()
    for profile in configuration.profiles:
        yield from scheduler_configuration.violations(manifest, validator.arguments(profile, readers))
        if offered:
            yield from _not_offered(profile, offered)


def _not_offered(profile: Profile, offered: set[str]) -> Iterator[Violation]:
    for args in profile.args:
        for name in mapping(args.data.get("resources")) if args.plugin == FIT_PLUS else ():
            if isinstance(name, str) and name not in offered and not is_placeholder(name):
                yield Violation(
                    (*profile.path, *args.path, "resources", name),
                    f"NodeResourcesFitPlus scores {name}, which no pool of the policy offers",
                    f"the pools offer: {', '.join(sorted(offered))}",
                    Severity.WARNING,
                    key=True,
                )


def _offered(cluster: Cluster) -> set[str]:
    """Every resource of a node or of a placement."""
    from policykit.targets.pool_capacity import most_cards

    found = {name for pool in cluster.pools for shape in pool.shapes for name in shape.allocatable}
    placed = {name for placement in cluster.placements.values() for name in placement.resources}
    return {*found, *placed, *most_cards(cluster), "cpu", "memory", "ephemeral-storage"}


RULE = Rule(
    code="PK603",
    name="invalid-plugin-args",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({KIND}),
)
