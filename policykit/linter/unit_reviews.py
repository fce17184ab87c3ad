"""Pod sets of a run as its clusters apply them: built where a kustomization or chart makes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from policykit.errors import Failures, SourceError
from policykit.linter.builds.kustomization import BuiltKustomization
from policykit.linter.builds.locations import SourceLocator
from policykit.linter.member import TEXT, Member
from policykit.linter.workspace import Workspace
from policykit.model.cluster import Cluster
from policykit.placement.review import Review

ReadReviews = Callable[[bytes, Cluster | None, str], Iterable[Review]]
"""The pod sets of a text under a policy, with the namespace of objects that set none."""


class UnitReview(NamedTuple):
    """A pod set under the policies that lead to the same verdicts."""

    path: str
    """Of the file that it is written in, as reported."""
    line: int
    review: Review
    clusters: tuple[str, ...] = ()
    """Names of those policies, sorted."""
    builds: tuple[str, ...] = ()
    """Folders that it is built from, as reported; empty: it is applied as it is written."""


class UnitReviews(NamedTuple):
    """All pod sets of a run, and what could not be read."""

    found: tuple[UnitReview, ...]
    failures: tuple[str, ...] = ()
    patches: tuple[str, ...] = ()
    """Patches that are part of no build, and say nothing by themselves."""


def unit_reviews(workspace: Workspace, reviews: ReadReviews) -> UnitReviews:
    """Every pod set of the files of a run, sorted by place, for each policy that judges it."""
    failures = Failures()
    found: list[UnitReview] = []
    for member in workspace.members:
        with failures.collect(member.path):
            found += () if member.only == TEXT or member.partial else _of_file(workspace, member, reviews)
    for build in workspace.builds:
        with failures.collect(build.shown):
            found += _of_build(workspace, build, reviews)
    patches = [member.path for member in workspace.members if member.partial and member.only != TEXT]
    return UnitReviews(tuple(_merged(found)), tuple(failures), tuple(patches))


def as_written(path: str, review: Review) -> UnitReview:
    """A pod set of the file of that path."""
    return UnitReview(path, review.manifest.span(review.pod_set.path).line, review)


def _of_file(workspace: Workspace, member: Member, reviews: ReadReviews) -> Iterator[UnitReview]:
    cluster, names = _cluster(workspace, member)
    for review in reviews(workspace.read(member.file), cluster, _namespace(workspace, member)):
        if cluster is None:
            raise SourceError(
                "no policy in this or any parent folder", "name one with -p, or nodes with --nodes"
            )
        yield as_written(member.path, review)._replace(clusters=names)


def _of_build(workspace: Workspace, build: BuiltKustomization, reviews: ReadReviews) -> Iterator[UnitReview]:
    cluster, names = _cluster(workspace, build.member)
    if cluster is None:
        return
    places = SourceLocator(build, workspace.read)
    builds = () if build.file else (build.shown,)
    raw = workspace.read(build.member.file)
    for review in reviews(raw, cluster, _namespace(workspace, build.member)):
        place = places.of_object(review.manifest, review.pod_set.path)
        if place is not None:
            yield UnitReview(*place, review, names, builds)


def _cluster(workspace: Workspace, member: Member) -> tuple[Cluster | None, tuple[str, ...]]:
    cluster = workspace.settings[member.setting].cluster
    return cluster, (cluster.name,) if cluster and not cluster.observed else ()


def _namespace(workspace: Workspace, member: Member) -> str:
    return member.namespace or workspace.settings[member.setting].namespace


def _merged(found: Iterable[UnitReview]) -> Iterator[UnitReview]:
    groups: dict[tuple[object, ...], list[UnitReview]] = {}
    for one in found:
        groups.setdefault(_verdicts(one), []).append(one)
    merged = [
        group[0]._replace(
            clusters=tuple(sorted({name for one in group for name in one.clusters})),
            builds=tuple(dict.fromkeys(build for one in group for build in one.builds)),
        )
        for group in groups.values()
    ]
    yield from sorted(merged, key=lambda one: (one.path, one.line))


def _verdicts(one: UnitReview) -> tuple[object, ...]:
    """Everything that is told of a pod set, except for whom."""
    review = one.review
    manifest, pod_set = review.manifest, review.pod_set
    return (
        (
            one.path,
            one.line,
            manifest.kind,
            manifest.namespace,
            manifest.name,
            pod_set.name,
            pod_set.replicas,
        ),
        (review.workload and review.workload.name, review.decided_by, review.candidates),
        tuple(sorted(review.requests.items())),
        tuple(
            (landing.pool.name, landing.verdict, landing.reason, landing.detail, landing.score)
            for landing in review.landings
        ),
        bool(one.builds),
    )
