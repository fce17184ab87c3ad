"""A Volcano configuration lists an action or a plugin that has no effect there, or lacks predicates.

Actions and plugins depend on each other: preempt needs a plugin that selects victims and no gang plugin
that protects them all, tdm needs shuffle to evict, usage needs metrics. Without them nothing happens,
and nothing is reported. Without predicates no node is filtered out for its taints or labels; without tiers
no plugin runs at all.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation, violation_of
from policykit.manifests.document import Manifest
from policykit.manifests.problem import Problem
from policykit.model.severity import Severity
from policykit.targets.volcano.scheduler import validator
from policykit.targets.volcano.scheduler.actions import ACTIONS
from policykit.targets.volcano.scheduler.configuration import (
    Configuration,
    configured_actions,
    is_of_agent,
    read,
)
from policykit.targets.volcano.scheduler.validator import HELD_BACK

BAD = """\
actions: "enqueue, allocate, preempt, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: conformance
- plugins:
  - name: predicates
  - name: proportion
  - name: nodeorder
"""

GOOD = BAD.replace("enqueue, ", "")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Only of a file whose actions are known: any other says what is wrong with it first."""
    data = manifest.data
    if is_placeholder(data.get("actions")) or is_of_agent(manifest):
        return
    made = read(data)
    if made.actions and all(name in ACTIONS for name in made.actions):
        places = {name: path for path, name, _ in reversed(list(configured_actions(data)))}
        if not made.plugins and not data.get("tiers") and manifest.holder is not None:
            yield Violation(
                ("actions",),
                "there are no tiers, and none by default: no plugin runs, so gangs, queues and nodes are not "
                "looked at",
                "add tiers with gang, predicates, nodeorder, and proportion or capacity",
            )
        for problem in _idle(made, context):
            path = problem.path
            if path[0] == "configurations":
                path = (*places[str(path[1])], "name")
            yield violation_of(problem._replace(path=path))
    if not is_placeholder(data.get("metrics")):
        for problem in validator.missing_metrics(made):
            yield violation_of(problem)


def _idle(made: Configuration, context: Context) -> Iterator[Problem]:
    # Only overcommit, and capacity in a tree of queues, refuse jobs whose queue may reclaim what they need.
    capacity = made.plugin("capacity")
    tree = capacity is not None and capacity.on("enableHierarchy")
    held = HELD_BACK if tree or made.has("overcommit", "enableJobEnqueued") else ("preempt",)
    yield from validator.blocked_by_enqueue(made.actions, held)
    yield from validator.unplaced_pods(made.actions)
    yield from validator.missing_parts(made)
    yield from validator.unfiltered_nodes(made)
    if made.plugins:
        yield from validator.idle_evictions(made)
    if context.cluster is None or "volcano" not in context.cluster.targets:
        # A policy says whether queues take back what they have lent.
        yield from validator.unreclaimed_loans(made)


RULE = Rule(
    code="PK506",
    name="no-op-action",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"volcano-scheduler.conf"}),
)
