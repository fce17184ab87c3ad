"""A Volcano configuration sets an argument to a value of the wrong type.

Each argument has one type. A whole number in quotes is not a number: the scheduler logs it and uses the
default. Some plugins make the whole scheduler exit instead, and a flag other than true or false makes it
discard the whole file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.patch import Patch
from policykit.manifests.path import Path
from policykit.manifests.shape import is_boolean, mapping
from policykit.model.severity import Applicability, Severity
from policykit.targets.volcano import versions
from policykit.targets.volcano.scheduler import arguments
from policykit.targets.volcano.scheduler.actions import METRICS, TYPES, Argument, is_of_type
from policykit.targets.volcano.scheduler.arguments import ArgumentValue, shown
from policykit.targets.volcano.scheduler.configuration import plugin_items
from policykit.targets.volcano.scheduler.plugins import FLAGS
from policykit.targets.volcano.versions import Release, release_text

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
      leastrequested.weight: "0"
"""

GOOD = BAD.replace('"0"', "0")

_LISTS = ("tiers", "configurations")
_DISCARDED = "the scheduler discards the whole file"
_STRINGS = {
    **dict.fromkeys(("true", "yes", "on", "y"), True),
    **dict.fromkeys(("false", "no", "off", "n"), False),
}
"""Words that certainly mean a switch."""
_WHOLE = re.compile(r"-?[0-9]{1,18}\Z")
_NUMBER = re.compile(r"-?[0-9]{1,18}(?:\.[0-9]{1,18})?\Z")
_EXITING = ("volumebinding.", "dynamicresources.", "extender.managedResources")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """The shape of the file, its flags, and the value of every argument that is read."""
    yield from _shapes(manifest.data)
    have = versions.release_of(context.cluster)
    for each in arguments.of_file(manifest.data):
        argument = each.argument
        if argument is None or (have and have < argument.since) or is_placeholder(each.value):
            continue
        if not _is_taken(each, argument):
            yield _type(each, argument, argument.since if have is None else ())
        elif message := each.out_of_range:
            wrong_choice = isinstance(each.value, str)
            advice = "write one of these" if wrong_choice else f"write {argument.least} or more"
            yield Violation(each.path, message, advice, None if wrong_choice else Severity.WARNING)


def _type(each: ArgumentValue, argument: Argument, since: Release) -> Violation:
    """`since`: the first release that reads it, if older supported ones may be meant."""
    meant = _meant(each, argument)
    which = f" (Volcano {release_text(since)} on)" if since else ""
    return Violation(
        each.path,
        f"{each.wrong_type}: {_effect(each, argument)}{which}",
        f"write {TYPES[argument.kind] if meant is None else shown(meant)}",
        Severity.WARNING if since else None,
        fix=None if meant is None else partial(_fix, each.path, meant),
    )


def _is_taken(each: ArgumentValue, argument: Argument) -> bool:
    """Whether Volcano takes the value. Source: `framework/arguments.go` and the plugins (1.8 to 1.15)."""
    value = each.value
    if value is None:
        return not _panics(each)
    if not each.name:
        return not isinstance(value, (list, Mapping))
    if argument.kind == "whole" and _decoded(each) and isinstance(value, float):
        return True  # the fraction is cut off
    if argument.kind == "switch" and isinstance(value, str):
        return is_boolean(value)
    return is_of_type(value, argument.kind)


def _decoded(each: ArgumentValue) -> bool:
    """Whether it is decoded into a structure, where a value of another type ends the scheduler."""
    if each.name == "resource-strategy-fit":
        return True
    return each.name in ("predicates", "extender") and each.top.startswith(_EXITING)


def _panics(each: ArgumentValue) -> bool:
    """Whether its type is taken for granted: another one ends the scheduler."""
    if each.nested or isinstance(each.value, str):
        return False
    return each.name == "tdm" or (each.name == "rescheduling" and each.key in ("interval", "metricsPeriod"))


def _effect(each: ArgumentValue, argument: Argument) -> str:
    """What Volcano does with a value of another type."""
    if _decoded(each):
        return "the scheduler exits"
    if _panics(each) or (each.name == "rescheduling" and argument.kind == "whole"):
        return "the scheduler panics"
    if each.name == "usage" and each.top == "thresholds" and each.nested:
        return "it counts as 0, so no node in use is chosen"
    if each.name == "tdm" and argument.kind == "hours":
        return "its nodes take no pods"
    if not each.name:
        return _DISCARDED
    default = argument.default
    if default in (None, ""):
        return "it is ignored"
    return f"it is ignored and the default {default if isinstance(default, str) else shown(default)} applies"


def _meant(each: ArgumentValue, argument: Argument) -> Any:
    """The value of the right type that was certainly meant; None: there is none."""
    value, kind = each.value, argument.kind
    if not each.name:
        return None
    if kind in ("whole", "number") and isinstance(value, str):
        return _number(value.strip(), kind)
    if kind == "whole" and isinstance(value, float) and value.is_integer():
        return int(value)
    if kind == "switch" and isinstance(value, str):
        return _STRINGS.get(value.strip().lower())
    if kind == "names" and isinstance(value, list) and value and all(isinstance(v, str) for v in value):
        return ", ".join(value)
    return None


def _number(written: str, kind: str) -> float | None:
    if _WHOLE.match(written):
        return int(written)
    return float(written) if kind == "number" and _NUMBER.match(written) else None


def _shapes(data: Mapping[str, Any]) -> Iterator[Violation]:
    """What does not decode at all. Source: `pkg/scheduler/conf/scheduler_conf.go` (1.8 to 1.15)."""
    for key in _LISTS:
        yield from _shape(data.get(key), list, (key,))
        for number, item in enumerate(data[key] if isinstance(data.get(key), list) else ()):
            yield from _shape(item, dict, (key, number))
    for number, tier in enumerate(data["tiers"] if isinstance(data.get("tiers"), list) else ()):
        if isinstance(tier, dict):
            yield from _shape(tier.get("plugins"), list, ("tiers", number, "plugins"))
    for path, item in plugin_items(data):
        yield from _shape(item, dict, path)
        if isinstance(item, dict):
            yield from _plugin(item, path)
    yield from _shape(data.get("metrics"), dict, ("metrics",))
    for key, value in mapping(data.get("metrics")).items():
        if key not in METRICS and isinstance(value, (list, Mapping)):
            flat = [known for known in METRICS if known.startswith(f"{key}.")]
            yield Violation(
                ("metrics", key),
                f"{key} of metrics is {shown(value)}, not a string: {_DISCARDED}",
                f"write keys with a dot in them, next to type: {', '.join(flat)}" if flat else "remove it",
            )


def _plugin(item: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    yield from _shape(item.get("arguments"), dict, (*path, "arguments"))
    for flag in FLAGS:
        value = item.get(flag)
        if value is not None and not isinstance(value, bool) and not is_placeholder(value):
            meant = {"true": True, "false": False}.get(value.lower()) if isinstance(value, str) else None
            yield Violation(
                (*path, flag),
                f"{flag} is {shown(value)}, not true or false: {_DISCARDED}",
                f"write {shown(meant)}" if meant is not None else "write true or false",
                fix=None if meant is None else partial(_fix, (*path, flag), meant),
            )


def _shape(value: object, wanted: type, path: Path) -> Iterator[Violation]:
    if value is None or isinstance(value, wanted) or is_placeholder(value):
        return
    word = "a list" if wanted is list else "a map"
    what = path[-1] if isinstance(path[-1], str) else f"an item of {path[-2]}"
    advice = (
        "write it as an item of the list: - name: gang" if path[-2:-1] == ("plugins",) else f"write {word}"
    )
    yield Violation(path, f"{what} is {shown(value)}, not {word}: {_DISCARDED}", advice)


def _fix(path: Path, meant: Any) -> Fix:
    return Fix(f"write {shown(meant)}", (Patch("replace", path, meant),), Applicability.SAFE)


RULE = Rule(
    code="PK504",
    name="argument-type",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"volcano-scheduler.conf"}),
    fix=Applicability.SAFE,
)
