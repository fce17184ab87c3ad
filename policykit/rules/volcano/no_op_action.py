"""A Volcano configuration lists an action or a plugin that cannot do its work there.

Actions and plugins depend on each other: preempt needs somebody to name victims and no gang to
forbid them all, tdm needs shuffle to evict, usage needs metrics. Without them nothing is reported,
and nothing happens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policykit.catalogue.volcano.actions import ACTIONS
from policykit.catalogue.volcano.plugins import MEASURED, SHUFFLED
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.shape import mapping
from policykit.model.severity import Severity
from policykit.targets.volcano.checks import evicting, listing
from policykit.targets.volcano.checks.arguments import configured
from policykit.targets.volcano.checks.listing import Plugins

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
    actions, plugins = listing.actions(data), listing.plugins(data)
    if is_placeholder(data.get("actions")) or listing.for_agents(manifest):
        return
    if actions and all(name in ACTIONS for name in actions):
        yield from _held_back(actions, plugins)
        yield from _actions(actions)
        if plugins.listed:
            planned = context.cluster is not None and "volcano" in context.cluster.targets
            yield from evicting.idle(actions, plugins, planned=planned)
        yield from _unshuffled(actions, plugins)
        yield from _configured(data, actions)
    yield from _unmeasured(data, plugins)


def _held_back(actions: Sequence[str], plugins: Plugins) -> Iterator[Violation]:
    """Plugin overcommit lets no job in beyond what is free; a queue at its limit lets none in either."""
    held = ["preempt"] if "preempt" in actions else []
    held += ["reclaim"] if "reclaim" in actions and plugins.has("overcommit", "enableJobEnqueued") else []
    if "enqueue" in actions and held:
        makes = "never make" if len(held) > 1 else "never makes"
        yield Violation(
            ("actions",),
            f"action enqueue holds back jobs for which there is no room, so {' and '.join(held)} {makes} "
            "room for them",
            "take enqueue out: allocate lets jobs in by itself then",
        )


def _actions(actions: Sequence[str]) -> Iterator[Violation]:
    if "allocate" not in actions:
        yield Violation(
            ("actions",), "the actions are without allocate: no pod that requests anything is placed",
            "add allocate",
        )  # fmt: skip
    elif "backfill" not in actions:
        yield Violation(
            ("actions",),
            "the actions are without backfill: pods that request nothing stay pending for ever",
            "add backfill, if there may be such pods",
            Severity.INFO,
        )


def _unshuffled(actions: Sequence[str], plugins: Plugins) -> Iterator[Violation]:
    for plugin in plugins.listed:
        if plugin.name in SHUFFLED and "shuffle" not in actions:
            yield Violation(
                (*plugin.path, "name"),
                f"plugin {plugin.name} names pods to evict, and no action evicts them: shuffle is not listed",
                "add shuffle to the actions",
            )


def _configured(data: Mapping[str, Any], actions: Sequence[str]) -> Iterator[Violation]:
    for path, name, _ in configured(data):
        if name in ACTIONS and name not in actions:
            yield Violation(
                (*path, "name"),
                f"configurations of action {name} have no effect: the actions do not list it",
                f"add {name} to the actions, or take this out",
            )


def _unmeasured(data: Mapping[str, Any], plugins: Plugins) -> Iterator[Violation]:
    if mapping(data.get("metrics")) or is_placeholder(data.get("metrics")):
        return
    for plugin in plugins.listed:
        if plugin.name in MEASURED:
            yield Violation(
                (*plugin.path, "name"),
                f"plugin {plugin.name} judges the load of nodes, and the file has no metrics to tell it",
                "write metrics, with type and address",
            )


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
