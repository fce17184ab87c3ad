"""A kustomize patch drops entries of the object it patches.

Tolerations and affinity terms have no merge key, and lists of custom resources have none that
kustomize knows: the list of the patch replaces the whole list. Entries that only the base has are
silently lost.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.manifests.patch import APPEND, Patch
from policykit.model.list_overrides import ListField
from policykit.model.severity import Applicability, Severity

BAD = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: infer
spec:
  selector:
    matchLabels: {app: infer}
  template:
    metadata:
      labels: {app: infer}
    spec:
      tolerations:
      - key: example.com/cards
        operator: Exists
      containers:
      - name: main
        image: registry.example/infer:1
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: infer
spec:
  template:
    spec:
      tolerations:
      - key: example.com/pool
        operator: Exists
"""

GOOD = (
    BAD
    + """\
      - key: example.com/cards
        operator: Exists
"""
)

_List = LocatedFact[ListField]


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Each list of a patch against the one list that it replaces; nothing if that is ambiguous."""
    lists = scope.of(ListField)
    there: dict[tuple[str, ...], list[_List]] = {}
    for each in lists:
        if not each.value.patch:
            there.setdefault(_what(each.value), []).append(each)
    for one in lists:
        if one.value.patch and not any(map(is_placeholder, one.value.items)):
            namespace = one.value.namespace
            bases = [
                each
                for each in there.get(_what(one.value), ())
                if each.value.namespace == namespace or "" in (namespace, each.value.namespace)
            ]
            if len({each.value.items for each in bases}) == 1:
                yield from _lost(one, bases[0])


def _what(field: ListField) -> tuple[str, ...]:
    """Of a patch what it replaces, in any namespace."""
    return field.group, field.kind, field.name, field.field


def _lost(one: _List, base: _List) -> Iterator[Violation]:
    written, there = one.value, base.value
    if written.named:
        lost = _lost_parts(written, there)
    else:
        gone = [item for item in there.items if item not in written.items]
        lost = [_shown(item) for item in gone]
    if not lost:
        return
    rest = f" and {len(lost) - 3} more" if len(lost) > 3 else ""
    yield Violation(
        one.at("list"),
        f"the patch replaces all of {written.field} of {written.kind} {written.name}: "
        f"{', '.join(lost[:3])}{rest} of the base {'is' if len(lost) == 1 else 'are'} lost",
        "use a JSON patch on the entry that changes, or repeat all entries of the base"
        if written.named
        else "repeat the entries of the base, or append with a JSON patch to the path's /-",
        fix=None if written.named else partial(_fix, one, there),
    )


def _lost_parts(written: ListField, there: ListField) -> list[str]:
    """Names of lost entries, and lost fields of the others."""
    now = {name: set(fields) for name, fields in map(json.loads, written.items)}
    lost: list[str] = []
    for name, fields in map(json.loads, there.items):
        if name not in now:
            lost.append(name)
        elif gone := sorted(set(fields) - now[name]):
            lost.append(f"{' and '.join(gone)} of {name}")
    return lost


def _shown(item: str) -> str:
    data = json.loads(item)
    if isinstance(data, dict) and isinstance(data.get("key"), str):
        value = data.get("value")
        return f"{data['key']}={value}" if isinstance(value, str) else data["key"]
    return item[:60]


def _fix(one: _List, there: ListField) -> Fix | None:
    """Entries of the base after those of the patch; not within a text of a Kustomization."""
    place = one.place("list")
    if one.resource.kind == "Kustomization":
        return None
    lost = [json.loads(item) for item in there.items if item not in one.value.items]
    patches = tuple(Patch("add", (*place.path, APPEND), item) for item in lost)
    return Fix("repeat the entries of the base", patches, Applicability.UNSAFE)


RULE = Rule(
    code="PK806",
    name="patch-replaces-list",
    severity=Severity.ERROR,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(ListField,),
    fix=Applicability.UNSAFE,
)
