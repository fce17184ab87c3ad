"""Faults that are not found, and why: every miss has a row here, and every row a miss."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tests.mutation.measure import Try


class Miss(NamedTuple):
    """A class of misses."""

    faults: tuple[str, ...]
    objects: tuple[str, ...]
    """Kinds of the objects."""
    why: str

    def covers(self, one: Try) -> bool:
        return one.kind in self.faults and one.place.partition(":")[0] in self.objects


MISSES: tuple[Miss, ...] = (
    Miss(
        ("the scheduler is not named",),
        ("DynamoGraphDeployment", "MPIJob", "ModelServing", "RayJob", "RayService", "RayCluster"),
        "the operator fills in its scheduler's name, by itself or as it was started: no file shows which",
    ),
    Miss(
        ("another scheduler is named",),
        ("RayJob", "RayService", "RayCluster"),
        "an operator that was started with a batch scheduler writes its name over the one that is there, "
        "and no file shows whether it was",
    ),
    Miss(
        ("a misspelt imagePullPolicy",),
        ("Reservation",),
        "no pod is made from its template: koord-scheduler only counts what it asks for",
    ),
    Miss(
        ("a field is misspelt",),
        ("RayService",),
        "rayStartParams is a free map: any key is an argument of `ray start`",
    ),
    Miss(
        ("a misspelt queue", "the queue above the one that was meant"),
        ("DynamoGraphDeployment", "LLMInferenceService"),
        "their pods are grouped by Grove or LeaderWorkerSet, which have a place of their own for the queue: "
        "whether the scheduler sees the label of the pods is not known",
    ),
    Miss(
        ("a node without its taint",),
        ("JoinConfiguration",),
        "a pool without usage and card is told by labels of any meaning, which nodes of others may have",
    ),
    Miss(
        ("a scheduler configuration of an old version",),
        ("KubeSchedulerConfiguration",),
        "releases of Koordinator up to 1.4 read v1beta2, and no policy states the release",
    ),
    Miss(
        ("cards without processor and memory",),
        ("LLMInferenceService", "LLMInferenceServiceConfig"),
        "it is laid over a base, or is one itself: the other part may state them",
    ),
    Miss(
        ("cards without processor and memory",),
        ("Job",),
        "it is suspended: Kueue may still change what it asks for before it starts",
    ),
)


def unexplained(tries: Iterable[Try], rows: tuple[Miss, ...] = MISSES) -> Iterator[Try]:
    for one in tries:
        if not one.found and not any(row.covers(one) for row in rows):
            yield one


def stale(tries: Iterable[Try], rows: tuple[Miss, ...] = MISSES) -> Iterator[Miss]:
    """Rows whose faults are found by now."""
    missed = [one for one in tries if not one.found]
    yield from (row for row in rows if not any(map(row.covers, missed)))
