"""What KAI-Scheduler adds to the rules about all systems: fractions of a card, requested by annotation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from policykit.gates.card_parts import missing
from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Violation
from policykit.model.severity import Severity
from policykit.placement.review import Review
from policykit.targets.kai import FRACTION, MEMORY, SCHEDULER

_FORMS = {
    FRACTION: 'its value is a part of a card, such as "0.5"',
    MEMORY: 'its value is a whole number of MiB, such as "8192"',
}
_CARD = "nvidia.com/gpu"


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Pods that KAI schedules."""
    if review.pod_set.scheduler_name == SCHEDULER:
        for each in violations(review.pod_set.annotations, review.requests):
            yield each._replace(at=review.pod_set.place("annotations", *map(str, each.path)))
        for key in (FRACTION, MEMORY):
            if key in review.pod_set.labels and key not in review.pod_set.annotations:
                yield Violation(
                    review.pod_set.place("labels", key),
                    f"{key} is a label, but KAI-Scheduler reads it as an annotation: the pod requests no "
                    "part of a card",
                    "move it to the annotations",
                    Severity.WARNING,
                    key=True,
                )
        found = missing(review, context.cluster) if context.cluster is not None else None
        if found is not None:
            advice = "select pools with such cards and tolerate their taints, or request less"
            yield Violation(review.pod_set.place("annotations", found.key), found.message, advice)


def violations(annotations: Mapping[str, str], requested: Mapping[str, int]) -> Iterator[Violation]:
    """Problems that KAI refuses, with paths below the annotations; `requested`: the resources of the pod.

    Source: NVIDIA/KAI-Scheduler pkg/binder/plugins/gpusharing/gpu-request/gpu_request_validator.go.
    """
    there = [key for key in (FRACTION, MEMORY) if key in annotations]
    if FRACTION in there and not is_placeholder(annotations[FRACTION]):
        value = _number(annotations[FRACTION])
        if value is None or not 0 < value < 1:
            yield Violation(
                (FRACTION,),
                f"{FRACTION} is {annotations[FRACTION]!r}, but must be above 0 and below 1",
                'write a fraction such as "0.5", or request whole cards under limits',
            )
    if MEMORY in there and not is_placeholder(annotations[MEMORY]):
        value = _number(annotations[MEMORY])
        if value is None or value <= 0 or value != int(value):
            yield Violation(
                (MEMORY,),
                f"{MEMORY} is {annotations[MEMORY]!r}, but must be a whole number of MiB above 0",
                'write the plain number, quoted: "8192"',
            )
    for key in annotations if not there else ():
        meant = _MEANT.get(_words(key))
        if meant and key != meant:
            yield Violation(
                (key,),
                f"KAI-Scheduler does not read the annotation {key}: the pod requests no part of a card",
                f"did you mean {meant}? {_FORMS[meant]}",
                Severity.WARNING,
                key=True,
            )
    if len(there) > 1:
        message = f"{FRACTION} and {MEMORY} are both set, but KAI accepts only one"
        yield Violation((MEMORY,), message, "delete one of the two")
    if there and requested.get(_CARD):
        yield Violation(
            (there[0],),
            f"{there[0]} requests part of a card, but the containers request {requested[_CARD]} {_CARD}",
            "delete the annotation or the resource",
        )


def _words(key: str) -> str:
    """Of a key under any domain, its words: gpumemory of nvidia.com/gpu.memory."""
    return re.sub(_SEPARATORS, "", key.rpartition("/")[2].lower())


_SEPARATORS = r"[-_.]"
_MEANT = {
    **{f"gpu{word}": FRACTION for word in ("fraction", "fractions", "portion", "share")},
    **{f"gpu{word}": MEMORY for word in ("memory", "mem", "memorymib", "memorymb")},
}


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None
