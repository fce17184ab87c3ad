"""Pod sets of a run as its clusters apply them: built where a kustomization or chart makes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from policykit.errors import Failures, SourceError
from policykit.gates.pod_gates import Answer, PodGates
from policykit.linter.builds.locations import SourceLocator
from policykit.linter.builds.source_files import ParsedTexts
from policykit.linter.input_file import TEXT, BuiltKustomization, InputFile
from policykit.linter.scope import AnyFact, LocatedFact, scope_of, with_runtime_classes
from policykit.linter.workspace import Workspace
from policykit.model.cluster import Cluster
from policykit.model.pod_admission import RuntimeClassUse
from policykit.namedtuple import NamedTuple
from policykit.placement.review import Review

ReadReviews = Callable[[bytes, Cluster | None, str, str], Iterable[Review]]
"""The pod sets of a text under a policy, with the namespace of objects that set none, and its path."""
ReadFacts = Callable[[str, bytes, Cluster, str], Iterable[AnyFact]]
"""What a text contributes to its scope."""
Locate = Callable[[Review], Answer | None]
"""Where a pod set is reported; None: nowhere."""


class AppliedPodSets(NamedTuple):
    """All pod sets of a run, and what could not be read."""

    found: tuple[Answer, ...]
    failures: tuple[str, ...] = ()
    patches: tuple[str, ...] = ()
    """Patches that are part of no build, and say nothing by themselves."""


def applied_pod_sets(
    workspace: Workspace, reviews: ReadReviews, facts: ReadFacts, *, complete: bool
) -> AppliedPodSets:
    """Every pod set of the files of a run, sorted by place, for each policy that judges it; policies that
    agree are reported together. `complete`: what the files do not state does not exist.
    """
    failures = Failures()
    read = _Reader(workspace, reviews, facts)
    files = [
        input_file
        for input_file in workspace.input_files
        if not (input_file.only == TEXT or input_file.partial)
    ]
    for input_file in files:
        with failures.collect(input_file.path):
            read.file(input_file)
    for build in workspace.builds:
        with failures.collect(build.shown):
            read.build(build)
    for shown, review in read.postponed():
        with failures.collect(shown):
            review()
    patches = [
        input_file.path
        for input_file in workspace.input_files
        if input_file.partial and input_file.only != TEXT
    ]
    return AppliedPodSets(
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
        self._clusters: dict[int, Cluster | None] = {}
        self._postponed: list[tuple[str, InputFile, Locate]] = []

    def file(self, input_file: InputFile) -> None:
        """A file that is applied as it is written."""
        self._read(input_file.path, input_file, lambda review: Answer(input_file.path, review))

    def build(self, build: BuiltKustomization) -> None:
        """Objects as they are built, or a file that is applied by several policies."""
        if self._workspace.settings[build.input_file.setting].cluster is None:
            return
        places = SourceLocator(build, self._workspace.read, self._parsed)
        builds = () if build.file else (build.shown,)

        def located(review: Review) -> Answer | None:
            place = places.of_object(review.manifest, review.pod_set.path)
            return Answer(place[0], review, line=place[1], builds=builds) if place else None

        self._read(build.shown, build.input_file, located)

    def postponed(self) -> Iterator[tuple[str, Callable[[], None]]]:
        """Files with pods that name a RuntimeClass, each with how to review it once all files are read: what
        the class adds to the pods may be in any of them."""
        for shown, input_file, locate in self._postponed:
            yield shown, partial(self._review, input_file, locate, self._cluster(input_file.setting))

    def _read(self, shown: str, input_file: InputFile, locate: Locate) -> None:
        cluster, raw = (
            self._workspace.settings[input_file.setting].cluster,
            self._workspace.read(input_file.file),
        )
        if cluster is not None:
            own = tuple(self._read_facts(input_file.path, raw, cluster, self._namespace(input_file)))
            self._facts.setdefault(input_file.setting, []).extend(own)
            if any(isinstance(one, LocatedFact) and isinstance(one.value, RuntimeClassUse) for one in own):
                self._postponed.append((shown, input_file, locate))
                return
        self._review(input_file, locate, cluster, raw)

    def _review(
        self, input_file: InputFile, locate: Locate, cluster: Cluster | None, raw: bytes | None = None
    ) -> None:
        raw = self._workspace.read(input_file.file) if raw is None else raw
        for review in self._read_reviews(raw, cluster, self._namespace(input_file), input_file.path):
            if cluster is None:
                raise SourceError(
                    "no policy in this or any parent folder", "name one with -p, or nodes with --nodes"
                )
            if answer := locate(review):
                self._found.setdefault(input_file.setting, []).append(answer)

    def answers(self, *, complete: bool) -> Iterator[Answer]:
        """All pod sets with their gates."""
        for setting, found in self._found.items():
            cluster = self._cluster(setting)
            assert cluster is not None
            gates = PodGates(scope_of(self._facts.get(setting, ()), complete=complete), cluster)
            names = () if cluster.observed else (cluster.name,)
            for one in found:
                yield one._replace(gates=gates.of(one.review), clusters=names)

    def _cluster(self, setting: int) -> Cluster | None:
        """The policy of a setting, with the RuntimeClasses of all its files."""
        if setting not in self._clusters:
            stated = self._workspace.settings[setting].cluster
            self._clusters[setting] = stated and with_runtime_classes(stated, self._facts.get(setting, ()))
        return self._clusters[setting]

    def _namespace(self, input_file: InputFile) -> str:
        return input_file.namespace or self._workspace.settings[input_file.setting].namespace


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
    """Everything that is reported of a pod set, except for which policy."""
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
