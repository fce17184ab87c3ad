"""A Volcano configuration says something that its scheduler does not read.

The file is read without strictness: a misspelt argument, one that a release has given up, and one
that stands beside `arguments:` instead of below it are dropped without a word, and the default holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from policykit.catalogue.volcano.actions import ACTIONS
from policykit.catalogue.volcano.argument import Release, release_text
from policykit.catalogue.volcano.flags import FLAGS
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.patch import Patch
from policykit.manifests.path import Path
from policykit.model.severity import Applicability, Severity
from policykit.nearest import nearest
from policykit.targets.volcano import versions
from policykit.targets.volcano.checks import layout
from policykit.targets.volcano.checks.arguments import Given, configured, given
from policykit.targets.volcano.checks.packed import unlisted
from policykit.targets.volcano.checks.values import named

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
    yield from layout.strange(data, have, whole=manifest.holder is not None)
    for each in given(data):
        if is_placeholder(each.key) or (each.key in FLAGS and not each.argument):
            continue
        if each.argument is None:
            if each.owner != "metrics" or not isinstance(each.value, (list, dict)):
                yield _unknown(each)
        else:
            yield from _untimely(each, have)
    yield from unlisted(data)
    for path, name, _ in configured(data):
        if name and name not in ACTIONS and not is_placeholder(name):
            near = nearest(name.lower(), tuple(ACTIONS))
            yield Violation(
                (*path, "name"),
                f"configurations of {name!r} are read by nobody: Volcano has no such action",
                f"did you mean {near}?" if near else "name an action",
            )


def _unknown(each: Given) -> Violation:
    what = "argument" if not each.inside else "key"
    if each.owner == "metrics":
        message = f"metrics has no key {each.key}: it is not read"
    else:
        message = f"{each.owner} has no {what} {named(each)}: it is not read"
    wanted = _INSTEAD.get(named(each), "") or nearest(each.key, each.known, 0.75)
    if not wanted and each.name:
        wanted = next((known for known in each.known if known.rpartition(".")[2] == each.key), "")
    if each.key in _MOVED:
        return Violation(each.path, message, _MOVED[each.key], key=True)
    if wanted:
        fix = partial(_rename, each.path, wanted)
        return Violation(each.path, message, f"did you mean {wanted}?", key=True, fix=fix)
    advice = f"known are {', '.join(sorted(each.known))}" if each.known else "it takes none"
    return Violation(each.path, message, advice, key=True)


def _untimely(each: Given, have: Release | None) -> Iterator[Violation]:
    argument = each.argument
    assert argument is not None
    if have and argument.since and have < argument.since:
        yield Violation(
            each.path,
            f"{each.owner} reads {named(each)} since {release_text(argument.since)}, "
            f"and the policy has {release_text(have)}",
            "take it out, or install a newer release",
            key=True,
        )
    elif argument.gone and (have or versions.newest()) >= argument.gone:
        # Without a policy an older release may be there, which does read it.
        yield Violation(
            each.path,
            f"{each.owner} does not read {named(each)} since {release_text(argument.gone)}",
            _MOVED.get(each.key, "take it out"),
            None if have else Severity.WARNING,
            key=True,
        )


def _rename(path: Path, wanted: str) -> Fix:
    return Fix(f"write {wanted}", (Patch("rename", path, wanted),), Applicability.UNSAFE)


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
