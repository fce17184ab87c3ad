"""A Volcano configuration names a plugin that its scheduler does not have.

The scheduler logs it in every cycle and goes on without it: what the plugin should do never
happens. Names have hyphens, no underscores. A plugin of your own, loaded with --plugins-dir, is
listed in the policy under lint.extraPlugins.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from policykit.catalogue.volcano.argument import Release, release_text
from policykit.catalogue.volcano.plugins import PLUGINS
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.patch import Patch
from policykit.manifests.path import Path
from policykit.model.severity import Applicability, Severity
from policykit.nearest import nearest
from policykit.targets.volcano import versions
from policykit.targets.volcano.checks import listing

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


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Every plugin of every tier. A name like no known one may be a plugin of somebody's own."""
    have = versions.release_of(context.cluster)
    for plugin in listing.plugins(manifest.data).listed:
        name, path = plugin.name, (*plugin.path, "name")
        if name in context.plugins or is_placeholder(name):
            continue
        since = PLUGINS[name].since if name in PLUGINS else ()
        if name not in PLUGINS:
            yield _unknown(name, path, listing.plugins(manifest.data), context.cluster is not None)
        elif have and since and have < since:
            yield Violation(path, _late(name, since, have), "take it out, or install a newer release")
    for _, path, item in listing.items(manifest.data):
        if isinstance(item, dict) and "name" not in item and (item.keys() - {"arguments"}):
            yield Violation(path, "a plugin without a name has no effect", _NAMELESS)


_NAMELESS = "write it as an item of the list: - name: gang"


def _late(name: str, since: Release, have: Release) -> str:
    return (
        f"Volcano {release_text(have)} has no plugin {name} (since {release_text(since)}): it has no effect"
    )


def _unknown(name: str, path: Path, plugins: listing.Plugins, by_policy: bool) -> Violation:
    meant = _meant(name)
    own = "if your scheduler loads it with --plugins-dir, list it in the policy under lint.extraPlugins"
    if name in _REMOVED:
        return Violation(
            path, f"Volcano has no plugin {name!r} since 1.6: it has no effect", "take it out of the tier"
        )
    message = f"Volcano has no plugin {name!r}: it has no effect"
    if not meant:
        return Violation(path, message, own, None if by_policy else Severity.WARNING)
    fix = None if plugins.has(meant) else partial(_fix, path, meant)
    return Violation(path, message, f"did you mean {meant}?", fix=fix)


def _meant(name: str) -> str:
    """The plugin that is spelt almost so."""
    plain = {known.replace("-", ""): known for known in PLUGINS}
    same = plain.get(name.replace("_", "").replace("-", "").replace(" ", "").lower())
    return same or nearest(name.lower(), tuple(PLUGINS), 0.75)


def _fix(path: Path, meant: str) -> Fix:
    return Fix(f"write {meant}", (Patch("replace", path, meant),), Applicability.UNSAFE)


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
