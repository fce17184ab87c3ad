"""Input of rules about whole scopes: each file reduced to facts.

Files are linted in worker processes, and memory must not grow with them: of a manifest only facts are
kept that other manifests may complete or contradict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from policykit.kube.runtime_classes import by_name
from policykit.linter.finding import Resource
from policykit.linter.location import FieldLocation
from policykit.manifests.path import Path
from policykit.model.gang import Autoscaler, Membership, OwnGang, PodGroup
from policykit.model.pod_admission import RuntimeClass
from policykit.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

T = TypeVar("T")


class Fact(NamedTuple):
    """A fact read from a manifest, with the paths of its fields."""

    value: Any
    """A small NamedTuple of `policykit.model`; it is cached and sent between processes."""
    places: Mapping[str, Path]
    """Fields of the value to paths in the manifest; findings point at these."""
    inside: Mapping[str, Path] = {}
    """Fields inside the text of a string, to paths in that text; `places` has the path of the string."""
    answers: bool = False
    """Whether it is only compared with other facts: where all facts are such ones, nothing is reported."""
    as_written: bool = False
    """Whether it is about the source files of a kustomization, not about the objects built from them."""


class LocatedFact(NamedTuple, Generic[T]):
    """A value read from a manifest, with the locations of its fields."""

    value: T
    path: str
    """The file, as reported."""
    document: int
    resource: Resource
    fields: Mapping[str, FieldLocation]
    partial: bool = False
    """Read from a patch or fragment: nothing is "missing" from it."""
    answers: bool = False
    """Whether it is only compared with other facts: where all facts are such ones, nothing is reported."""
    as_written: bool = False
    """Whether it is about the source files of a kustomization, not about the objects built from them."""

    def place(self, field: str) -> FieldLocation:
        """The location of a field of the value. Raises KeyError for a field it does not have."""
        return self.fields[field]

    def at(self, field: str) -> FactField:
        """The location of a field of the value, for a violation."""
        return FactField(self, field)


class UnreadableText(NamedTuple):
    """A document that cannot be interpreted: a syntax error, a template, or an unknown kind with pods.

    The objects that it creates or names are unknown.
    """

    words: frozenset[str] | None
    """All words in it; None: there are too many to keep."""

    def contains(self, word: str) -> bool:
        """Whether a word may be in it."""
        return self.words is None or word in self.words


NOTHING_UNREAD = UnreadableText(frozenset())

AnyFact = LocatedFact[Any] | UnreadableText
"""Information in a manifest that other manifests may complete or contradict."""


def may_have_findings(facts: Iterable[AnyFact]) -> bool:
    """Whether a finding may be reported at one of the facts. If not, no other file needs to be read."""
    return any(isinstance(fact, LocatedFact) and not fact.answers for fact in facts)


class Scope(NamedTuple):
    """All facts of a scope, in the order of its files."""

    groups: tuple[LocatedFact[PodGroup], ...] = ()
    memberships: tuple[LocatedFact[Membership], ...] = ()
    gangs: tuple[LocatedFact[OwnGang], ...] = ()
    autoscalers: tuple[LocatedFact[Autoscaler], ...] = ()
    complete: bool = False
    """Whether all files of the scope are known; if not, rules must not rely on absence or sums."""
    others: Mapping[type, tuple[LocatedFact[Any], ...]] = {}
    """Facts of the targets' fact readers, by type: many rules read one type each."""
    unreadable: UnreadableText = NOTHING_UNREAD
    """The words of all unreadable documents."""
    beside: Callable[[], UnreadableText] = lambda: NOTHING_UNREAD
    """The words of files that are no manifests but may define objects: read only if an object is missed."""
    is_part: bool = False
    """Whether violations are checked again with all that the cluster applies: an object that a rule compares
    with need not be here, and rules may report what is wrong only if it is elsewhere."""

    def of(self, kind: type[T]) -> tuple[LocatedFact[T], ...]:
        """The facts of one type, from the fact readers."""
        return self.others.get(kind, ())

    def may_hold(self, name: str) -> bool:
        """Whether an unreadable document contains a name, so that a missing object may be defined there."""
        return self.unreadable.contains(name) or self.beside().contains(name)


class FactField:
    """Location of a violation in a scope. Patches of its fix start at the root of the fact's document.

    No tuple: paths are tuples.
    """

    __slots__ = ("fact", "field")

    def __init__(self, fact: LocatedFact[Any], field: str) -> None:
        self.fact = fact
        self.field = field

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FactField) and (self.fact, self.field) == (other.fact, other.field)

    def __hash__(self) -> int:
        return hash((self.fact, self.field))

    @property
    def place(self) -> FieldLocation:
        """The location of the field. Raises KeyError if the fact has no such field."""
        return self.fact.place(self.field)


def scope_of(
    facts: Iterable[AnyFact], *, complete: bool, beside: Callable[[], UnreadableText] = lambda: NOTHING_UNREAD
) -> Scope:
    """The scope with these facts, grouped by type. `beside`: as in `Scope`."""
    everything = list(facts)
    located: dict[type, list[LocatedFact[Any]]] = {}
    for fact in everything:
        if isinstance(fact, LocatedFact):
            located.setdefault(type(fact.value), []).append(fact)
    return Scope(
        tuple(located.pop(PodGroup, ())),
        tuple(located.pop(Membership, ())),
        tuple(located.pop(OwnGang, ())),
        tuple(located.pop(Autoscaler, ())),
        complete,
        {kind: tuple(found) for kind, found in located.items()},
        joined_words(fact for fact in everything if isinstance(fact, UnreadableText)),
        beside,
    )


def with_runtime_classes(cluster: Cluster, facts: Iterable[AnyFact]) -> Cluster:
    """The policy with the RuntimeClasses among some facts; the same object if there are none."""
    classes = [
        each.value for each in facts if isinstance(each, LocatedFact) and isinstance(each.value, RuntimeClass)
    ]
    if not classes:
        return cluster
    return cluster._replace(runtime_classes={**cluster.runtime_classes, **by_name(classes)})


def joined_words(documents: Iterable[UnreadableText]) -> UnreadableText:
    """The words of several documents."""
    found: set[str] = set()
    for each in documents:
        if each.words is None:
            return each
        found |= each.words
    return UnreadableText(frozenset(found))
