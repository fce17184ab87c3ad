"""Whether preempt and reclaim find anybody to evict, and by whose rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.catalogue.volcano.plugins import PREEMPTABLE, RECLAIMABLE
from policykit.linter.rule import Violation
from policykit.model.severity import Severity
from policykit.targets.volcano.checks.listing import Listed, Plugins

_STARVING = ("gang", "priority", "tdm")
_FLAGS = {"preempt": "enablePreemptable", "reclaim": "enableReclaimable"}
_VERBS = {"preempt": "extender.preemptableVerb", "reclaim": "extender.reclaimableVerb"}
_SHARING = ("capacity", "proportion")


def idle(actions: Sequence[str], plugins: Plugins, *, planned: bool = False) -> Iterator[Violation]:
    """Each of the two actions that can do nothing, or not what it is for; `planned`: a policy says whether
    queues take back what they have lent. Source: volcano `framework/session_plugins.go` and the plugins
    (1.8 to 1.15)."""
    for action in _FLAGS:
        if action in actions:
            yield from _one(action, plugins)
    shared = any(plugins.has(name, "enableReclaimable") for name in _SHARING)
    if "reclaim" in actions and not shared and not _asks_outside(plugins, "reclaim"):
        yield Violation(
            ("actions",),
            "action reclaim stands without plugin capacity or proportion: nobody says what a queue has "
            "above its share",
            "list capacity or proportion, with enableReclaimable on",
        )
    capacity = plugins.get("capacity")
    if capacity and not planned and "reclaim" not in actions and "gangreclaim" not in actions:
        yield Violation(
            (*capacity.path, "name"),
            "plugin capacity stands without action reclaim: what a queue has lent comes back only when the "
            "borrowing pods end",
            "add reclaim to the actions if it should come back sooner",
            Severity.INFO,
        )


def _one(action: str, plugins: Plugins) -> Iterator[Violation]:
    if not any(plugins.has(name, "enableJobStarving") for name in _STARVING):
        yield Violation(
            ("actions",),
            f"action {action} acts for starving jobs, and no plugin tells which they are: it does nothing",
            "list gang or priority, with enableJobStarving on",
        )
        return
    choosing = _choosing(action, plugins)
    gang = next((each for each in choosing if each.name == "gang"), None)
    below = [each for each in choosing if gang and each.tier > gang.tier]
    flag = _FLAGS[action]
    if gang and not below:
        yield Violation(
            (*gang.path, "name"),
            f"action {action} takes no pod of a job that needs all its pods: plugin gang forbids it",
            f"write {flag}: false beside gang, unless only jobs that can shrink should give way",
        )
    elif gang and action == "preempt":
        next_tier = [each for each in below if each.tier == below[0].tier]
        names = ", ".join(dict.fromkeys(each.name for each in next_tier))
        gated = any(each.name == "priority" for each in next_tier)
        yield Violation(
            (*below[0].path, "name"),
            f"where plugin gang forbids every victim of {action}, {names} in the next tier alone decides: "
            f"gangs are broken{'' if gated else ', whatever the priorities'}",
            f"write {flag}: false beside {names}, or beside gang",
        )
    elif action == "preempt" and not gang:
        yield from _ungated(choosing)


def _ungated(choosing: Sequence[Listed]) -> Iterator[Violation]:
    """Victims of equal and higher priority: the first tier that names any decides."""
    if choosing and not any(each.name == "priority" and each.tier == choosing[0].tier for each in choosing):
        yield Violation(
            (*choosing[0].path, "name"),
            f"plugin {choosing[0].name} chooses the victims of preempt in a tier without priority: jobs of "
            "the same or a higher priority are evicted",
            "list priority in the same tier, with enablePreemptable on",
        )


def _choosing(action: str, plugins: Plugins) -> list[Listed]:
    """Plugins that choose victims, in the order they are asked."""
    names = PREEMPTABLE if action == "preempt" else RECLAIMABLE
    return [
        each
        for each in plugins.listed
        if each.on(_FLAGS[action])
        and (
            each.name in names
            or (each.name == "extender" and each.arguments.get(_VERBS[action]))
            or (each.name == "drf" and action == "reclaim" and each.on("enableHierarchy"))
        )
    ]


def _asks_outside(plugins: Plugins, action: str) -> bool:
    """Plugin extender lets a server of its own choose the victims."""
    return any(each.name == "extender" for each in _choosing(action, plugins))
