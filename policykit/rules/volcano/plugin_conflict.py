"""A Volcano configuration combines what does not work together.

Two plugins that share among queues both hold their limits against every job. Two ways of sharing
cards end the scheduler. The gang-wise actions and the pod-wise ones evict against each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
from policykit.targets.volcano.checks import listing
from policykit.targets.volcano.checks.listing import Plugins

BAD = """\
actions: "allocate, reclaim, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enableReclaimable: false
  - name: capacity
- plugins:
  - name: predicates
  - name: proportion
  - name: nodeorder
"""

GOOD = BAD.replace("  - name: proportion\n", "")

_SWITCHES = tuple(f"deviceshare.{name}" for name in ("VGPUEnable", "GPUSharingEnable", "GPUNumberEnable"))
_BY_POD, _BY_GANG = ("preempt", "reclaim"), ("gangpreempt", "gangreclaim")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Each pair once, at the second of the two."""
    plugins = listing.plugins(manifest.data)
    yield from _shares(plugins)
    yield from _devices(plugins)
    yield from _evictions(listing.actions(manifest.data))
    yield from _twice(plugins)


def _shares(plugins: Plugins) -> Iterator[Violation]:
    sharing = [each for each in plugins.listed if each.name in ("capacity", "proportion")]
    other = next((each for each in sharing if each.name != sharing[0].name), None)
    if other:
        yield Violation(
            (*other.path, "name"),
            f"plugins {sharing[0].name} and {other.name} both share among queues: the limits of both hold",
            "keep proportion for weights, or capacity for deserved, guarantee and queue trees",
        )
    for drf in plugins.listed:
        if drf.name != "drf" or not drf.on("enableHierarchy"):
            continue
        if any(each.name == "proportion" and each.tier == drf.tier for each in plugins.listed):
            yield Violation(
                (*drf.path, "enableHierarchy"),
                "plugin drf with enableHierarchy stands in one tier with proportion: the scheduler discards "
                "the whole file",
                "take proportion out, or enableHierarchy away",
                key=True,
            )


def _devices(plugins: Plugins) -> Iterator[Violation]:
    for plugin in plugins.listed:
        if plugin.name != "deviceshare":
            continue
        on = [key for key in plugin.arguments if key in _SWITCHES]
        on = [key for key in on if listing.switched_on(plugin.arguments[key])]
        for key in on[1:]:
            yield Violation(
                (*plugin.path, "arguments", key),
                f"{on[0]} and {key} are both on: the scheduler exits",
                "keep the one that your device plugin serves",
                key=True,
            )


def _evictions(actions: Sequence[str]) -> Iterator[Violation]:
    by_pod = [name for name in _BY_POD if name in actions]
    by_gang = [name for name in _BY_GANG if name in actions]
    if by_pod and by_gang:
        yield Violation(
            ("actions",),
            f"actions {' and '.join(by_gang)} stand beside {' and '.join(by_pod)}: both evict, each by its "
            "own rules",
            "keep preempt and reclaim, or gangpreempt and gangreclaim",
        )


def _twice(plugins: Plugins) -> Iterator[Violation]:
    """Source: `framework/framework.go` and `session_plugins.go` (1.8 to 1.15)."""
    seen: set[str] = set()
    for plugin in plugins.listed:
        if plugin.name in seen:
            yield Violation(
                (*plugin.path, "name"),
                f"plugin {plugin.name} is listed twice: the last arguments hold for both, and what it scores "
                "counts twice",
                "list it once",
                Severity.WARNING,
            )
        seen.add(plugin.name)


RULE = Rule(
    code="PK505",
    name="plugin-conflict",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"volcano-scheduler.conf"}),
)
