"""A Volcano configuration packs pods and spreads them at once.

Scores of all plugins are added. nodeorder prefers empty nodes as long as leastrequested.weight is
left at 1, binpack prefers full ones: which of them wins depends on the pod. And binpack counts cpu
and memory only, unless binpack.resources lists the cards.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
from policykit.targets.volcano.checks import listing
from policykit.targets.volcano.checks.listing import Plugins
from policykit.targets.volcano.checks.packed import resources
from policykit.targets.volcano.checks.scoring import Force, forces

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
    """The first that spreads beside the first that packs; and cards of the policy that do not count."""
    plugins = listing.plugins(manifest.data)
    found = list(forces(plugins))
    packing = [each for each in found if each.packs]
    for spreads in (each for each in found if not each.packs):
        against = next((each for each in packing if each.plugin != spreads.plugin or _same(each)), None)
        if against:
            yield _opposed(spreads, against, _as_shipped(plugins, spreads, against))
            break
    if context.cluster:
        yield from _uncounted(plugins, context.cluster)


def _same(packs: Force) -> bool:
    """Of one plugin only nodeorder can be set against itself: others say it for each resource."""
    return packs.plugin == "nodeorder"


def _opposed(spreads: Force, packs: Force, shipped: bool) -> Violation:
    if spreads.plugin == "nodeorder":
        advice = "write leastrequested.weight: 0 in the arguments of nodeorder, or take the packing out"
    else:
        advice = f"keep one of them, {spreads.what} or {packs.what}"
    return Violation(
        spreads.path,
        f"{spreads.what} spreads what {packs.what} packs: which of them wins depends on the pod",
        advice,
        Severity.INFO if shipped else None,
    )


def _as_shipped(plugins: Plugins, spreads: Force, packs: Force) -> bool:
    """Volcano's own file lists both without a word about either."""
    named = [plugins.get("nodeorder"), plugins.get("binpack")]
    as_shipped = all(plugin is None or not plugin.arguments for plugin in named)
    return as_shipped and (spreads.plugin, packs.plugin) == ("nodeorder", "binpack")


def _uncounted(plugins: Plugins, cluster: Cluster) -> Iterator[Violation]:
    """Cards that kinds of the policy ask Volcano to pack."""
    plugin = plugins.get("binpack")
    if plugin is None or is_placeholder(plugin.arguments.get("binpack.resources")):
        return
    from policykit.targets.volcano.checks.wanted import packed_cards

    missing = [name for name in packed_cards(cluster) if name not in resources(plugin)]
    if missing:
        key = "binpack.resources"
        path = (*plugin.path, "arguments", key) if key in plugin.arguments else (*plugin.path, "name")
        yield Violation(
            path,
            f"binpack does not count {', '.join(missing)}, which the policy's kinds of work are to be packed "
            "by: only cpu and memory decide",
            f"write binpack.resources: {', '.join((*filter(None, resources(plugin)), *missing))}",
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
