"""A pod requests cards by two exclusive resources, or in an amount that the device plugin refuses.

Resources for the same cards (whole cards and slices, an amount and a percentage) are alternatives: a
pod that requests both waits for a node with both, or one of them is ignored. Fractions of cards,
boards and network devices allow only certain amounts. Few of these problems are reported before a
pod starts.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.catalogue import amounts, tpu
from policykit.catalogue.resources import alternatives, resource
from policykit.kube.requests import containers, requested
from policykit.linter.rule import Context, Rule, Violation, violation_of
from policykit.model.severity import Severity
from policykit.placement.card_requests import request_path
from policykit.placement.review import Review
from policykit.rules.resources import kai_fractions
from policykit.rules.resources.device_counts import unlikely_counts
from policykit.rules.resources.tpu_slices import topology_problem
from policykit.targets import DEFAULT_SYSTEM, system_of

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: serve
spec:
  containers:
  - name: main
    image: registry.example/serve:1
    resources:
      limits:
        nvidia.com/gpu: 1
        nvidia.com/gpumem: 8000
        nvidia.com/gpumem-percentage: 50
"""

GOOD = BAD.replace("        nvidia.com/gpumem-percentage: 50\n", "")

_DEVICES = frozenset({"card", "shared", "partition"})
_KOORDINATOR = "koordinator"
_HAMI = "nvidia-hami"
_HAMI_SCHEDULER = "hami-scheduler"


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Other rules check Koordinator's combinations and Volcano's amounts."""
    yield from _pairs(review)
    yield from _amounts(review)
    yield from _card_memory(review)
    yield from _other_scheduler(review)
    yield from _fractions(review)
    yield from _slices(review)
    yield from unlikely_counts(review)


def _pairs(review: Review) -> Iterator[Violation]:
    names = (name for name, amount in review.requests.items() if amount > 0 and "/" in name)
    for one, other in alternatives(names):
        if _vendor(one) == _KOORDINATOR or _vendor(other) == _KOORDINATOR:
            continue
        devices = _role(one) in _DEVICES or _role(other) in _DEVICES
        yield Violation(
            request_path(review.pod_set, other),
            f"requests {one} and {other}, which are alternatives for the same cards",
            "request only one of the two",
            # Few nodes offer both, but some do.
            Severity.WARNING if devices else None,
        )


def _amounts(review: Review) -> Iterator[Violation]:
    for field, position, container in containers(review.pod_set.spec):
        positive = {name: amount for name, amount in requested(container).items() if amount > 0}
        for problem in amounts.amount_problems(positive):
            (name,) = problem.path
            limits = container["resources"].get("limits")
            side = "limits" if isinstance(limits, dict) and name in limits else "requests"
            message = f"{name} {problem.message}"
            path = review.pod_set.place(field, position, "resources", side)
            yield violation_of(problem._replace(message=message), path)


def _card_memory(review: Review) -> Iterator[Violation]:
    """Compares HAMi's card memory with the largest card of the vendor in the policy."""
    name = "nvidia.com/gpumem"
    requested_mib = review.requests.get(name, 0)
    cards = review.cluster.cards.values() if review.cluster else ()
    sizes = [card.memory_mib for card in cards if card.resource == "nvidia.com/gpu"]
    largest = max((size for size in sizes if size is not None), default=0)
    if largest and None not in sizes and requested_mib > largest:
        yield Violation(
            request_path(review.pod_set, name),
            f"{name} is {requested_mib} MiB of one card, but the largest card of the policy has {largest}",
            "request less memory, or more cards",
            Severity.WARNING,
        )


def _other_scheduler(review: Review) -> Iterator[Violation]:
    """HAMi's webhook sets schedulerName only if it is absent or the default."""
    names = [name for name in review.card_resources if _vendor(name) == _HAMI]
    scheduler = review.pod_set.scheduler_name
    system = system_of(scheduler, review.cluster) if scheduler != _HAMI_SCHEDULER else None
    if names and system not in (None, DEFAULT_SYSTEM):
        yield Violation(
            request_path(review.pod_set, names[0]),
            f"{names[0]} requires HAMi's scheduler, but schedulerName is {scheduler}",
            f"delete schedulerName (HAMi's webhook writes {_HAMI_SCHEDULER}), or request whole cards",
            Severity.WARNING,
        )


def _fractions(review: Review) -> Iterator[Violation]:
    """Checks KAI's annotations if KAI schedules the pod."""
    if review.pod_set.scheduler_name == kai_fractions.SCHEDULER:
        for each in kai_fractions.violations(review.pod_set.annotations, review.requests):
            yield each._replace(at=review.pod_set.place("annotations", *map(str, each.path)))


def _slices(review: Review) -> Iterator[Violation]:
    topology, problem = topology_problem(review)
    if problem:
        yield Violation(
            review.pod_set.place("nodeSelector", tpu.TOPOLOGY),
            f"topology {topology} {problem}",
            "the number of pods times the chips of a pod must equal the product of the topology dimensions",
        )


def _vendor(name: str) -> str:
    known = resource(name)
    return known.vendor if known else ""


def _role(name: str) -> str:
    known = resource(name)
    return known.role if known else ""


RULE = Rule(
    code="PK213",
    name="exclusive-card-resources",
    severity=Severity.ERROR,
    subject=Review,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
