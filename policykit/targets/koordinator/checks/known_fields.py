"""Fields of the plugins' args that a release does not have: koord-scheduler stops at one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.catalogue.koordinator import fields
from policykit.linter.rule import Violation
from policykit.manifests.path import Path
from policykit.nearest import nearest
from policykit.targets.koordinator.checks import releases
from policykit.targets.release import Version


def faults(
    plugin: str, args: Mapping[str, Any], path: Path, possible: tuple[Version, ...]
) -> Iterator[Violation]:
    """What none of the releases has that may read the file."""
    lacking = [set(fields.unknown(plugin, args, each)) for each in possible]
    for name in fields.unknown(plugin, args, possible[-1]):
        if not all(name in each for each in lacking):
            continue
        since = fields.since(plugin, name)
        when = f" (since {fields.named(since)})" if since else ""
        yield Violation(
            (*path, *name.split(".")),
            f"{releases.named(possible)} has no {name} in the args of {plugin}{when}: "
            "koord-scheduler stops at start",
            _advice(plugin, name, bool(since)),
            key=True,
        )


def _advice(plugin: str, name: str, newer: bool) -> str:
    outer, _, inner = name.rpartition(".")
    if newer:
        return "delete it, or write the configuration in the apiVersion of a release that has it"
    known = fields.INNER.get((plugin, outer), frozenset()) if outer else fields.FIELDS[plugin].keys()
    near = nearest(inner, tuple(sorted(known)))
    return f"did you mean {near}?" if near else "delete it"
