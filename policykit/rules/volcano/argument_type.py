"""A Volcano configuration gives a value of a type that is not taken.

Each argument is read as one type. A whole number in quotes is no number: the scheduler logs it and
keeps the default. Some plugins end the whole scheduler instead, and a flag that is not true or
false makes it discard the whole file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from policykit.catalogue.volcano.actions import METRICS
from policykit.catalogue.volcano.flags import FLAGS
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.patch import Patch
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping
from policykit.model.severity import Applicability, Severity
from policykit.targets.volcano import versions
from policykit.targets.volcano.checks import listing, values
from policykit.targets.volcano.checks.arguments import Given, given

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


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """The shape of the file, its flags, and the value of every argument that is read."""
    yield from _shapes(manifest.data)
    have = versions.release_of(context.cluster)
    for each in given(manifest.data):
        argument = each.argument
        if argument is None or (have and have < argument.since) or is_placeholder(each.value):
            continue
        if not values.fits(each):
            yield _type(each)
        else:
            yield from _value(each)


def _type(each: Given) -> Violation:
    assert each.argument is not None
    wanted, meant = values.expected(each.argument), values.meant(each)
    message = f"{values.named(each)} of {each.owner} is {_shown(each.value)}, not {wanted}"
    fixed = meant is not values.NO_VALUE
    return Violation(
        each.path,
        f"{message}: {values.effect(each)}",
        f"write {_shown(meant)}" if fixed else f"write {wanted}",
        fix=partial(_fix, each.path, meant) if fixed else None,
    )


def _value(each: Given) -> Iterator[Violation]:
    """Of the right type, but none that the plugin knows."""
    argument, value, name = each.argument, each.value, values.named(each)
    assert argument is not None
    if argument.choices and isinstance(value, str) and value not in argument.choices:
        known = ", ".join(filter(None, argument.choices))
        yield Violation(
            each.path, f"{name} of {each.owner} is {value!r}, which Volcano does not know", f"known: {known}"
        )
    elif argument.least is not None and isinstance(value, (int, float)) and value < argument.least:
        yield Violation(
            each.path,
            f"{name} of {each.owner} is {value}, below {argument.least}",
            f"write {argument.least} or more",
            Severity.WARNING,
        )


def _shapes(data: Mapping[str, Any]) -> Iterator[Violation]:
    """What does not decode at all. Source: `pkg/scheduler/conf/scheduler_conf.go` (1.8 to 1.15)."""
    for key in _LISTS:
        yield from _shape(data.get(key), list, (key,))
        for number, item in enumerate(data[key] if isinstance(data.get(key), list) else ()):
            yield from _shape(item, dict, (key, number))
    for number, tier in enumerate(data["tiers"] if isinstance(data.get("tiers"), list) else ()):
        if isinstance(tier, Mapping):
            yield from _shape(tier.get("plugins"), list, ("tiers", number, "plugins"))
    for _, path, item in listing.items(data):
        yield from _shape(item, dict, path)
        if isinstance(item, Mapping):
            yield from _plugin(item, path)
    yield from _shape(data.get("metrics"), dict, ("metrics",))
    for key, value in mapping(data.get("metrics")).items():
        if key not in METRICS and isinstance(value, (list, Mapping)):
            flat = [known for known in METRICS if known.startswith(f"{key}.")]
            yield Violation(
                ("metrics", key),
                f"{key} of metrics is {_shown(value)}, not a text: {_DISCARDED}",
                f"write keys with a dot in them, beside type: {', '.join(flat)}" if flat else "take it out",
            )


def _plugin(item: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    yield from _shape(item.get("arguments"), dict, (*path, "arguments"))
    for flag in FLAGS:
        value = item.get(flag)
        if flag in item and value is not None and not isinstance(value, bool) and not is_placeholder(value):
            meant = {"true": True, "false": False}.get(value.lower()) if isinstance(value, str) else None
            yield Violation(
                (*path, flag),
                f"{flag} is {_shown(value)}, not true or false: {_DISCARDED}",
                f"write {_shown(meant)}" if meant is not None else "write true or false",
                fix=None if meant is None else partial(_fix, (*path, flag), meant),
            )


def _shape(value: object, wanted: type, path: Path) -> Iterator[Violation]:
    if value is None or isinstance(value, wanted) or is_placeholder(value):
        return
    word = "a list" if wanted is list else "a map"
    what = path[-1] if isinstance(path[-1], str) else f"an item of {path[-2]}"
    advice = "write it as an item of the list: - name: gang" if path[-2:-1] == ("plugins",) else ""
    yield Violation(path, f"{what} is {_shown(value)}, not {word}: {_DISCARDED}", advice or f"write {word}")


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, Mapping)):
        return "a list" if isinstance(value, list) else "a map"
    if value is None:
        return "empty"
    return f'the text "{value}"' if isinstance(value, str) else str(value)


def _fix(path: Path, meant: Any) -> Fix:
    return Fix(f"write {_shown(meant)}", (Patch("replace", path, meant),), Applicability.SAFE)


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
