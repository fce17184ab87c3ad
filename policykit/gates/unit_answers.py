"""Pod sets of a run as its clusters apply them: built where a kustomization or chart makes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from policykit.errors import Failures, SourceError
from policykit.gates.pod_gates import Answer, PodGates
from policykit.linter.builds.kustomization import BuiltKustomization
from policykit.linter.builds.locations import SourceLocator
from policykit.linter.builds.sources import ParsedTexts
from policykit.linter.member import TEXT, Member
from policykit.linter.scope import AnyFact, scope_of
from policykit.linter.workspace import Workspace
from policykit.model.cluster import Cluster
from policykit.namedtuple import NamedTuple
from policykit.placement.review import Review

ReadReviews = Callable[[bytes, Cluster | None, str], Iterable[Review]]
"""The pod sets of a text under a policy, with the namespace of objects that set none."""
ReadFacts = Callable[[str, bytes, Cluster, str], Iterable[AnyFact]]
"""What a text contributes to its scope."""


class UnitAnswers(NamedTuple):
    """All pod sets of a run, and what could not be read."""

    found: tuple[Answer, ...]
    failures: tuple[str, ...] = ()
    patches: tuple[str, ...] = ()
    """Patches that are part of no build, and say nothing by themselves."""


def unit_answers(
    workspace: Workspace, reviews: ReadReviews, facts: ReadFacts, *, complete: bool
) -> UnitAnswers:
    """Every pod set of the files of a run, sorted by place, for each policy that judges it; policies that
    agree are reported together. `complete`: what the files do not state does not exist.
    """
    failures = Failures()
    read = _Reader(workspace, reviews, facts)
    for member in workspace.members:
        with failures.collect(member.path):
            if not (member.only == TEXT or member.partial):
                read.file(member)
    for build in workspace.builds:
        with failures.collect(build.shown):
            read.build(build)
    patches = [member.path for member in workspace.members if member.partial and member.only != TEXT]
    return UnitAnswers(
        tuple(_merged(read.answers(complete=complete and not failures))), tuple(failures), tuple(patches)
    )


class _Reader:
    """Collects pod sets and facts by policy."""

    def __init__(self, workspace: Workspace, reviews: ReadReviews, facts: ReadFacts) -> None:
        self._workspace = workspace
        self._read_reviews = reviews
        self._read_facts = facts
        self._parsed = ParsedTexts()
        self._found: dict[int, list[Answer]] = {}
        self._facts: dict[int, list[AnyFact]] = {}

    def file(self, member: Member) -> None:
        """A file that is applied as it is written."""
        cluster = self._cluster(member)
        raw = self._workspace.read(member.file)
        for review in self._reviews(member, raw, cluster):
            if cluster is None:
                raise SourceError(
                    "no policy in this or any parent folder", "name one with -p, or nodes with --nodes"
                )
            self._add(member, Answer(member.path, review))
        self._add_facts(member, raw, cluster)

    def build(self, build: BuiltKustomization) -> None:
        """Objects as they are built, or a file that is applied by several policies."""
        cluster = self._cluster(build.member)
        if cluster is None:
            return
        places = SourceLocator(build, self._workspace.read, self._parsed)
        builds = () if build.file else (build.shown,)
        raw = self._workspace.read(build.member.file)
        for review in self._reviews(build.member, raw, cluster):
            place = places.of_object(review.manifest, review.pod_set.path)
            if place is not None:
                path, line = place
                self._add(build.member, Answer(path, review, line=line, builds=builds))
        self._add_facts(build.member, raw, cluster)

    def answers(self, *, complete: bool) -> Iterator[Answer]:
        """All pod sets with their gates."""
        for setting, found in self._found.items():
            cluster = self._workspace.settings[setting].cluster
            assert cluster is not None
            gates = PodGates(scope_of(self._facts.get(setting, ()), complete=complete), cluster)
            names = () if cluster.observed else (cluster.name,)
            for one in found:
                yield one._replace(gates=gates.of(one.review), clusters=names)

    def _add(self, member: Member, answer: Answer) -> None:
        self._found.setdefault(member.setting, []).append(answer)

    def _add_facts(self, member: Member, raw: bytes, cluster: Cluster | None) -> None:
        if cluster is not None:
            own = self._read_facts(member.path, raw, cluster, self._namespace(member))
            self._facts.setdefault(member.setting, []).extend(own)

    def _reviews(self, member: Member, raw: bytes, cluster: Cluster | None) -> Iterable[Review]:
        return self._read_reviews(raw, cluster, self._namespace(member))

    def _cluster(self, member: Member) -> Cluster | None:
        return self._workspace.settings[member.setting].cluster

    def _namespace(self, member: Member) -> str:
        return member.namespace or self._workspace.settings[member.setting].namespace


def _merged(found: Iterable[Answer]) -> Iterator[Answer]:
    groups: dict[tuple[object, ...], list[Answer]] = {}
    for one in found:
        groups.setdefault(_verdicts(one), []).append(one)
    merged = [
        group[0]._replace(
            clusters=tuple(sorted({name for one in group for name in one.clusters})),
            builds=tuple(dict.fromkeys(build for one in group for build in one.builds)),
        )
        for group in groups.values()
    ]
    yield from sorted(merged, key=lambda one: (one.path, one.first_line))


def _verdicts(one: Answer) -> tuple[object, ...]:
    """Everything that is told of a pod set, except for whom."""
    review = one.review
    manifest, pod_set = review.manifest, review.pod_set
    return (
        (one.path, one.first_line, manifest.document, manifest.base) if not one.builds else (one.path,),
        (manifest.kind, manifest.namespace, manifest.name, pod_set.name, pod_set.path, pod_set.replicas),
        (review.workload and review.workload.name, review.decided_by, review.candidates),
        tuple(sorted(review.requests.items())),
        tuple(
            (landing.pool.name, landing.verdict, landing.reason, landing.detail, landing.score)
            for landing in review.landings
        ),
        one.gates,
    )
