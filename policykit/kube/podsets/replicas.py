"""Number of pods that a template makes."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from policykit.kube.podsets import rules
from policykit.kube.podsets.conditions import hold
from policykit.kube.podsets.facts import Entry, Lookup, Number, Replicas, Template
from policykit.kube.podsets.walk import Binding, Pattern, value


def pods(
    data: Any, entry: Entry, template: Template, binding: Binding, apart: Collection[Pattern] = ()
) -> int | None:
    """Pods of one match of `template`; None: the object alone does not determine it.

    Numbers at the paths `apart` count as 1, which leaves the pods of one of many equal units.
    """
    if template.replicas is None:
        return None
    return _Counting(data, entry, binding, apart).pods(template.replicas)


class _Counting:
    """One match of a template, being counted."""

    __slots__ = ("apart", "binding", "data", "entry")

    def __init__(self, data: Any, entry: Entry, binding: Binding, apart: Collection[Pattern]) -> None:
        self.data = data
        self.entry = entry
        self.binding = binding
        self.apart = apart

    def pods(self, replicas: Replicas) -> int | None:
        for conditions, other in replicas.override:
            if hold(conditions, self.data, self.binding):
                return self.pods(other)
        total = self.number(replicas.number)
        if replicas.at_least or replicas.at_most:
            total = self.bounded(total, replicas)
        for factor in replicas.times:
            by = self.number(factor)
            total = None if total is None or by is None else total * by
        return total

    def bounded(self, total: int | None, replicas: Replicas) -> int | None:
        """Raised to one bound, then lowered to the other; a bound without a value is ignored."""
        for bound, choose in ((replicas.at_least, max), (replicas.at_most, min)):
            if bound is None or total is None:
                continue
            if bound.default is None and self._at(bound.path) is None:
                continue
            limit = self.number(bound)
            total = None if limit is None else choose(total, limit)
        return total

    def number(self, number: Number) -> int | None:
        if self.apart and number.path in self.apart:
            return 1
        found = self.lookup(number.lookup) if number.lookup else self._at(number.path)
        counted = self.missing(number) if found is None else rules.whole(found)
        if counted is None or not number.less:
            return counted
        return max(0, counted - number.less) if self._matches(number.less_where) else counted

    def missing(self, number: Number) -> int | None:
        """The default number."""
        if number.parent is not None and self._at(number.parent) is not None:
            return number.parent_default
        if number.default is not None or not number.rule:
            return number.default
        return rules.REPLICAS[number.rule](self.data, self.binding, number.inputs)

    def lookup(self, lookup: Lookup) -> Any:
        wanted = self._at(lookup.equals)
        listed = self._at(lookup.listed)
        for item in listed if isinstance(listed, list) else ():
            held = value(item, lookup.contains)
            if wanted is not None and isinstance(held, list) and wanted in held:
                return value(item, lookup.value)
        return None

    def _at(self, path: Pattern | None) -> Any:
        return None if path is None else self.binding.value(self.data, path)

    def _matches(self, name: str) -> bool:
        """Whether the template with that name exists in the same object, for the same match."""
        template = self.entry.template(name) if name else None
        if template is None:
            return not name
        where = template.path if template.exists is None else template.exists
        return self.binding.value(self.data, where) is not None
