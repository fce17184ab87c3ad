"""Which pod security standard a namespace enforces."""

from __future__ import annotations

from collections.abc import Set

from policykit.kube.pod_security import ENFORCE, FORBIDDING
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.kueue import DeclaredNamespace


class Standards:
    """Those of the namespaces of a scope."""

    def __init__(self, scope: Scope) -> None:
        self._declared: dict[str, list[LocatedFact[DeclaredNamespace]]] = {}
        for each in scope.of(DeclaredNamespace):
            self._declared.setdefault(each.value.name, []).append(each)

    def of(self, namespace: str) -> tuple[str, Set[str]]:
        """The standard that forbids what nodes are managed with, and the files that say so; empty: none, or
        two files differ."""
        there = self._declared.get(namespace, ())
        levels = {each.value.labels.get(ENFORCE, "") for each in there}
        if not levels or not levels <= FORBIDDING:
            return "", frozenset()
        return min(levels), frozenset(each.path for each in there)
