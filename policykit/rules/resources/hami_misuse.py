"""A pod asks HAMi for a part of a card in a way that HAMi does not read, or cannot serve.

HAMi reads amounts of memory and cores as resources of a container: as annotations they have no effect, and
the pod gets whole cards. Its webhook leaves pods with a privileged container alone, so kube-scheduler takes
them and finds no node with nvidia.com/gpumem. It refuses pods that already have a node. The vGPUs of one
container come from different cards, so it cannot have more of them than a node has cards, or than the pod
names by their UUID. Memory of an NPU is named after its model, its cores need the mode hami-core, and parts
of other makers' cards need a card beside them. Cards are chosen by any policy that HAMi does not know as if
there were none, not even the default; weights that it cannot read keep the pod pending. Annotations that
choose among cards are read for those of one maker. Which cards a pod has HAMi writes into annotations of its
own, which newer releases refuse in a new pod.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from policykit.catalogue.resources import resource
from policykit.kube.placeholders import is_placeholder
from policykit.kube.requests import containers, requested
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.shape import mapping
from policykit.model.cluster import Cluster
from policykit.model.severity import Severity
from policykit.model.shared_cards import HAMI_IGNORES, HAMI_MODE, HAMI_SCHEDULER, HAMI_WEBHOOK, NAMES
from policykit.nearest import nearest, one_edit_apart
from policykit.placement.review import Review
from policykit.rules.resources import hami_requests
from policykit.targets import DEFAULT_TARGET, target_name_of

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: serve
  annotations:
    nvidia.com/gpumem: "4000"
spec:
  containers:
  - name: main
    image: registry.example/serve:1
    resources:
      requests: {cpu: 2, memory: 8Gi}
      limits:
        nvidia.com/gpu: 1
"""

GOOD = BAD.replace('  annotations:\n    nvidia.com/gpumem: "4000"\n', "").replace(
    "nvidia.com/gpu: 1", "nvidia.com/gpu: 1\n        nvidia.com/gpumem: 4000"
)

_CARD = "nvidia.com/gpu"
_PARTS = ("nvidia.com/gpumem", "nvidia.com/gpumem-percentage", "nvidia.com/gpucores")
_AMOUNTS = frozenset({"memory", "core"})
"""Roles of resources that are parts of a card."""
_POD_ANNOTATIONS = (
    HAMI_MODE,
    "nvidia.com/use-gputype",
    "nvidia.com/nouse-gputype",
    "nvidia.com/use-gpuuuid",
    "nvidia.com/nouse-gpuuuid",
    "hami.io/node-scheduler-policy",
    "hami.io/gpu-scheduler-policy",
    "hami.io/device-scoring-weights",
)
"""Read from pods only. Source: HAMi's documentation of tasks (2.6)."""
_SERVED_BY_HAMI = frozenset({"", HAMI_SCHEDULER})
_UUIDS = "nvidia.com/use-gpuuuid"
KNOWN_POLICIES: Mapping[str, tuple[str, ...]] = {
    "hami.io/gpu-scheduler-policy": ("binpack", "spread", "topology-aware", "mutex", "numa"),
    "hami.io/node-scheduler-policy": ("binpack", "spread"),
}
"""Releases from 2.9 on read several, with commas. Source: `pkg/util/types.go` of HAMi (2.4 to 2.10)."""


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Source: `pkg/scheduler/webhook.go` and `pkg/device/nvidia` of HAMi (2.4 to 2.7)."""
    yield from _amounts_as_annotations(review)
    yield from _annotations_as_labels(review)
    yield from _annotations_of_the_owner(review)
    yield from _misspelt(review)
    if review.manifest.partial:
        return
    yield from _memory_as_quantity(review)
    yield from _ignored(review)
    yield from _privileged(review)
    yield from _bound(review)
    yield from _policies(review)
    yield from _fewer_named(review)
    yield from _more_than_cards(review)
    yield from _of_another_model(review)
    yield from hami_requests.violations(review)


def _amounts_as_annotations(review: Review) -> Iterator[Violation]:
    for key, value in review.pod_set.annotations.items():
        known = resource(key) if "/" in key else None
        if known is not None and known.role in _AMOUNTS and value.isdecimal():
            yield Violation(
                review.pod_set.place("annotations", key),
                f"{key} is an annotation, but nothing reads it there: it is a resource",
                f"write {key}: {value} under limits of the container",
                Severity.WARNING,
                key=True,
            )


def _annotations_as_labels(review: Review) -> Iterator[Violation]:
    labels, annotations = review.pod_set.labels, review.pod_set.annotations
    for key in _POD_ANNOTATIONS if labels else ():
        if key in labels and key not in annotations and _shares(review):
            yield Violation(
                review.pod_set.place("labels", key),
                f"{key} is a label, but HAMi reads it as an annotation",
                "move it to the annotations",
                Severity.WARNING,
                key=True,
            )


def _annotations_of_the_owner(review: Review) -> Iterator[Violation]:
    """On the object that makes the pods, where the pods do not have them too."""
    manifest = review.manifest
    if review.pod_set.places.get("annotations") == ("metadata", "annotations"):
        return
    for key in _POD_ANNOTATIONS:
        if key in manifest.annotations and key not in review.pod_set.annotations and _shares(review):
            yield Violation(
                ("metadata", "annotations", key),
                f"{key} is an annotation of the {manifest.kind}, but HAMi reads it from pods only",
                "move it to the metadata of the pod template",
                Severity.WARNING,
                key=True,
            )


_SEPARATORS = re.compile(r"[-_.]")


def _plain(key: str) -> str:
    return _SEPARATORS.sub("", key.lower())


_KEYS = {_plain(key): key for key in _POD_ANNOTATIONS}
_DOMAINS = ("nvidia.com/", "hami.io/")


def _misspelt(review: Review) -> Iterator[Violation]:
    """Annotations that are nearly one of HAMi's."""
    for key in review.pod_set.annotations:
        if not key.startswith(_DOMAINS) or key in _POD_ANNOTATIONS:
            continue
        plain = _plain(key)
        meant = _KEYS.get(plain) or next((_KEYS[each] for each in _KEYS if one_edit_apart(plain, each)), "")
        if meant and meant not in review.pod_set.annotations and _shares(review):
            yield Violation(
                review.pod_set.place("annotations", key),
                f"HAMi does not read annotation {key}",
                f"did you mean {meant}?",
                Severity.WARNING,
                key=True,
            )


def _shares(review: Review) -> bool:
    """Whether it asks for cards that HAMi may share."""
    return _CARD in review.requests or any(name in review.requests for name in _PARTS)


def _for_webhook(review: Review, *others: str) -> bool:
    """Whether the pods are for kube-scheduler or one of the others: HAMi's webhook skips the rest."""
    name = review.pod_set.scheduler_name
    if name in ("", *others):
        return True
    return not is_placeholder(name) and target_name_of(name, None) == DEFAULT_TARGET


def _privileged(review: Review) -> Iterator[Violation]:
    if not _for_webhook(review):
        return
    for field, position, container in containers(review.pod_set.spec):
        part = next((each for each in _PARTS if requested(container).get(each, 0) > 0), "")
        if part and mapping(container.get("securityContext")).get("privileged") is True:
            yield Violation(
                review.pod_set.place(field, position, "securityContext", "privileged"),
                f"the container is privileged, so HAMi's webhook skips it: no node has {part} for "
                "kube-scheduler, and the pod stays pending",
                "remove privileged, which newer releases refuse, or set schedulerName: hami-scheduler",
                Severity.WARNING,
            )


def _bound(review: Review) -> Iterator[Violation]:
    node = review.pod_set.spec.get("nodeName")
    part = next((name for name in _PARTS if review.requests.get(name, 0) > 0), "")
    named = isinstance(node, str) and node and not is_placeholder(node)
    if part and named and _for_webhook(review, HAMI_SCHEDULER):
        yield Violation(
            review.pod_set.place("nodeName"),
            f"nodeName is set, but only HAMi's scheduler chooses the card for {part}: "
            "HAMi's webhook refuses the pod",
            "select the node by its label kubernetes.io/hostname instead",
            Severity.WARNING,
        )


_MOST_MEMORY = 2_000_000
"""MiB; no card has as much."""


def _memory_as_quantity(review: Review) -> Iterator[Violation]:
    """The plain number is MiB, so 8Gi asks for 8 Gi MiB."""
    name = _PARTS[0]
    for field, position, container in containers(review.pod_set.spec):
        limits = mapping(mapping(container.get("resources")).get("limits"))
        asked = requested(container).get(name, 0)
        if asked > _MOST_MEMORY:
            side = "limits" if name in limits else "requests"
            written = mapping(mapping(container.get("resources")).get(side)).get(name)
            yield Violation(
                review.pod_set.place(field, position, "resources", side, name),
                f"{name} is {written}, but it is a number of MiB: no card has {asked} MiB",
                f"write {asked // 2**20}" if asked % 2**20 == 0 else "write the number of MiB",
            )


def _ignored(review: Review) -> Iterator[Violation]:
    """The label with which the webhook of HAMi's chart leaves a pod alone."""
    part = next((each for each in _PARTS if review.requests.get(each, 0) > 0), "")
    skipped = review.pod_set.labels.get(HAMI_WEBHOOK) == HAMI_IGNORES
    if part and skipped and review.pod_set.scheduler_name in ("", "default-scheduler"):
        yield Violation(
            review.pod_set.place("labels", HAMI_WEBHOOK),
            f"the label keeps HAMi's webhook away: no node has {part} for kube-scheduler, and the pod stays "
            "pending",
            "delete the label, or set schedulerName: hami-scheduler",
            Severity.WARNING,
            key=True,
        )


def _policies(review: Review) -> Iterator[Violation]:
    """HAMi compares the value with those it knows, and takes the cards in their own order for any other."""
    for key, known in KNOWN_POLICIES.items():
        stated = review.pod_set.annotations.get(key, "")
        for each in filter(None, map(str.strip, stated.split(","))):
            if each in known or is_placeholder(each) or not _shares(review):
                continue
            near = nearest(each, known)
            yield Violation(
                review.pod_set.place("annotations", key),
                f"{key} is {each}, which HAMi does not know: it has no effect, and the default policy "
                "is not used either",
                f"did you mean {near}?" if near else f"write one of {', '.join(known)}",
                Severity.WARNING,
            )


def _fewer_named(review: Review) -> Iterator[Violation]:
    """Source: `Fit` in `pkg/device/nvidia` of HAMi (2.4 to 2.10)."""
    stated = review.pod_set.annotations.get(_UUIDS, "")
    named = {each.strip() for each in stated.split(",")} - {""}
    if not named or is_placeholder(stated) or review.pod_set.scheduler_name not in _SERVED_BY_HAMI:
        return
    for _, _, container in containers(review.pod_set.spec):
        number = requested(container).get(_CARD, 0)
        if number > len(named):
            yield Violation(
                review.pod_set.place("annotations", _UUIDS),
                f"the container requests {number} {_CARD}, which HAMi takes from different cards, but "
                f"{_UUIDS} names {len(named)}: no node fits",
                f"name {number} cards with commas between them, or request {len(named)}",
                Severity.WARNING,
            )
            return


def _of_another_model(review: Review) -> Iterator[Violation]:
    """Memory or cores named after a card, in a container that requests another one.

    Source: `ResourceName` and `ResourceMemoryName` in HAMi's device configuration (2.4 to 2.7).
    """
    for field, position, container in containers(review.pod_set.spec):
        asked = requested(container)
        cards = [name for name in asked if (known := resource(name)) and known.role == "card"]
        for name in asked:
            of = name.rpartition("-")[0]
            known, card = resource(name), resource(of) if of else None
            part = name.rpartition("-")[2]
            if not cards or of in cards or part not in _AMOUNTS or card is None or card.role != "card":
                continue
            if known is None and resource(f"{cards[0]}-{part}") is None:
                continue
            limits = mapping(mapping(container.get("resources")).get("limits"))
            side = "limits" if name in limits else "requests"
            yield Violation(
                review.pod_set.place(field, position, "resources", side, name),
                f"{name} is a part of {of}, but the container requests {cards[0]}",
                f"write {cards[0]}-{part}, or request {of}",
                Severity.WARNING,
                key=True,
            )


def _more_than_cards(review: Review) -> Iterator[Violation]:
    most = _most(review.cluster)
    if not most or review.selects_unlisted_machine:
        return
    for field, position, container in containers(review.pod_set.spec):
        asked = requested(container)
        number = asked.get(_CARD, 0)
        if number > most and _is_shared(review, asked):
            limits = mapping(mapping(container.get("resources")).get("limits"))
            side = "limits" if _CARD in limits else "requests"
            yield Violation(
                review.pod_set.place(field, position, "resources", side, _CARD),
                f"requests {number} {_CARD}, which HAMi takes from different cards, but no node of the "
                f"policy has more than {most}",
                f"request at most {most}, with more memory and cores of each",
            )


def _is_shared(review: Review, asked: Mapping[str, Any]) -> bool:
    by_hami = review.pod_set.scheduler_name in _SERVED_BY_HAMI
    return by_hami and (any(part in asked for part in _PARTS) or HAMI_MODE in review.pod_set.annotations)


def _most(cluster: Cluster | None) -> int:
    """Cards of the largest node with NVIDIA's; 0: unknown."""
    sizes: list[int] = []
    for pool in cluster.pools if cluster else ():
        card = cluster.card_of(pool) if cluster else None
        if card is not None and card.resource.startswith("nvidia.com/"):
            stated = max((shape.allocatable.get(card.resource, 0) for shape in pool.shapes), default=0)
            if pool.sharing.mode in NAMES:
                stated //= pool.sharing.replicas or 1
            sizes.append(stated or card.per_node)
    return max(sizes, default=0) if all(sizes) else 0


RULE = Rule(
    code="PK216",
    name="hami-misuse",
    severity=Severity.ERROR,
    subject=Review,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=(
        "gpumem",
        "gpucores",
        "vgpu-mode",
        "use-gpu",
        "hami.io",
        "-memory",
        "-core",
        *hami_requests.WORDS,
    ),
)
