"""A Volcano configuration sets something that its scheduler does not read.

The file is decoded leniently: a misspelled argument, one that a release has dropped, and one that stands
beside `arguments:` instead of under it are ignored silently, and the default applies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from policykit.catalogue.volcano import argument_values
from policykit.catalogue.volcano.actions import ACTIONS, ASCEND_CONFIGURATIONS
from policykit.catalogue.volcano.argument import Argument
from policykit.catalogue.volcano.argument_values import ArgumentValue
from policykit.catalogue.volcano.configuration import configured_actions, is_of_fork, read
from policykit.catalogue.volcano.plugins import FLAGS, PLUGINS
from policykit.catalogue.volcano.scores import RESOURCE_LISTS, listed_resources
from policykit.catalogue.volcano.wording import EXTRA, UPGRADE, Release, not_yet, release_text
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.patch import Patch
from policykit.manifests.path import Path
from policykit.model.severity import Applicability, Severity
from policykit.nearest import nearest
from policykit.rules.volcano.misplaced_keys import misplaced_keys
from policykit.targets.volcano import versions

BAD = """\
actions: "allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
- plugins:
  - name: predicates
  - name: nodeorder
    arguments:
      leastrequest.weight: 0
"""

GOOD = BAD.replace("leastrequest.", "leastrequested.")

_INSTEAD = {
    "sla.JobWaitingTime": "sla-waiting-time",
    "numa-aware.weight": "weight",
    "thresholds.memory": "mem",
}
"""Spellings of old documents."""
_MOVED = {
    "predicate.GPUSharingEnable": "write deviceshare.GPUSharingEnable under plugin deviceshare",
    "predicate.GPUNumberEnable": "write deviceshare.GPUNumberEnable under plugin deviceshare",
    "predicate.NodeLockEnable": "write deviceshare.NodeLockEnable under plugin deviceshare",
    "predicate.VGPUEnable": "write deviceshare.VGPUEnable under plugin deviceshare",
    "predicate.ProportionalEnable": "write proportional.enable under plugin resource-strategy-fit",
    "predicate.DynamicResourceAllocationEnable": "the scheduler's feature gate DynamicResourceAllocation "
    "decides since 1.15",
    "overcommit-factor": "it is an argument of plugin overcommit",
}


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Keys of the file, its tiers, its plugins and their arguments, of metrics and configurations."""
    data, have = manifest.data, versions.release_of(context.cluster)
    yield from misplaced_keys(data, have, whole=manifest.holder is not None)
    for value in argument_values.of_file(data):
        if is_placeholder(value.key) or (value.key in FLAGS and not value.argument):
            continue
        if value.argument is not None:
            yield from _untimely(value, value.argument, have)
        elif value.name or not isinstance(value.value, (list, dict)):
            yield _unknown(value)
    yield from _unlisted(data)
    others = {*ASCEND_CONFIGURATIONS, *context.plugins}
    own = is_of_fork(manifest) or any(p.name not in PLUGINS for p in read(data).plugins)
    for path, name, _ in configured_actions(data):
        if name and name not in ACTIONS and name not in others and not is_placeholder(name):
            near = nearest(name.lower(), tuple(ACTIONS))
            yield Violation(
                (*path, "name"),
                f"configurations of {name!r} are ignored: Volcano has no such action",
                f"did you mean {near}?" if near else EXTRA if own else "name an action",
                Severity.WARNING if own and not near else None,
            )


def _unknown(value: ArgumentValue) -> Violation:
    message = f"{value.unknown}: it is ignored"
    if value.key in _MOVED:
        return Violation(value.path, message, _MOVED[value.key], key=True)
    wanted = _INSTEAD.get(value.field, "") or nearest(value.key, value.known, 0.75)
    if not wanted and value.name:
        wanted = next((known for known in value.known if known.rpartition(".")[2] == value.key), "")
    if wanted:
        fix = partial(_rename, value.path, wanted)
        return Violation(value.path, message, f"did you mean {wanted}?", key=True, fix=fix)
    advice = f"known names: {', '.join(sorted(value.known))}" if value.known else "it takes none"
    return Violation(value.path, message, advice, key=True)


def _untimely(value: ArgumentValue, argument: Argument, have: Release | None) -> Iterator[Violation]:
    if message := not_yet(f"argument {value.label}", argument.since, have):
        yield Violation(value.path, message, UPGRADE, key=True)
    elif argument.gone and (have or versions.newest()) >= argument.gone:
        # Without a policy an older release may be there, which does read it.
        yield Violation(
            value.path,
            f"{value.owner} does not read {value.field} since Volcano {release_text(argument.gone)}",
            _MOVED.get(value.key, "remove it"),
            None if have else Severity.WARNING,
            key=True,
        )


def _rename(path: Path, wanted: str) -> Fix:
    return Fix(f"write {wanted}", (Patch("rename", path, wanted),), Applicability.UNSAFE)


def _unlisted(data: Mapping[str, Any]) -> Iterator[Violation]:
    """Weights of resources that the plugin's list leaves out. Source: `plugins/binpack` (1.8 to 1.15)."""
    for plugin in read(data).plugins:
        key = RESOURCE_LISTS.get(plugin.name)
        if key is None or is_placeholder(plugin.arguments.get(key)):
            continue
        listed, path = listed_resources(plugin), (*plugin.path, "arguments")
        for written in plugin.arguments:
            resource = written.removeprefix(f"{key}.") if isinstance(written, str) else ""
            if resource and resource != written and resource not in listed:
                yield Violation(
                    (*path, written),
                    f"plugin {plugin.name} ignores {written}: {key} does not list {resource}",
                    f"add {resource} to {key}",
                    key=True,
                    fix=partial(_list, (*path, key), ", ".join((*filter(None, listed), resource))),
                )


def _list(path: Path, resources: str) -> Fix:
    return Fix(f"write {resources} as {path[-1]}", (Patch("add", path, resources),), Applicability.UNSAFE)


RULE = Rule(
    code="PK503",
    name="unknown-argument",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"volcano-scheduler.conf"}),
    fix=Applicability.UNSAFE,
)
