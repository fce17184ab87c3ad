"""Input of rules about whole scopes: each file reduced to facts.

Files are linted in worker processes, and memory must not grow with them: of a manifest only facts are
kept that other manifests may complete or contradict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from policykit.kube.runtime_classes import by_name
from policykit.linter.finding import Resource
from policykit.linter.location import FieldLocation
from policykit.manifests.memoize import computed_once
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


class StoredFacts(Protocol):
    """The facts of a file as bytes, which are decoded where somebody asks for them: as an earlier run stored
    them, or of a large file."""

    @property
    def path(self) -> str:
        """The file, as reported."""

    @property
    def names(self) -> Iterable[str]:
        """Names of the types of its facts."""

    @property
    def may_have_findings(self) -> bool:
        """As `may_have_findings` for its facts."""

    def of(self, name: str) -> Sequence[AnyFact]:
        """Its facts of the type with this name."""

    def objects(self) -> Iterable[Resource]:
        """The objects that `objects_of` gives for its facts."""


class LargeFileFacts(StoredFacts, Protocol):
    """The facts of a large file while it is read."""

    def add(self, fact: AnyFact) -> None:
        """Adds the next fact."""


def decoded(facts: Iterable[AnyFact | StoredFacts]) -> Iterator[AnyFact]:
    """All facts, those of each type in order."""
    for fact in facts:
        if isinstance(fact, (LocatedFact, UnreadableText)):
            yield fact
        else:
            for name in fact.names:
                yield from fact.of(name)


@cache
def fact_name(kind: type) -> str:
    """The name of a type of facts: `gang.PodGroup`."""
    return f"{kind.__module__.rpartition('.')[2]}.{kind.__name__}"


def name_of_fact(fact: AnyFact) -> str:
    """The name of the type of a fact."""
    kind: type = type(fact.value) if isinstance(fact, LocatedFact) else UnreadableText
    return fact_name(kind)


def names_in(facts: Iterable[AnyFact | StoredFacts]) -> frozenset[str]:
    """The names of the types of located facts."""
    kinds: set[type] = set()
    names: set[str] = set()
    for fact in facts:
        if isinstance(fact, LocatedFact):
            kinds.add(type(fact.value))
        elif not isinstance(fact, UnreadableText):
            names.update(fact.names)
    return frozenset(map(fact_name, kinds)) | names - {fact_name(UnreadableText)}


OBJECT_NAMES = "objects"
"""What is asked of a scope besides facts by their types: which objects it has."""


def changed_facts(
    before: Iterable[AnyFact | StoredFacts], after: Iterable[AnyFact | StoredFacts]
) -> frozenset[str]:
    """The names of the types of which two readings of a file state different facts; OBJECT_NAMES: they are
    about different objects."""
    old, new = tuple(decoded(before)), tuple(decoded(after))
    names = {
        name
        for name in {*map(name_of_fact, old), *map(name_of_fact, new)}
        if [fact for fact in old if name_of_fact(fact) == name]
        != [fact for fact in new if name_of_fact(fact) == name]
    }
    return frozenset(names | ({OBJECT_NAMES} if {*objects_of(old)} != {*objects_of(new)} else set()))


def located(kind: type, facts: Iterable[AnyFact | StoredFacts]) -> Iterator[LocatedFact[Any]]:
    """The located facts of one type."""
    name = fact_name(kind)
    for fact in facts:
        if isinstance(fact, LocatedFact):
            if isinstance(fact.value, kind):
                yield fact
        elif not isinstance(fact, UnreadableText) and name in fact.names:
            yield from (each for each in fact.of(name) if isinstance(each, LocatedFact))


def objects_of(facts: Iterable[AnyFact | StoredFacts]) -> Iterator[Resource]:
    """The objects that have facts, without those of patches and of source files of a kustomization."""
    for fact in facts:
        if isinstance(fact, LocatedFact):
            if not fact.as_written and not fact.partial and fact.resource.name:
                yield fact.resource
        elif not isinstance(fact, UnreadableText):
            yield from fact.objects()


def may_have_findings(facts: Iterable[AnyFact | StoredFacts]) -> bool:
    """Whether a finding may be reported at one of the facts of this run. If not, no other file needs to be
    read."""
    return any(
        not fact.answers if isinstance(fact, LocatedFact) else fact.may_have_findings
        for fact in facts
        if not isinstance(fact, UnreadableText)
    )


class FactTable:
    """Facts by their types, in the order of their files."""

    def __init__(
        self,
        facts: Iterable[AnyFact | StoredFacts],
        judged: Container[str] | None = None,
        asked: set[str] | None = None,
    ) -> None:
        """`judged`: paths of the files of which findings are reported; None: of all. `asked`: is told the
        names of the types that are asked for."""
        self._judged = judged
        self._asked = set() if asked is None else asked
        self._found: dict[str, list[AnyFact | StoredFacts]] = {}
        self._known: dict[type, tuple[Any, ...]] = {}
        for fact in facts:
            if isinstance(fact, LocatedFact):
                kind: type = type(fact.value)
                self._found.setdefault(fact_name(kind), []).append(fact)
            elif isinstance(fact, UnreadableText):
                self._found.setdefault(fact_name(UnreadableText), []).append(fact)
            else:
                for name in fact.names:
                    self._found.setdefault(name, []).append(fact)

    def of(self, kind: type) -> tuple[Any, ...]:
        """The facts of one type."""
        known = self._known.get(kind)
        name = fact_name(kind)
        self._asked.add(name)
        if known is None:
            found: list[AnyFact] = []
            for fact in self._found.get(name, ()):
                if isinstance(fact, (LocatedFact, UnreadableText)):
                    found.append(fact)
                else:
                    found.extend(fact.of(name))
            known = self._known[kind] = tuple(found)
        return known

    def judged(self, kind: type, others: Iterable[type]) -> tuple[Any, ...]:
        """As `Scope.judged`."""
        self._asked.update(map(fact_name, (kind, *others)))
        judged = self._judged
        if judged is None or any(self._of_files(other, judged) for other in others):
            return self.of(kind)
        return tuple(self._of_files(kind, judged))

    def _of_files(self, kind: type, paths: Container[str]) -> list[LocatedFact[Any]]:
        """The facts of one type in some files."""
        name = fact_name(kind)
        found: list[LocatedFact[Any]] = []
        for fact in self._found.get(name, ()):
            if isinstance(fact, UnreadableText) or fact.path not in paths:
                continue
            some = (fact,) if isinstance(fact, LocatedFact) else fact.of(name)
            found.extend(each for each in some if isinstance(each, LocatedFact))
        return found

    @property
    def unreadable(self) -> UnreadableText:
        """The words of all unreadable documents."""
        self._asked.add(fact_name(UnreadableText))
        return self._words

    @computed_once
    def _words(self) -> UnreadableText:
        return joined_words(self.of(UnreadableText))


class Scope(NamedTuple):
    """All facts of a scope, in the order of its files."""

    facts: FactTable
    complete: bool = False
    """Whether all files of the scope are known; if not, rules must not rely on absence or sums."""
    beside: Callable[[], UnreadableText] = lambda: NOTHING_UNREAD
    """The words of files that are not manifests but may define objects: read only if an object is missed."""
    is_part: bool = False
    """Whether violations are checked again with all that the cluster applies: an object that a rule compares
    with need not be here, and rules may report what is wrong only if it is elsewhere."""

    def of(self, kind: type[T]) -> tuple[LocatedFact[T], ...]:
        """The facts of one type, from the fact readers."""
        return self.facts.of(kind)

    def judged(self, kind: type[T], *others: type) -> tuple[LocatedFact[T], ...]:
        """The facts of one type at which findings are reported: those of the files that are linted, or all if
        these files state facts of `others`. For rules that compare each with these, and not with each other.
        """
        return self.facts.judged(kind, others)

    @property
    def groups(self) -> tuple[LocatedFact[PodGroup], ...]:
        return self.facts.of(PodGroup)

    @property
    def memberships(self) -> tuple[LocatedFact[Membership], ...]:
        return self.facts.of(Membership)

    @property
    def gangs(self) -> tuple[LocatedFact[OwnGang], ...]:
        return self.facts.of(OwnGang)

    @property
    def autoscalers(self) -> tuple[LocatedFact[Autoscaler], ...]:
        return self.facts.of(Autoscaler)

    def may_hold(self, name: str) -> bool:
        """Whether an unreadable document contains a name, so that a missing object may be defined there."""
        return self.facts.unreadable.contains(name) or self.beside().contains(name)


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
    facts: Iterable[AnyFact | StoredFacts],
    *,
    complete: bool,
    beside: Callable[[], UnreadableText] = lambda: NOTHING_UNREAD,
    judged: Container[str] | None = None,
    asked: set[str] | None = None,
) -> Scope:
    """The scope with these facts. `beside`: as in `Scope`; `judged` and `asked`: as in `FactTable`."""
    return Scope(FactTable(facts, judged, asked), complete, beside)


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


def alternatives(objects: Mapping[str, frozenset[tuple[str, ...]]]) -> list[list[str]]:
    """Groups of scopes that may be deployed together, since no two define the same object. A scope that
    shares no object with another is in every group.
    """
    amounts = Counter(chain.from_iterable(objects.values()))
    shared = {name: frozenset(each for each in own if amounts[each] > 1) for name, own in objects.items()}
    groups: list[tuple[list[str], set[tuple[str, ...]]]] = []
    for name in sorted(name for name in objects if shared[name]):
        group = next((group for group in groups if group[1].isdisjoint(shared[name])), None)
        if group is None:
            group = ([], set())
            groups.append(group)
        group[0].append(name)
        group[1].update(shared[name])
    common = sorted(name for name in objects if not shared[name])
    return [[*common, *names] for names, _ in groups] or [common]
