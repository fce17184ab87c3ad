"""A pod asks for cards in two ways that exclude each other, or for an amount its plugin does not take.

Names that stand for the same cards (whole cards and slices, an amount and a percentage) are
alternatives: a pod that asks for both waits for a node that has both, or one of them is ignored.
Parts of cards, boards and network devices have numbers of their own, and a container that asks for
a card keeps it to itself: few of these faults are refused before a pod starts.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.catalogue import amounts, tpu
from policykit.catalogue.resources import alternatives, resource
from policykit.kube.requests import containers, requested
from policykit.linter.rule import Context, Rule, Violation
from policykit.model.severity import Severity
from policykit.placement.card_requests import request_path
from policykit.placement.review import Review
from policykit.rules.resources import kai_fractions
from policykit.rules.resources.device_counts import unlikely_counts
from policykit.rules.resources.tpu_slices import topology_problem
from policykit.targets import system_of
from policykit.targets.kai.names import DIALECT as KAI

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
    """Koordinator's combinations and Volcano's amounts are their own rules'."""
    yield from _pairs(review)
    yield from _amounts(review)
    yield from _above_the_card(review)
    yield from _foreign_scheduler(review)
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
            f"asks for {one} and {other}, which are two ways to ask for the same cards",
            "ask for one of the two",
            # Few nodes offer both, but some may.
            Severity.WARNING if devices else None,
        )


def _amounts(review: Review) -> Iterator[Violation]:
    for field, position, container in containers(review.pod_set.spec):
        asked = {name: amount for name, amount in requested(container).items() if amount > 0}
        for fault in amounts.faults(asked):
            limits = container["resources"].get("limits")
            side = "limits" if isinstance(limits, dict) and fault.name in limits else "requests"
            yield Violation(
                review.pod_set.place(field, position, "resources", side, fault.name),
                f"{fault.name} {fault.predicate}",
                fault.help,
                fault.severity,
            )


def _above_the_card(review: Review) -> Iterator[Violation]:
    """HAMi's memory of a card against the largest card of its maker in the policy."""
    name = "nvidia.com/gpumem"
    asked = review.requests.get(name, 0)
    cards = review.cluster.cards.values() if review.cluster else ()
    sizes = [card.memory_mib for card in cards if card.resource == "nvidia.com/gpu"]
    largest = max((size for size in sizes if size is not None), default=0)
    if largest and None not in sizes and asked > largest:
        yield Violation(
            request_path(review.pod_set, name),
            f"{name} is {asked} MiB of one card, the largest card of the policy has {largest}",
            "ask for less, or for more cards",
            Severity.WARNING,
        )


def _foreign_scheduler(review: Review) -> Iterator[Violation]:
    """The webhook puts its own over none and over the default one: another that is written stays."""
    names = [name for name in review.card_resources if _vendor(name) == _HAMI]
    scheduler = review.pod_set.scheduler_name
    system = system_of(scheduler, review.cluster) if scheduler != _HAMI_SCHEDULER else None
    if names and system not in (None, "kubernetes"):
        yield Violation(
            request_path(review.pod_set, names[0]),
            f"{names[0]} is counted by HAMi's scheduler, but schedulerName is {scheduler}",
            f"delete schedulerName (HAMi's webhook writes {_HAMI_SCHEDULER}), or ask for whole cards",
            Severity.WARNING,
        )


def _fractions(review: Review) -> Iterator[Violation]:
    """KAI's annotations, unless another scheduler is named."""
    if review.pod_set.scheduler_name in KAI.schedulers:
        for each in kai_fractions.violations(review.pod_set.annotations, review.requests):
            yield each._replace(path=review.pod_set.place("annotations", *map(str, each.path)))


def _slices(review: Review) -> Iterator[Violation]:
    topology, problem = topology_problem(review)
    if problem:
        yield Violation(
            review.pod_set.place("nodeSelector", tpu.TOPOLOGY),
            f"topology {topology} {problem}",
            "pods times chips of a pod are the product of the topology's numbers",
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
