"""No node can match a nodeSelector or a required node affinity term.

All expressions of a term must hold; a term without expressions matches nothing; Gt and Lt compare
integers only, so `80GB` never matches. A value that no pool has cannot match either.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from policykit.catalogue import labels
from policykit.kube import selectors
from policykit.kube.affinity import PREFERRED, Term
from policykit.kube.placeholders import is_placeholder, stands_for_label
from policykit.kube.selectors import Requirement, int64, problem
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.path import Path
from policykit.model.severity import Severity
from policykit.nearest import Names, nearest
from policykit.placement.label_values import REQUIRED_TERMS, contradiction
from policykit.placement.policy_labels import is_known_for_every_pool, known_values
from policykit.placement.review import Review
from policykit.rules.placement.card_memory import beyond_all_cards

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train
spec:
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
          - matchExpressions:
              - {key: nvidia.com/gpu.memory, operator: Gt, values: [80GB]}
  containers:
    - name: main
      image: registry.example/train:1
"""

GOOD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train
spec:
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
          - matchExpressions:
              - {key: nvidia.com/gpu.memory, operator: Gt, values: ["80000"]}
  containers:
    - name: main
      image: registry.example/train:1
"""

_OPERATORS = frozenset({"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"})
_ADVICE = "correct the expression, or remove the term"

_CLIQUE = "nvidia.com/gpu.clique"
_MEMORY = "nvidia.com/gpu.memory"
_PRODUCT = "nvidia.com/gpu.product"
_CHIP = "enflame.com/gcu.product"
_UNPARTITIONED = "-MIG-INVALID"
_NEAR = 20
"""A nominal size differs from the reported size by at most a twentieth."""


def check(review: Review, context: Context) -> Iterator[Violation]:
    """An error if no term can match; a warning if another term still can."""
    unknown = [*_unknown_pairs(review)]
    yield from (_pair_violation(review, key) for key in unknown)
    if review.affinity.selector or review.affinity.required:
        yield from _impossible_values(review)
    yield from _refused(review)
    terms = review.affinity.required
    if terms is None:
        return
    if not terms:
        path = review.pod_set.place("affinity", *REQUIRED_TERMS)
        yield Violation(path, "a required node affinity without terms matches no node", _ADVICE)
    selector = review.affinity.selector.items()
    pairs = {key: value for key, value in selector if key not in unknown and not is_placeholder(value)}
    dead = [_impossible_condition(review, pairs, term) for term in terms]
    certain = all(dead) and not any(_may_be_elsewhere(review, term) for term in terms)
    for at, why in enumerate(dead):
        if why is not None:
            path, message = why
            yield Violation(
                review.pod_set.place("affinity", *REQUIRED_TERMS, at, *path),
                message,
                _ADVICE,
                None if certain else Severity.WARNING,
            )


def _refused(review: Review) -> Iterator[Violation]:
    """The API server validates preferred terms like required ones."""
    for position, preference in enumerate(review.affinity.preferred):
        for at, requirement in enumerate(preference.term.expressions):
            problem = selectors.operands_problem(requirement)
            if problem and requirement.operator in _OPERATORS and not _is_filled_in(requirement):
                path = ("affinity", "nodeAffinity", PREFERRED, position, "preference", "matchExpressions", at)
                yield Violation(
                    review.pod_set.place(*path), f"this expression can never match: {problem}", _ADVICE
                )


def _unknown_pairs(review: Review) -> Iterator[str]:
    """Keys of the nodeSelector whose value no pool has."""
    for key, value in review.affinity.selector.items():
        if review.cluster is not None and _no_pool_has(review, review.cluster, key, (value,)):
            yield key


def _pair_violation(review: Review, key: str) -> Violation:
    value, known = review.affinity.selector[key], _known(review, key)
    return Violation(
        review.pod_set.place("nodeSelector", key),
        f"no pool has {key}={value}: {_there(known)}",
        _closest(known, value),
        None if _is_certain(review, key, (value,)) else Severity.WARNING,
    )


def _is_certain(review: Review, key: str, values: Sequence[str]) -> bool:
    """Whether no other pool may have a value. A policy of some pools knows its usages, and where pods with
    cards go; of others only a value that is nearly a known one is certainly wrong."""
    from policykit.placement.unlisted_cards import is_confined

    cluster = review.cluster
    if cluster is None or is_confined(review) or cluster.observed or key == cluster.usage_key:
        return True
    return any(map(Names(_known(review, key)).misspelt, values))


def _impossible_condition(review: Review, pairs: Mapping[str, str], term: Term) -> tuple[Path, str] | None:
    """(path below the term, message) of the condition that cannot hold; None if a node could match."""
    if not term.expressions and not term.fields:
        return (), "a term without expressions matches no node"
    cluster = review.cluster
    written = [(at, one) for at, one in enumerate(term.expressions) if not _is_filled_in(one)]
    for at, requirement in written:
        path = ("matchExpressions", at)
        problem = selectors.problem(requirement)
        if problem:
            return path, f"this expression can never match: {problem}"
        values = requirement.values
        if (
            cluster is not None
            and requirement.operator == "In"
            and _no_pool_has(review, cluster, requirement.key, values)
        ):
            there = _there(_known(review, requirement.key))
            return (*path, "values"), f"no pool has {requirement.key} in [{', '.join(values)}]: {there}"
    clash = contradiction(pairs, [requirement for _, requirement in written])
    if clash is None:
        return None
    at, earlier = clash
    position, requirement = written[at]
    return ("matchExpressions", position), f"{requirement} and {earlier} can never both hold"


def _may_be_elsewhere(review: Review, term: Term) -> bool:
    """Whether a pool that the policy does not list may have the value of an expression."""
    cluster = review.cluster
    return cluster is not None and any(
        one.operator == "In"
        and _no_pool_has(review, cluster, one.key, one.values)
        and not _is_certain(review, one.key, one.values)
        for one in term.expressions
    )


def _is_filled_in(requirement: Requirement) -> bool:
    """Whether a part of it is a placeholder."""
    return any(map(is_placeholder, (requirement.key, requirement.operator, *requirement.values)))


def _no_pool_has(review: Review, cluster: Cluster, key: str, values: Sequence[str]) -> bool:
    """Whether the value of every pool is known for this key of the policy, and is none of these.

    PK106 reports products. If the policy may not list every pool, zones and instance types are
    checked only for pods covered by it, and names of pools not at all.
    """
    if labels.names_pool(key) and not (cluster.complete or cluster.observed):
        return False
    if any(key == card.product_key for card in cluster.cards.values()) or not is_known_for_every_pool(
        cluster, key
    ):
        return False
    if any(map(stands_for_label, values)):
        return False
    if not review.is_covered and (labels.well_known(key) or labels.provider(key)):
        return False
    return not known_values(cluster, key).intersection(values)


def _known(review: Review, key: str) -> list[str]:
    return sorted(known_values(review.cluster, key)) if review.cluster else []


def _there(known: list[str]) -> str:
    listed = ", ".join(value or '""' for value in known)
    return f"the pools have {listed}" if known else "no pool has that label"


def _closest(known: list[str], value: str) -> str:
    near = nearest(value, tuple(known))
    return f"did you mean {near}?" if near else "select a value that a pool has"


def _impossible_values(review: Review) -> Iterator[Violation]:
    """In the node selector and every required expression. Values of the pools are always accepted."""
    terms = review.affinity.required or ()
    for key, value in review.affinity.selector.items():
        requirement = Requirement(key, "In", (value,))
        yield from _impossible(review, requirement, review.pod_set.place("nodeSelector", key), alone=True)
    for term_at, term in enumerate(terms):
        for at, requirement in enumerate(term.expressions):
            path = review.pod_set.place("affinity", *REQUIRED_TERMS, term_at, "matchExpressions", at)
            yield from _impossible(review, requirement, path, alone=len(terms) == 1)


def _impossible(review: Review, requirement: Requirement, path: Path, *, alone: bool) -> Iterator[Violation]:
    is_open = any(map(is_placeholder, requirement.values)) or problem(requirement)
    if is_open or _in_policy(review, requirement):
        return
    found = _by_itself(requirement)
    for find in (_unpartitioned, _nominal, _memory, _clique):
        found = found or find(review, requirement)
    if found is not None:
        message, advice, certain = found
        # It is only probably wrong if another term may match or other vendors may have such nodes.
        yield Violation(path, message, advice, None if certain and alone else Severity.WARNING)


@lru_cache(maxsize=1024)  # a tree selects the same values many times
def _by_itself(requirement: Requirement) -> _Problem:
    """What is wrong whatever the pods are."""
    return _text(requirement) or _number(requirement) or _foreign_form(requirement) or _chip(requirement)


_Problem = tuple[str, str, bool] | None


def _in_policy(review: Review, requirement: Requirement) -> bool:
    """Whether a pool has one of the values: labels can be set by hand."""
    cluster = review.cluster
    return cluster is not None and bool(
        known_values(cluster, requirement.key).intersection(requirement.values)
    )


def _text(requirement: Requirement) -> _Problem:
    if requirement.operator not in ("Gt", "Lt") or labels.label_format(requirement.key) != "text":
        return None
    message = (
        f"{requirement.operator} compares integers, but {requirement.key} contains text: no node matches"
    )
    return message, "select the values with operator In", True


def _number(requirement: Requirement) -> _Problem:
    if requirement.operator != "In" or labels.label_format(requirement.key) != "integer":
        return None
    if any(int64(value) is not None for value in requirement.values):
        return None
    message = f"{requirement.key} contains integers (memory in MiB), never {requirement.values[0]!r}"
    return message, f"copy the value from a node: kubectl get nodes -L {requirement.key}", True


def _foreign_form(requirement: Requirement) -> _Problem:
    """The device name for a label to which the cloud writes names of its own."""
    there = labels.provider_values(requirement.key)
    if requirement.operator != "In" or not there or any(value in there for value in requirement.values):
        return None
    from policykit.catalogue.cards import product

    if any(product(value) is None for value in requirement.values):
        return _shortened(requirement, there)
    message = f"{requirement.key} is set by the cloud, which has no value {requirement.values[0]!r}"
    return message, f"its values: {', '.join(there)}", True


def _shortened(requirement: Requirement, there: Sequence[str]) -> _Problem:
    """A value with a part left out, or one too many: nvidia-a100 for nvidia-tesla-a100."""
    value = requirement.values[0]
    parts = frozenset(value.split("-"))
    meant = [one for one in there if parts < (own := frozenset(one.split("-"))) or own < parts]
    if len(requirement.values) > 1 or len(parts) < 2 or not meant:
        return None
    return (
        f"{requirement.key} is set by the cloud, which has no value {value!r}",
        f"did you mean {meant[0]}?",
        False,
    )


def _chip(requirement: Requirement) -> _Problem:
    if requirement.key != _CHIP or requirement.operator != "In":
        return None
    from policykit.catalogue.cards import product

    for value in requirement.values:
        card = product(value)
        chip = card.facts.get("chip_label") if card is not None else None
        if chip:
            message = f"{_CHIP} names the chip ({chip}), not the card {value}"
            return message, f"select enflame.com/gcu.model: {value}, or the chip {chip}", True
    return None


def _unpartitioned(review: Review, requirement: Requirement) -> _Problem:
    """Only without a policy: with one, another rule checks the value."""
    if review.cluster is not None or requirement.key != _PRODUCT or requirement.operator != "In":
        return None
    if not review.card_resources or not all(value.endswith(_UNPARTITIONED) for value in requirement.values):
        return None
    message = f"{requirement.values[0]} marks nodes whose cards could not be partitioned: they offer no cards"
    return message, "select the value of nodes with the intended partitions", True


def _nominal(review: Review, requirement: Requirement) -> _Problem:
    if requirement.key != _MEMORY or requirement.operator != "In":
        return None
    numbers = [number for value in requirement.values if (number := int64(value)) is not None]
    sizes = _reported_memory(review.products or _selected(review))
    if any(number in sizes for number in numbers) or len(numbers) != 1 or numbers[0] % 1024:
        return None  # what is not a whole number of GiB was read from a node
    near = [size for size in sizes if abs(size - numbers[0]) * _NEAR <= size]
    if not near:
        return None
    closest = min(near, key=lambda size: (abs(size - numbers[0]), size))
    message = f"no card reports {numbers[0]} MiB: {sizes[closest]} reports {closest}"
    return (
        message,
        f"compare with operator Gt, or select {_PRODUCT}: the value depends on the driver version",
        False,
    )


def _memory(review: Review, requirement: Requirement) -> _Problem:
    return beyond_all_cards(review.cluster, requirement)


def _reported_memory(chosen: tuple[str, ...]) -> dict[int, str]:
    """Reported memory in MiB and a product label that reports it, of the chosen cards or else of all."""
    from policykit.catalogue.cards import products, variant

    named = [known.product for value in chosen if (known := variant(value)) is not None]
    cards = named or [each for each in products() if each.vendor == "nvidia"]
    found: dict[int, str] = {}
    for card in cards:
        sizes = [(size, card.product) for size in (card.memory_mib, *card.memory_seen)]
        sizes += [(size, one.product) for one in card.slices for size in (one.memory_mib, *one.memory_seen)]
        for size, name in sizes:
            if size is not None:
                found.setdefault(size, name)
    return found


def _clique(review: Review, requirement: Requirement) -> _Problem:
    if requirement.key != _CLIQUE or requirement.operator not in ("In", "Exists"):
        return None
    from policykit.catalogue.cards import variant

    for value in review.products or _selected(review):
        card = variant(value)
        if card is not None and not card.product.clique:
            message = f"nodes with {value} have no {_CLIQUE}, which identifies NVLink domains across nodes"
            return message, "delete the expression, or select a card with NVLink between nodes", False
    return None


def _selected(review: Review) -> tuple[str, ...]:
    from policykit.placement.recognition import selected_values

    return selected_values(review.affinity, _PRODUCT)


RULE = Rule(
    code="PK107",
    name="unsatisfiable-affinity",
    severity=Severity.ERROR,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=("odeSelector", "node.selector", "ffinity"),
    silences_as_error=frozenset({"PK101", "PK110", "PK203"}),
)
