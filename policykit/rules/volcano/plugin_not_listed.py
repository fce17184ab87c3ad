"""An object has a setting for a plugin that Volcano's configuration next to it does not list.

Node groups of a queue, what it deserves, its parent, the topology of tasks, NUMA policies, revocable zones
and waiting times are each read by one plugin, and by nothing else: without it they have no effect, and
nothing reports that. Plugin proportion computes what a queue deserves from its weight. That a queue is
reclaimable says that action reclaim may evict its pods for another queue: without the action nothing takes
back what it borrowed.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import Scope
from policykit.model.severity import Severity
from policykit.model.topology import PluginUse, TopologyPlugin
from policykit.targets.volcano import TARGET

BAD = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: research
spec:
  weight: 1
  affinity:
    nodeGroupAffinity:
      requiredDuringSchedulingIgnoredDuringExecution: [a100]
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: volcano-scheduler-configmap
  namespace: volcano-system
data:
  volcano-scheduler.conf: |
    actions: "enqueue, allocate, backfill"
    tiers:
    - plugins:
      - name: priority
      - name: gang
    - plugins:
      - name: predicates
      - name: proportion
      - name: nodeorder
"""

_RECLAIMING = frozenset({"gangreclaim", "reclaim"})
_UNSTATED = {""}

GOOD = BAD.replace("      - name: nodeorder\n", "      - name: nodeorder\n      - name: nodegroup\n")


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Where no configuration of the scope lists the plugin. A policy for Volcano decides itself which actions
    there are, and states of each queue whether it is reclaimable."""
    decided = context.cluster is not None and TARGET.name in context.cluster.targets
    configurations = scope.of(TopologyPlugin)
    listed = {name for each in configurations for name in each.value.plugins}
    actions = {name for each in configurations for name in each.value.actions}
    for found in scope.of(PluginUse) if configurations else ():
        plugin, use, is_action = found.value
        if is_action:
            if actions.isdisjoint(_RECLAIMING) and actions != _UNSTATED and not decided:
                yield Violation(
                    found.at("use"),
                    f"nothing evicts pods for other queues: {configurations[0].path} has no action {plugin}",
                    f"add action {plugin} to the scheduler's configuration",
                    Severity.INFO,
                    key=True,
                )
        elif plugin not in listed:
            yield Violation(
                found.at("use"),
                f"nothing reads {use}: {configurations[0].path} has no plugin {plugin}",
                f"add plugin {plugin} to the scheduler's configuration, or delete it",
                key=True,
            )


RULE = Rule(
    code="PK518",
    name="plugin-not-listed",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(PluginUse,),
)
