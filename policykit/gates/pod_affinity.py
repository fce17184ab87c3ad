"""Whether pods that must be near others can be: the others exist, and share a domain and its room."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from policykit.kube.placeholders import is_placeholder
from policykit.linter.finding import Resource
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.pod_admission import PodMutation
from policykit.model.pool import Pool, Shape
from policykit.model.quantity import amount_text
from policykit.model.queue import Demand
from policykit.model.references import AffinePods, AffinityTerm, PlacedPods, SeparatePods
from policykit.namedtuple import NamedTuple
from policykit.placement.capacity import pods_on
from policykit.placement.pod_affinity import Maker, reaches, selects
from policykit.placement.topology import HOSTNAME

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster


class _Labelled(Protocol):
    @property
    def labels(self) -> Mapping[str, str]: ...


P = TypeVar("P", bound=_Labelled)

_ADVICE = "let both use the same pools, or prefer it: preferredDuringSchedulingIgnoredDuringExecution"
_APART = "let them use other pools, or prefer it: preferredDuringSchedulingIgnoredDuringExecution"
_FOR_GOOD = frozenset({"DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"})
_MOST = 2
"""Objects that a message names."""
_SEPARATOR = re.compile(r"[-._]")


class Unmet(NamedTuple):
    """Required affinity that is not met."""

    term: int
    """Its position in the list."""
    message: str
    help: str = ""
    certain: bool = False
    """It never is; if not, pods that the files do not have may meet it."""
    elsewhere: bool = False
    """The pods that it selects by their labels are in another namespace."""


class PodAffinities:
    """The pods of a scope, by which required affinity is judged."""

    def __init__(self, scope: Scope, cluster: Cluster | None) -> None:
        self._scope = scope
        self._cluster = cluster
        self._made: _Pods[Demand] | None = None
        self._placed: _Pods[PlacedPods] | None = None
        self._pools = {pool.name: pool for pool in cluster.pools} if cluster else {}
        self._changed = {each.value.namespace for each in scope.of(PodMutation)}

    def unmet(self, one: AffinePods) -> Unmet | None:
        """Why the pods stay pending, as far as the files say; None: they may get near the others."""
        if self._made is None or self._placed is None:
            self._made = _Pods([each for each in self._scope.of(Demand) if each.value.pods == 1])
            self._placed = _Pods(self._scope.of(PlacedPods))
        if not one.terms or any(map(self._scope.may_hold, _words(one.terms))):
            return None
        made = self._made.selected(one.terms)
        if not any(_reached(one, each.value) for each, _ in made):
            # Where the pods have a copy, the others are meant for that one.
            copied = {each.value.namespace for each in self._made.named(one.pods.what)}
            there = [each.value for each, sure in made if sure and each.value.namespace not in copied]
            return self._absent(one, there)
        others = [
            (each.value, sure) for each, sure in self._placed.selected(one.terms) if _reached(one, each.value)
        ]
        return self._unreachable(one, others)

    def barred(self, one: SeparatePods) -> Unmet | None:
        """Why no node is left for the pods beside those that they avoid; None: one may be.

        Those that are there first stay: which ones that are is not known. Pods of the same template are those
        of the rule about too few domains.
        """
        if not self._is_placed(one.pods):
            return None
        if self._placed is None:
            self._placed = _Pods(self._scope.of(PlacedPods))
        for number, term in enumerate(one.terms):
            others = [
                each.value
                for each, sure in self._placed.selected((term,))
                if sure and each.value[1:4] != one.pods[1:4] and self._stays(each.value)
                if reaches(term, one.pods, each.value.namespace, each.value.stated_namespace) is True
            ]
            message = self._taken(term.key, one.pods, others)
            if message and not any(map(self._scope.may_hold, _words((term,)))):
                return Unmet(number, message, _APART)
        return None

    def _is_placed(self, pods: PlacedPods) -> bool:
        """Whether the pools of the pods are known, and nothing else decides where they go."""
        known = self._cluster is not None and self._scope.complete and bool(pods.pools)
        return known and pods.certain and self._is_here(pods) and not self._moves(pods)

    def _stays(self, pods: PlacedPods) -> bool:
        """Whether the pods run for good: those of a Job end."""
        return pods.what.partition(" ")[0] in _FOR_GOOD and self._is_placed(pods)

    def _taken(self, key: str, own: PlacedPods, others: Sequence[PlacedPods]) -> str:
        """That pods to be avoided are on every node, or in the only domain, that the pods may use."""
        if key == HOSTNAME:
            daemons = [each for each in others if not set(own.pools).isdisjoint(each.everywhere)]
            if not set(own.pools) <= {name for each in daemons for name in each.everywhere}:
                return ""
            return (
                f"anti-affinity keeps the pods off nodes with pods of {_who(daemons)}, and every node of "
                f"{_named(own.pools)} runs one"
            )
        mine = self._domains(own.pools, key)
        if mine is None or len(mine) != 1:
            return ""
        there = [each for each in others if self._domains(each.pools, key) == mine]
        if not there:
            return ""
        return (
            f"anti-affinity keeps the pods out of the {key} of pods of {_who(there)}, but both run only in "
            f"{next(iter(mine))} ({_named(own.pools)})"
        )

    def _absent(self, one: AffinePods, selected: Sequence[Demand]) -> Unmet | None:
        """Files of others may make such pods."""
        first = one.terms[0]
        if selected and not (first.selected or any(map(is_placeholder, first.namespaces))):
            there = selected[0]
            own = ", ".join(first.namespaces) or one.pods.namespace
            what = there.what.removeprefix("one pod of ")
            message = (
                f"affinity selects pods of namespace {own}, but {what} is in {there.namespace}: "
                "these stay pending"
            )
            return Unmet(0, message, f"add namespaces: [{there.namespace}] to the term", elsewhere=True)
        wanted = dict.fromkeys(_shown(*each) for term in one.terms for each in term.expressions)
        if wanted:
            return Unmet(0, f"no file here makes pods with {' and '.join(wanted)}")
        if first.namespaces and not (first.selected or any(map(is_placeholder, first.namespaces))):
            return Unmet(0, f"no file here makes pods in namespace {', '.join(first.namespaces)}")
        return None

    def _unreachable(self, one: AffinePods, others: Sequence[tuple[PlacedPods, bool]]) -> Unmet | None:
        """By pools: only where those of all pods that may be meant are known."""
        cluster, own = self._cluster, one.pods
        every = [own, *(each for each, _ in others)]
        if cluster is None or not self._scope.complete or not own.pools:
            return None
        if not all(each.certain and self._is_here(each) and not self._moves(each) for each in every):
            return None
        near = [each for each, _ in others if each.pools]
        if not any(sure and each.pools for each, sure in others):
            return None
        for number, term in enumerate(one.terms):
            message = self._apart(term.key, own, near) or self._crowded(term.key, own, near)
            if message:
                return Unmet(number, message, _ADVICE, certain=True)
        return None

    def _is_here(self, pods: PlacedPods) -> bool:
        """Whether they were judged by this policy: a file may be for several."""
        own = self._cluster is not None and pods.policy == self._cluster.name
        return own and all(name in self._pools for name in pods.pools)

    def _moves(self, pods: PlacedPods) -> bool:
        return "" in self._changed or pods.namespace in self._changed

    def _apart(self, key: str, own: PlacedPods, others: Sequence[PlacedPods]) -> str:
        """That no domain has nodes for both."""
        pools = tuple(dict.fromkeys(name for each in others for name in each.pools))
        who = _who(others)
        if key == HOSTNAME:
            if not set(own.pools).isdisjoint(pools):
                return ""
            return (
                f"affinity needs a node with pods of {who}, which run only in {_named(pools)}, "
                f"but these pods run only in {_named(own.pools)}: they stay pending"
            )
        mine, theirs = self._domains(own.pools, key), self._domains(pools, key)
        if not mine or not theirs or not mine.isdisjoint(theirs):
            return ""
        there, here = ", ".join(sorted(theirs)), ", ".join(sorted(mine))
        return (
            f"affinity needs the {key} of pods of {who}, which run only in {there} ({_named(pools)}), "
            f"but these pods run only in {here} ({_named(own.pools)}): they stay pending"
        )

    def _domains(self, pools: Iterable[str], key: str) -> set[str] | None:
        """Values of a label that every node of these pools has; None: some are unknown."""
        values = {shape.labels.get(key) or pool.labels.get(key) for pool, shape in self._shapes(pools)}
        found = {each for each in values if each}
        return found if len(found) == len(values) else None

    def _crowded(self, key: str, own: PlacedPods, others: Sequence[PlacedPods]) -> str:
        """That no node is large enough for one pod of each."""
        if key != HOSTNAME:
            return ""
        found = [self._lacking(own, each) for each in others]
        return next(filter(None, found), "") if None not in found else ""

    def _lacking(self, own: PlacedPods, other: PlacedPods) -> str | None:
        """None: a node may hold both; empty: they share no pool."""
        pools = tuple(name for name in other.pools if name in own.pools)
        shapes = [shape for _, shape in self._shapes(pools)]
        both = {
            name: own.request.get(name, 0) + other.request.get(name, 0)
            for name in sorted({*own.request, *other.request}, key=lambda each: ("/" not in each, each))
        }
        if any(pods_on(shape, both) != 0 for shape in shapes):
            return None
        for name, amount in both.items():
            most = max((shape.allocatable.get(name, amount) for shape in shapes), default=amount)
            if most < amount:
                return (
                    f"affinity needs a node with a pod of {other.what}, but the two request "
                    f"{amount_text(name, amount)} {name} together, and a node of {_named(pools)} has "
                    f"{amount_text(name, most)}: these stay pending"
                )
        return None if shapes else ""

    def _shapes(self, pools: Iterable[str]) -> Iterator[tuple[Pool, Shape]]:
        return ((self._pools[name], shape) for name in pools for shape in self._pools[name].shapes)


class _Pods(Generic[P]):
    """Pods by their labels."""

    def __init__(self, pods: Sequence[LocatedFact[P]]) -> None:
        self._all: Sequence[LocatedFact[P]] = pods
        self._with: dict[tuple[str, str], list[LocatedFact[P]]] = {}
        self._named: dict[str, list[LocatedFact[P]]] = {}
        self._without: dict[str, list[LocatedFact[P]]] = {}
        for each in pods:
            self._named.setdefault(each.resource.name, []).append(each)
            for key, value in each.value.labels.items():
                self._with.setdefault((key, "" if is_placeholder(value) else value), []).append(each)

    def named(self, what: str) -> Iterator[LocatedFact[P]]:
        """Those of objects of a kind and name: `Deployment cache`."""
        kind, _, name = what.partition(" ")
        return (each for each in self._named.get(name, ()) if each.resource.kind == kind)

    def selected(self, terms: Sequence[AffinityTerm]) -> list[tuple[LocatedFact[P], bool]]:
        """Pods that all terms may select; True: they do. The namespace is left out of account."""
        found = []
        for each in self._likely(terms):
            answer = selects(terms, each.value.labels, _maker(each.resource))
            if answer is not False:
                found.append((each, answer is True))
        return found

    def _likely(self, terms: Sequence[AffinityTerm]) -> Iterable[LocatedFact[P]]:
        """Those that may have one of the values of the first label that terms name."""
        for term in terms:
            for key, operator, values in term.expressions:
                if operator == "In":
                    stated = [each for value in ("", *values) for each in self._with.get((key, value), ())]
                    names = dict.fromkeys(part for value in values for part in _parts(value))
                    given = [each for part in names for each in self._named.get(part, ())]
                    return [*stated, *(one for one in given if key not in one.value.labels), *self._open(key)]
        return self._all

    def _open(self, key: str) -> list[LocatedFact[P]]:
        """Pods that may get a label from what makes them."""
        if key not in self._without:
            self._without[key] = [
                each
                for each in self._all
                if key not in each.value.labels and _maker(each.resource).may_add(key)
            ]
        return self._without[key]


def _maker(resource: Resource) -> Maker:
    group, slash, _ = resource.api_version.partition("/")
    return Maker(group if slash else "", resource.kind, resource.name)


def _parts(value: str) -> Iterator[str]:
    """Every name that a value may contain as a whole: `a-b` has a, b and itself."""
    ends = [0, *(match.end() for match in _SEPARATOR.finditer(value)), len(value) + 1]
    return (value[start : end - 1] for n, start in enumerate(ends) for end in ends[n + 1 :])


def _reached(one: AffinePods, pods: Demand | PlacedPods) -> bool:
    """Whether every term may select in the namespace of the pods."""
    return all(
        reaches(term, one.pods, pods.namespace, pods.stated_namespace) is not False for term in one.terms
    )


def _words(terms: Iterable[AffinityTerm]) -> Iterator[str]:
    return (value for term in terms for _, _, values in term.expressions for value in values)


def _shown(key: str, operator: str, values: tuple[str, ...]) -> str:
    if operator == "In" and len(values) == 1:
        return f"{key}: {values[0]}"
    return " ".join(filter(None, (key, operator, ", ".join(values))))


def _who(others: Sequence[PlacedPods]) -> str:
    names = list(dict.fromkeys(each.what for each in others))
    return " or ".join(names) if len(names) <= _MOST else f"{len(names)} objects"


def _named(pools: Sequence[str]) -> str:
    return f"{'pool' if len(pools) == 1 else 'pools'} {', '.join(pools)}"
