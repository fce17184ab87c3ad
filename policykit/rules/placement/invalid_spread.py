"""A topology spread constraint is invalid or counts no pods.

The API server refuses two constraints with the same key and the same whenUnsatisfiable, and
minDomains without DoNotSchedule. It accepts a missing or empty labelSelector, which selects no
pods: the constraint then only requires the topology label on the node and spreads nothing. Nor does
one that selects other pods spread those of its own template. Where the pods may use fewer domains than
minDomains, each domain takes maxSkew pods, and the others stay pending. Where they select one value of the
topologyKey, there is nothing to spread over; with nodeAffinityPolicy Ignore the empty domains count too. A
label that marks some nodes, such as `gpu: "true"`, is one domain: a hard constraint only selects those nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube import selectors
from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.path import Path
from policykit.manifests.shape import whole
from policykit.model.severity import Severity
from policykit.nearest import some
from policykit.placement.review import Review
from policykit.placement.topology import is_of_clouds, label_values

BAD = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: serve
spec:
  selector:
    matchLabels: {app: serve}
  template:
    metadata:
      labels: {app: serve}
    spec:
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: kubernetes.io/hostname
        whenUnsatisfiable: ScheduleAnyway
        minDomains: 2
        labelSelector:
          matchLabels: {app: serve}
      containers:
      - name: main
        image: registry.example/serve:1
"""

GOOD = BAD.replace("ScheduleAnyway", "DoNotSchedule")

FIELD = "topologySpreadConstraints"
_ADDED = frozenset(
    {"apps.kubernetes.io/pod-index", "pod-template-hash", "statefulset.kubernetes.io/pod-name"}
)
"""Labels that the controllers of apps add to pods."""
_HARD, _SOFT = "DoNotSchedule", "ScheduleAnyway"


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Source: `validateTopologySpreadConstraints` and the PodTopologySpread plugin (v1.36)."""
    listed = review.pod_set.spec.get(FIELD)
    seen: set[tuple[str, str]] = set()
    for at, one in enumerate(listed if isinstance(listed, list) else ()):
        if not isinstance(one, dict):
            continue
        yield from _repeated(review, at, one, seen)
        when = one.get("whenUnsatisfiable")
        if one.get("minDomains") is not None and when == _SOFT:
            yield Violation(
                review.pod_set.place(FIELD, at, "minDomains"),
                f"whenUnsatisfiable is {_SOFT}, but minDomains requires {_HARD}",
                f"delete minDomains, or write whenUnsatisfiable: {_HARD}",
                key=True,
            )
        yield from _too_few_domains(review, at, one)
        yield from _one_domain(review, at, one)
        if not review.manifest.partial and _counts_nothing(one.get("labelSelector")):
            written = "labelSelector" in one
            yield Violation(
                review.pod_set.place(FIELD, at, *(("labelSelector",) if written else ())),
                f"the labelSelector is {'empty' if written else 'missing'}: the constraint counts no pods"
                " and spreads nothing",
                "select the pods to spread by a label of this template",
                Severity.WARNING,
                key=written,
            )
        elif missed := _misses_own_pods(review, one.get("labelSelector")):
            yield Violation(
                review.pod_set.place(FIELD, at, "labelSelector"),
                f"the labelSelector does not select the pods themselves{missed}: they are not counted, "
                "and may all be on one node",
                "select the pods to spread by a label of this template",
                Severity.WARNING,
                key=True,
            )


def _too_few_domains(review: Review, at: int, one: Mapping[str, Any]) -> Iterator[Violation]:
    """Nodes that the pods do not select have no domains of the constraint. PK135 counts those of a policy."""
    key, least, skew = one.get("topologyKey"), whole(one.get("minDomains")), whole(one.get("maxSkew"))
    replicas, cluster = review.pod_set.replicas, review.cluster
    hard = one.get("whenUnsatisfiable") == _HARD and one.get("nodeAffinityPolicy") != "Ignore"
    if not isinstance(key, str) or not (hard and least and skew and replicas) or review.manifest.partial:
        return
    allowed = _selected(review, key)
    room = len(allowed) * skew
    if not allowed or len(allowed) >= least or replicas <= room or (cluster and cluster.complete):
        return
    yield Violation(
        review.pod_set.place(FIELD, at, "minDomains"),
        f"minDomains is {least}, but the pods select only {len(allowed)} of {key} "
        f"({', '.join(sorted(allowed))}): each takes at most {skew} of the {replicas} pods",
        f"lower minDomains to {len(allowed)}, or select more",
        Severity.WARNING,
    )


def _one_domain(review: Review, at: int, one: Mapping[str, Any]) -> Iterator[Violation]:
    """The pods select the one value of the key that they are to be spread over.

    A single pod has nothing to spread; neither counts a soft constraint, which many charts state for all.
    """
    key, skew, replicas = one.get("topologyKey"), whole(one.get("maxSkew")), review.pod_set.replicas
    if not isinstance(key, str) or review.manifest.partial or not replicas or replicas < 2 or not skew:
        return
    if one.get("whenUnsatisfiable") != _HARD or (whole(one.get("minDomains")) or 1) > 1:
        return
    place, allowed = review.pod_set.place(FIELD, at, "topologyKey"), _selected(review, key)
    if not allowed:
        yield from _one_value(review, key, place)
    if len(allowed) != 1:
        return
    (value,) = allowed
    if one.get("nodeAffinityPolicy") == "Ignore" and replicas > skew:
        yield Violation(
            place,
            f"the pods select {key} {value} alone, but nodeAffinityPolicy Ignore counts the other domains as "
            f"empty: where there are any, {value} takes at most {skew} of the {replicas} pods",
            "delete nodeAffinityPolicy, or select more domains",
            Severity.WARNING,
        )
    elif one.get("nodeAffinityPolicy") != "Ignore":
        yield Violation(
            place,
            f"the pods select {key} {value} alone: in one domain there is nothing to spread",
            "spread by another key, such as kubernetes.io/hostname, or select more domains",
            Severity.INFO,
        )


def _one_value(review: Review, key: str, place: Path) -> Iterator[Violation]:
    """The key is a mark of some nodes, all of which have the same value."""
    cluster = review.cluster
    if cluster is None or not cluster.complete or review.selects_unlisted_pool or is_of_clouds(key):
        return
    values = label_values(review.possible_pools, key)
    if None not in values or len(values) != 2:
        return
    value = next(filter(None, values))
    marked = sorted(pool.name for pool in review.possible_pools if label_values((pool,), key) != {None})
    have = "has" if len(marked) == 1 else "have"
    yield Violation(
        place,
        f"only {some(marked)} of the pools that take the pods {have} the label "
        f"{key}, with the one value {value}: the constraint leaves other nodes out, and spreads nothing here",
        "spread by kubernetes.io/hostname, and select the nodes by nodeSelector",
        Severity.WARNING,
    )


def _selected(review: Review, key: str) -> frozenset[str]:
    """Values of a label that nodes of the pods have; empty: any."""
    if value := review.affinity.selector.get(key):
        return frozenset() if is_placeholder(value) else frozenset((value,))
    found: set[str] = set()
    for term in review.affinity.required or ():
        listed = [set(one.values) for one in term.expressions if one.key == key and one.operator == "In"]
        if not listed or any(map(is_placeholder, listed[0])):
            return frozenset()
        found |= set.intersection(*listed)
    return frozenset(found)


def _misses_own_pods(review: Review, selector: object) -> str:
    """Which label of the pods that it is to spread it does not select; empty: it selects them."""
    pod_set = review.pod_set
    if review.manifest.partial or review.manifest.group != "apps" or not isinstance(selector, dict):
        return ""  # other controllers than those of apps add labels to their pods
    stated = selector.get("matchLabels")
    pairs = stated if isinstance(stated, dict) else {}
    listed = selectors.read_all(selector.get("matchExpressions"))
    if not pod_set.labels or _ADDED.intersection((*pairs, *(one.key for one in listed))):
        return ""
    texts = [*pairs, *pairs.values(), *pod_set.labels.values(), *(v for one in listed for v in one.values)]
    if any(map(is_placeholder, texts)) or any(map(selectors.problem, listed)):
        return ""
    needed = [selectors.Requirement(key, "In", (value,)) for key, value in pairs.items()]
    for each in (*needed, *listed):
        if not selectors.matches(each, pod_set.labels):
            own = pod_set.labels.get(each.key)
            wanted = f", not {some(each.values)}" if each.operator == "In" else ""
            return f", which have no {each.key}" if own is None else f", whose {each.key} is {own}{wanted}"
    return ""


def _repeated(
    review: Review, at: int, one: Mapping[str, Any], seen: set[tuple[str, str]]
) -> Iterator[Violation]:
    key, when = one.get("topologyKey"), one.get("whenUnsatisfiable")
    if not isinstance(key, str) or not isinstance(when, str) or not key:
        return
    if (key, when) in seen:
        yield Violation(
            review.pod_set.place(FIELD, at, "topologyKey"),
            f"an earlier constraint also spreads by {key} with {when}, but only one is allowed",
            "delete one of the two constraints, or merge them",
        )
    seen.add((key, when))


def _counts_nothing(selector: object) -> bool:
    """Null, or without any label; PK004 reports wrong types."""
    if selector is None:
        return True
    parts = ("matchLabels", "matchExpressions")
    return isinstance(selector, dict) and not any(selector.get(part) for part in parts)


RULE = Rule(
    code="PK131",
    name="invalid-spread",
    severity=Severity.ERROR,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=("topologySpreadConstraints",),
)
