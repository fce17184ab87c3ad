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


_OPERATORS = ("DynamoGraphDeployment", "MPIJob", "ModelServing", "RayJob", "RayService", "RayCluster")
_LOOSE = ("Reservation", "SparkConnect")

MISSES: tuple[Miss, ...] = (
    Miss(
        ("the scheduler is not named", "another scheduler is named", "an unknown scheduler is named"),
        _OPERATORS,
        "the operator writes schedulerName as it was started with, which no file shows",
    ),
    Miss(
        (
            "a block stands at the level of its key",
            "a field is misspelt",
            "a field is in lower case",
            "a mapping for a list",
            "a label key with a blank",
            "a label value with a blank",
            "a label value that is a boolean",
            "a label value that is a number",
            "a misspelt imagePullPolicy",
            "an amount that is no quantity",
            "an annotation that is a number",
        ),
        _LOOSE,
        "its CRD keeps the pod template without a schema, so the API server takes it too",
    ),
    Miss(
        ("a misspelt imagePullPolicy",),
        ("SparkApplication", "ScheduledSparkApplication"),
        "its CRD takes any text",
    ),
    Miss(
        ("a misspelt restartPolicy",),
        ("JAXJob", "PyTorchJob", "XGBoostJob"),
        "its CRD takes any text; the pods are refused later, when the operator makes them",
    ),
    Miss(
        ("a field is misspelt",),
        ("RayService",),
        "rayStartParams is a free map: any key is an argument of `ray start`",
    ),
    Miss(
        ("a container without image",),
        ("CronJob",),
        "without image it reads as a patch that changes something else of the container",
    ),
    Miss(
        ("a misspelt queue",),
        ("DynamoGraphDeployment", "LLMInferenceService"),
        "whether the operator copies the label to its pods is not known",
    ),
    Miss(
        ("a misspelt argument of a plugin",),
        ("KubeSchedulerConfiguration",),
        "fields of the arguments of kube-scheduler's own plugins are not listed",
    ),
    Miss(
        ("a scheduler configuration of an old version",),
        ("KubeSchedulerConfiguration",),
        "releases of Koordinator up to 1.4 read v1beta2, and no policy states the release",
    ),
    Miss(
        ("cards without processor and memory",),
        ("LLMInferenceService", "LLMInferenceServiceConfig"),
        "it is laid over a base, which may state them",
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
