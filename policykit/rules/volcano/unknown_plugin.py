"""A Volcano configuration names a plugin that its scheduler does not have.

The scheduler logs it in every cycle and continues without the plugin. Names contain hyphens, not
underscores. List your own plugins, loaded with --plugins-dir, in the policy under lint.extraPlugins.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.patch import Patch
from policykit.manifests.path import Path
from policykit.model.severity import Applicability, Severity
from policykit.nearest import nearest
from policykit.targets.volcano import versions
from policykit.targets.volcano.scheduler.configuration import Configuration, is_of_fork, plugin_items, read
from policykit.targets.volcano.scheduler.forks import names_its_own
from policykit.targets.volcano.scheduler.plugins import PLUGINS
from policykit.targets.volcano.versions import UPGRADE, not_yet

BAD = """\
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
- plugins:
  - name: predicates
  - name: nodeorder
  - name: numa_aware
"""

GOOD = BAD.replace("numa_aware", "numa-aware")

_REMOVED = frozenset({"reservation"})
_OF_ASCEND = "volcano-npu"
"""Beginning of the name of the plugin of MindCluster, the file that its scheduler loads: its version and
architecture follow. Source: `build/build.sh` of ascend-for-volcano."""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Every plugin of every tier. An unfamiliar name may be a custom plugin."""
    have, made = versions.release_of(context.cluster), read(manifest.data)
    for plugin in made.plugins:
        name, path = plugin.name, (*plugin.path, "name")
        if name in context.plugins or is_placeholder(name) or name.startswith(_OF_ASCEND):
            continue
        if name not in PLUGINS:
            fork = names_its_own(manifest)
            own = context.cluster is None or is_of_fork(manifest) or fork
            yield _unknown(name, path, made, may_be_own=own, of_fork=fork)
        elif message := not_yet(f"plugin {name}", PLUGINS[name].since, have):
            yield Violation(path, f"{message}: it has no effect", UPGRADE)
    for path, item in plugin_items(manifest.data):
        if isinstance(item, dict) and "name" not in item and (item.keys() - {"arguments"}):
            advice = "write it as an item of the list: - name: gang"
            yield Violation(path, "a plugin without a name has no effect", advice)


def _unknown(name: str, path: Path, made: Configuration, *, may_be_own: bool, of_fork: bool) -> Violation:
    if name in _REMOVED:
        message = f"Volcano has had no plugin {name!r} since 1.6: it has no effect"
        return Violation(path, message, "remove it from the tier")
    message, near = f"Volcano has no plugin {name!r}: it has no effect", _nearest(name)
    if of_fork or not near:
        own = "if your scheduler loads it with --plugins-dir, list it in the policy under lint.extraPlugins"
        return Violation(path, message, own, Severity.WARNING if may_be_own else None)
    fix = None if made.has(near) else partial(_fix, path, near)
    return Violation(path, message, f"did you mean {near}?", fix=fix)


def _nearest(name: str) -> str:
    """The plugin with the closest spelling."""
    plain = {known.replace("-", ""): known for known in PLUGINS}
    same = plain.get(name.replace("_", "").replace("-", "").replace(" ", "").lower())
    return same or nearest(name.lower(), tuple(PLUGINS), 0.75)


def _fix(path: Path, name: str) -> Fix:
    return Fix(f"write {name}", (Patch("replace", path, name),), Applicability.UNSAFE)


RULE = Rule(
    code="PK502",
    name="unknown-plugin",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"volcano-scheduler.conf"}),
    fix=Applicability.UNSAFE,
    options=("lint: {extraPlugins: [NAME]} lists plugins that your scheduler loads",),
)
