"""A Volcano configuration packs pods and spreads them at once.

The scores of all plugins are added up. nodeorder prefers empty nodes unless leastrequested.weight is 0,
binpack prefers full ones: which one wins depends on the pod. And binpack counts only cpu and memory
unless binpack.resources lists the cards.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation, violation_of
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
from policykit.targets.volcano.scheduler import opposing_scores
from policykit.targets.volcano.scheduler.configuration import Configuration, read

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

BAD = """\
actions: "allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
- plugins:
  - name: predicates
  - name: nodeorder
  - name: binpack
    arguments:
      binpack.weight: 10
      binpack.resources: nvidia.com/gpu
"""

GOOD = BAD.replace("nodeorder\n", "nodeorder\n    arguments:\n      leastrequested.weight: 0\n")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """The first score that spreads beside the first that packs; and cards of the policy that do not count."""
    made = read(manifest.data)
    if problem := opposing_scores.opposing_scores(made):
        yield violation_of(problem)
    if context.cluster:
        yield from _uncounted(made, context.cluster)


def _uncounted(made: Configuration, cluster: Cluster) -> Iterator[Violation]:
    """Cards that kinds of the policy ask Volcano to pack."""
    plugin = made.plugin("binpack")
    key = opposing_scores.RESOURCE_LISTS["binpack"]
    if plugin is None or is_placeholder(plugin.arguments.get(key)):
        return
    # How a policy becomes a configuration is much to load for runs without one.
    from policykit.rules.volcano.planned_configuration import packed_cards

    listed = opposing_scores.listed_resources(plugin)
    missing = [name for name in packed_cards(cluster) if name not in listed]
    if missing:
        path = (*plugin.path, "arguments", key) if key in plugin.arguments else (*plugin.path, "name")
        yield Violation(
            path,
            f"binpack does not count {', '.join(missing)}, by which the policy packs its workload kinds: "
            "only cpu and memory count",
            f"set {key}: {', '.join((*filter(None, listed), *missing))}",
        )


RULE = Rule(
    code="PK507",
    name="opposing-scores",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"volcano-scheduler.conf"}),
)
