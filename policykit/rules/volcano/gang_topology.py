"""A gang's network topology constraint is not enforced or cannot be met.

Tiers are numbers or names of HyperNodes. A name that no HyperNode has is not enforced, a number
together with a name is refused, and without Volcano's plugin neither is read. A gang larger than
its tier waits forever.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.cluster import Cluster
from policykit.model.severity import Severity
from policykit.model.topology import DeclaredHyperNode, TierUse, TopologyPlugin
from policykit.nearest import Names, some
from policykit.placement.capacity import pods_in_domain
from policykit.targets.volcano import versions
from policykit.targets.volcano.names import TOPOLOGY_PLUGIN

BAD = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata:
  name: train
spec:
  minMember: 4
  networkTopology:
    mode: hard
    highestTierAllowed: 1
    highestTierName: rack
"""

GOOD = BAD.replace("    highestTierName: rack\n", "")


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Each bound against the HyperNodes, the configuration and the policy's levels."""
    names, lowest = _tiers([each.value for each in scope.of(DeclaredHyperNode)], context.cluster)
    have = versions.release_of(context.cluster)
    plugins = () if versions.enforces_tier(have) else scope.of(TopologyPlugin)
    unenforced = bool(plugins) and scope.complete and not any(each.value.enabled for each in plugins)
    since = versions.if_unstated(have, versions.ENFORCED_TIER[1])
    for use in scope.of(TierUse):
        bound = use.value
        if bound.tier is not None and bound.tier_name:
            yield Violation(
                use.at("tier"),
                f"the highest tier is set twice, by number {bound.tier} and by name {bound.tier_name}: "
                "Volcano refuses that",
                "keep one of them",
                Severity.ERROR,
            )
            continue
        found = _unknown(use, names, lowest) if scope.complete else None
        found = found or _too_small(use, context.cluster)
        if found:
            yield found
        elif unenforced:
            yield Violation(
                use.at("tier"),
                f"nothing enforces the topology{since}: {plugins[0].path} has no plugin {TOPOLOGY_PLUGIN}",
                "add the plugin to the scheduler's configuration",
            )


def _tiers(nodes: Sequence[DeclaredHyperNode], cluster: Cluster | None) -> tuple[Names, int | None]:
    """Names of tiers, and the lowest number; None: not every number is known."""
    levels = cluster.levels if cluster else ()
    names = {each.tier_name for each in nodes if each.tier_name} | {level.name for level in levels}
    numbers = [each.tier for each in nodes if each.tier is not None]
    known = not levels and len(numbers) == len(nodes)
    return Names(names), min(numbers, default=None) if known else None


def _unknown(use: LocatedFact[TierUse], names: Names, lowest: int | None) -> Violation | None:
    """A tier that no HyperNode has."""
    bound = use.value
    if bound.tier_name and names.sorted and bound.tier_name not in names:
        if is_placeholder(bound.tier_name):
            return None
        near = names.nearest(bound.tier_name, 0.7)
        return Violation(
            use.at("tier"),
            f"no HyperNode has tier {bound.tier_name}, so the constraint is not enforced",
            f"did you mean {near}?" if near else f"known tiers: {some(names.sorted)}",
            Severity.ERROR,
        )
    if bound.tier is not None and lowest is not None and bound.tier < lowest:
        return Violation(
            use.at("tier"),
            f"highestTierAllowed is {bound.tier}, but the lowest tier of a HyperNode is {lowest}: "
            "the gang fits nowhere",
            f"write {lowest} or more",
            Severity.ERROR,
        )
    return None


def _too_small(use: LocatedFact[TierUse], cluster: Cluster | None) -> Violation | None:
    """A gang that does not fit into any one domain of the policy's level."""
    bound = use.value
    if cluster is None or not bound.hard or bound.pods is None or not bound.request:
        return None
    from policykit.targets.volcano.objects.topology import tiers

    numbers = tiers(cluster.levels)
    allowed = [
        level
        for level in cluster.levels
        if level.name == bound.tier_name or (bound.tier is not None and numbers[level.name] <= bound.tier)
    ]
    if not allowed:
        return None
    level = allowed[0]  # the widest
    most = _most(cluster, level.key, dict(bound.request))
    if most is None or most >= bound.pods:
        return None
    return Violation(
        use.at("tier"),
        f"the gang of {bound.pods} pods must stay within one {level.name}, but the largest holds {most}",
        "allow a wider tier, or write mode: soft",
    )


def _most(cluster: Cluster, key: str, request: Mapping[str, int]) -> int | None:
    """Pods that the largest domain with the requested cards holds; None: not known."""
    cards = {name for name in request if "/" in name}
    return pods_in_domain([pool for pool in cluster.pools if cards <= {*pool.resources}], key, request)


RULE = Rule(
    code="PK309",
    name="gang-topology",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(TierUse,),
)
