"""Input of rules about whole scopes: each file reduced to facts.

Files are linted in worker processes, and memory must not grow with them: a manifest leaves
behind only what other manifests may complete or contradict.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from policykit.kube import autoscaling
from policykit.kube.podsets.podset import PodSet
from policykit.linter.finding import Resource
from policykit.linter.gangs import oversized
from policykit.linter.location import LocatedObject, Place
from policykit.linter.rule import Context
from policykit.manifests.document import Manifest, words, wrapped_objects
from policykit.manifests.path import Path
from policykit.model.gang import Autoscaler, Membership, OwnGang, PodGroup

if TYPE_CHECKING:
    from policykit.linter.target import FactReader, Target

T = TypeVar("T")


_WORD = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?")
"""A possible name of an object or queue."""
_MOST_WORDS = 5_000
_GROUP_FIELDS: Mapping[str, Path] = {"name": ("metadata", "name"), "min_member": ("spec", "minMember")}


class Fact(NamedTuple):
    """A fact read from a manifest, with the paths of its fields."""

    value: Any
    """A small NamedTuple of `policykit.model`; it is cached and sent between processes."""
    places: Mapping[str, Path]
    """Fields of the value to paths in the manifest; findings point at these."""
    inside: Mapping[str, Path] = {}
    """Fields inside the text of a string, to paths in that text; `places` has the path of the string."""
    answers: bool = False
    """No finding is ever reported at it: it is only compared with other facts."""
    as_written: bool = False
    """It is about the source files of a kustomization, not about the objects built from them."""


class Located(NamedTuple, Generic[T]):
    """A value read from a manifest, with the locations of its fields."""

    value: T
    path: str
    """The file, as reported."""
    document: int
    resource: Resource
    fields: Mapping[str, Place]
    partial: bool = False
    """Read from a patch or fragment: nothing is "missing" from it."""
    answers: bool = False
    """No finding is ever reported at it: it is only compared with other facts."""
    as_written: bool = False
    """It is about the source files of a kustomization, not about the objects built from them."""

    def place(self, field: str) -> Place:
        """Where a field of the value stands. Raises KeyError for a field it does not have."""
        return self.fields[field]

    def at(self, field: str) -> FactField:
        """The location of a field of the value, for a violation."""
        return FactField(self, field)


class UnreadableText(NamedTuple):
    """A document that cannot be interpreted: a syntax error, a template, or an unknown kind with pods.

    Which objects it creates or names is unknown.
    """

    words: frozenset[str] | None
    """All words in it; None: there are too many to keep."""


AnyFact = Located[Any] | Autoscaler | UnreadableText
"""Information in a manifest that other manifests may complete or contradict."""


def may_have_findings(facts: Iterable[AnyFact]) -> bool:
    """Whether a finding may be reported at one of them. If not, no other file needs to be read."""
    return any(isinstance(fact, Located) and not fact.answers for fact in facts)


class Scope(NamedTuple):
    """All facts of the files that see each other, in the order of the files."""

    groups: tuple[Located[PodGroup], ...] = ()
    memberships: tuple[Located[Membership], ...] = ()
    gangs: tuple[Located[OwnGang], ...] = ()
    autoscalers: tuple[Autoscaler, ...] = ()
    complete: bool = False
    """All files of the scope are known; otherwise rules must not rely on absence or sums."""
    others: tuple[Located[Any], ...] = ()
    """Facts of the targets' fact readers."""
    unreadable: UnreadableText = UnreadableText(frozenset())
    """The words of all unreadable documents."""

    def of(self, kind: type[T]) -> tuple[Located[T], ...]:
        """The facts of one type, from the fact readers."""
        return tuple(located for located in self.others if type(located.value) is kind)

    def may_hold(self, name: str) -> bool:
        """Whether an unreadable document contains a name, so that a missing object may be defined there."""
        return self.unreadable.words is None or name in self.unreadable.words


@dataclass(frozen=True, slots=True)
class FactField:
    """Location of a violation in a scope. Patches of its fix start at the root of the fact's document."""

    fact: Located[Any]
    field: str

    @property
    def place(self) -> Place:
        """Where the field stands. Raises KeyError where the fact has no such field."""
        return self.fact.place(self.field)


def facts_of(
    located: LocatedObject,
    pod_sets: Sequence[PodSet],
    targets: Sequence[Target],
    readers: Sequence[FactReader],
    context: Context,
) -> list[AnyFact]:
    """The facts of one manifest; the context has its file and default namespace."""
    return [
        *_about_gangs(located, pod_sets, targets, context),
        *_from_readers(located, pod_sets, readers, context),
    ]


def scope_of(facts: Iterable[AnyFact], *, complete: bool) -> Scope:
    """The scope with these facts, grouped by type."""
    everything = list(facts)
    located = [fact for fact in everything if isinstance(fact, Located)]
    return Scope(
        tuple(fact for fact in located if isinstance(fact.value, PodGroup)),
        tuple(fact for fact in located if isinstance(fact.value, Membership)),
        tuple(fact for fact in located if isinstance(fact.value, OwnGang)),
        tuple(fact for fact in everything if isinstance(fact, Autoscaler)),
        complete,
        tuple(fact for fact in located if not isinstance(fact.value, (PodGroup, Membership, OwnGang))),
        _joined_words(fact for fact in everything if isinstance(fact, UnreadableText)),
    )


def _joined_words(documents: Iterable[UnreadableText]) -> UnreadableText:
    found: set[str] = set()
    for each in documents:
        if each.words is None:
            return each
        found |= each.words
    return UnreadableText(frozenset(found))


def unreadable(text: str) -> UnreadableText:
    """The words of a document that cannot be interpreted."""
    found = frozenset(_WORD.findall(text))
    return UnreadableText(found if len(found) <= _MOST_WORDS else None)


def _about_gangs(
    located: LocatedObject, pod_sets: Sequence[PodSet], targets: Sequence[Target], context: Context
) -> Iterator[AnyFact]:
    manifest, namespace = located.manifest, context.namespace
    if manifest.read_as:
        return
    if (scaler := autoscaling.read(manifest, namespace)) is not None:
        yield scaler
    wrapped = wrapped_objects(manifest, "PodGroup")
    groups = (manifest,) if manifest.kind == "PodGroup" else wrapped
    for target in targets:
        for each in groups if target.read_group else ():
            if target.read_group and (group := target.read_group(each, manifest.namespace or namespace)):
                about = located._replace(manifest=each)
                yield _locate(Fact(group, _GROUP_FIELDS), about, context.path)
        for pod_set in pod_sets if target.read_membership else ():
            if target.read_membership and (joined := target.read_membership(manifest, pod_set, namespace)):
                places = {"group": joined.group, "min_member": joined.min_member}
                yield _locate(Fact(joined.membership, places), located, context.path)
    for gang, place in oversized(manifest, pod_sets, targets, namespace):
        yield _locate(Fact(gang, {"min_member": place}), located, context.path)
    if not pod_sets and (wrapped or _joins_unseen(manifest, targets)):
        yield UnreadableText(words(manifest.data).texts)


def _joins_unseen(manifest: Manifest, targets: Sequence[Target]) -> bool:
    """Whether an object of somebody's own kind holds metadata of pods that join a gang."""
    if "." not in manifest.group or manifest.group.endswith("k8s.io") or manifest.kind == "PodGroup":
        return False
    keys = (key.key for target in targets for key in target.keys if key.purpose == "gang")
    return not words(manifest.data).keys.isdisjoint(keys)


def _from_readers(
    located: LocatedObject, pod_sets: Sequence[PodSet], readers: Sequence[FactReader], context: Context
) -> Iterator[AnyFact]:
    for reader in readers:
        for fact in reader.facts(located, pod_sets, context):
            yield _locate(fact, located, context.path)


def _locate(fact: Fact, located: LocatedObject, path: str) -> Located[Any]:
    fields = {name: located.place(place, inside=fact.inside.get(name)) for name, place in fact.places.items()}
    about = (located.document, located.resource, fields, located.manifest.partial)
    return Located(fact.value, path, *about, fact.answers, fact.as_written)
