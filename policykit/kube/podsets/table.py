"""The kinds table: facts by apiVersion and kind."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from policykit import bundled
from policykit.kube.podsets.kind_entry import (
    Condition,
    FieldRef,
    GangFacts,
    KindEntry,
    Lookup,
    Number,
    Pattern,
    Reference,
    Replicas,
    Template,
    pattern,
)

_Raw = Mapping[str, Any]

_FORMS = ("field", "label", "annotation", "pod_label", "pod_annotation", "namespace_annotation")


def entry(api_version: object, kind: object) -> KindEntry | None:
    """The entry of exactly this apiVersion and kind, old versions included; None: not known."""
    number = _table()["served"].get(f"{api_version}/{kind}")
    return None if number is None else _entry(number)


def known(api_version: object, kind: object) -> bool:
    """Whether the table has this apiVersion and kind."""
    return f"{api_version}/{kind}" in _table()["served"]


def entries() -> tuple[KindEntry, ...]:
    """Every entry, in the order of the table."""
    return tuple(_entry(number) for number in range(len(_table()["entries"])))


def _table() -> Any:
    return bundled.table("profiles", "compiled", "kinds.json")


@cache
def _entry(number: int) -> KindEntry:
    raw = _table()["entries"][number]
    return KindEntry(
        group=raw["group"],
        kind=raw["kind"],
        templates=tuple(_template(name, template) for name, template in raw["templates"].items()),
        purpose=raw["purpose"],
        synchronous=raw.get("synchronous", False),
        strategic=raw.get("strategic", False),
        cluster_scoped=raw.get("cluster_scoped", False),
        scheduler=_optional_target(raw.get("scheduler_name")),
        gang=_gang(raw["gang"]) if "size" in raw.get("gang", {}) else None,
        queues={scheduler: _reads(selector) for scheduler, selector in raw.get("queues", {}).items()},
        priority=_optional_target(raw.get("priority")),
        restart_policy=raw.get("restart_policy", {}),
    )


def _template(name: str, raw: _Raw) -> Template:
    metadata = raw.get("metadata", {})
    return Template(
        name=name,
        path=pattern(raw["path"]),
        shape=raw.get("shape", "podTemplate"),
        use=raw.get("use", "pods"),
        laid_on=tuple(raw.get("for", ())),
        merge=raw.get("merge", "strategic"),
        merge_keys=raw.get("merge_keys", {}),
        exhaustive=raw.get("exhaustive", False),
        exists=_optional(raw.get("exists")),
        only=_conditions(raw.get("only", ())),
        reference=_reference(raw["ref"]) if "ref" in raw else None,
        replicas=_replicas(raw["replicas"]) if "replicas" in raw else None,
        label_maps=tuple(map(pattern, metadata["labels"])) if metadata else None,
        annotation_maps=tuple(map(pattern, metadata["annotations"])) if metadata else None,
        fields=_fields(raw),
        devices=tuple(
            (form, pattern(path)) for form, paths in raw.get("devices", {}).items() for path in paths
        ),
    )


def _fields(raw: _Raw) -> dict[str, Pattern | None]:
    found: dict[str, Pattern | None] = {name: (name,) for name in raw.get("fields", ())}
    found.update((name, pattern(path)) for name, path in raw.get("elsewhere", {}).items())
    found.update((name, None) for name in raw.get("lacks", ()))
    return found


def _reference(raw: _Raw) -> Reference:
    return Reference(
        pattern(raw["name"]), _optional(raw.get("list")), raw.get("key", ""), pattern(raw.get("path", ""))
    )


def _optional(path: str | None) -> Pattern | None:
    return None if path is None else pattern(path)


def _conditions(raw: Any) -> tuple[Condition, ...]:
    return tuple(_condition(condition) for condition in raw)


def _condition(raw: _Raw) -> Condition:
    if "any" in raw:
        return Condition(any_of=tuple(map(pattern, raw["any"])))
    if "path" not in raw:
        return Condition(target=_target(raw))
    allowed = tuple(raw["in"]) if "in" in raw else None
    return Condition(pattern(raw["path"]), allowed, raw.get("default"), raw.get("exists"))


def _replicas(raw: Any) -> Replicas:
    if not isinstance(raw, dict):
        return Replicas(Number(default=raw))
    return Replicas(
        number=_number(raw),
        at_least=_number(raw["at_least"]) if "at_least" in raw else None,
        at_most=_number(raw["at_most"]) if "at_most" in raw else None,
        times=tuple(_number(factor) for factor in raw.get("times", ())),
        override=tuple((_conditions(o["when"]), _replicas(o)) for o in raw.get("override", ())),
    )


def _number(raw: _Raw) -> Number:
    parent, less, lookup = raw.get("if_parent", {}), raw.get("less", {}), raw.get("lookup")
    return Number(
        path=_optional(raw.get("path")),
        default=raw.get("default"),
        rule=raw.get("rule", ""),
        inputs=tuple(map(pattern, raw.get("inputs", ()))),
        parent=_optional(parent.get("path")),
        parent_default=parent.get("default"),
        less=less.get("value", 0),
        less_where=less.get("when_template", ""),
        lookup=Lookup(*(pattern(lookup[key]) for key in ("list", "contains", "equals", "value")))
        if lookup
        else None,
    )


def _target(raw: _Raw) -> FieldRef:
    form = next((form for form in _FORMS if form in raw), "")
    named = raw[form] if form else ""
    return FieldRef(
        form=form,
        path=pattern(named if form == "field" else raw.get("at", "")),
        key="" if form == "field" else named,
        default=raw.get("default"),
        rule=raw.get("rule", ""),
        wanted=raw.get("value"),
        unless=pattern(raw.get("unless", "")),
        wins=raw.get("wins", ""),
    )


def _optional_target(raw: _Raw | None) -> FieldRef | None:
    return None if raw is None else _target(raw)


def _gang(raw: _Raw) -> GangFacts:
    return GangFacts(
        unit=raw["unit"],
        size=_target(raw["size"]),
        members=tuple(raw.get("members", ())),
        per=pattern(raw.get("per", "")),
        multiplied_by=tuple(map(pattern, raw.get("multiplied_by", ()))),
        only=_conditions(raw.get("only", ())),
        enable=_optional_target(raw.get("enable")),
        alternatives=tuple(_target(target) for target in raw.get("alternatives", ())),
        parts={part: _target(target) for part, target in raw.get("parts", {}).items()},
        scheduler=raw.get("scheduler", ""),
    )


def _reads(selector: Any) -> dict[str, tuple[FieldRef, ...]] | None:
    """A selector's name, one location, several locations, or locations by meaning."""
    if selector is None:
        return None
    if isinstance(selector, str):
        selector = _table()["selectors"][selector]
    elif isinstance(selector, list) or any(form in selector for form in _FORMS):
        selector = {"queue": selector}
    return {
        what: tuple(_target(t) for t in (targets if isinstance(targets, list) else [targets]))
        for what, targets in selector.items()
    }
