"""The QoS class of pods conflicts with their priority or with their requests.

Koordinator's webhook refuses BE with priority prod or none, LSR with any priority but prod, and
LSR or LSE without whole cores. A misspelt class counts as none, and a BE pod that requests
ordinary cpu and memory takes resources from guaranteed pods. Koordinator does not support koord-free yet.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets import pod_sets
from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest, Words, words
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, text, whole
from policykit.model.severity import Severity
from policykit.nearest import Names
from policykit.rules.koordinator.device_requests import Request, device_requests
from policykit.targets import TARGETS
from policykit.targets.koordinator import versions
from policykit.targets.koordinator.admission import profile_of
from policykit.targets.koordinator.names import QOS_CLASS, TARGET_NAME
from policykit.targets.koordinator.objects import colocation
from policykit.targets.koordinator.objects.colocation import QOS_CLASSES
from policykit.targets.koordinator.objects.values import OVERCOMMITTED

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train
  labels:
    koordinator.sh/qosClass: BE
spec:
  schedulerName: koord-scheduler
  priorityClassName: koord-prod
  containers:
  - name: main
    image: registry.example/train:1
    resources:
      requests: {kubernetes.io/batch-cpu: 4000, kubernetes.io/batch-memory: 8Gi}
      limits: {kubernetes.io/batch-cpu: 4000, kubernetes.io/batch-memory: 8Gi}
"""

GOOD = BAD.replace("koord-prod", "koord-batch")

_PROFILE = "ClusterColocationProfile"
_KEYS = ("koordinator.sh/", "kubernetes.io/batch-", "koord-batch", "koord-mid")

_REFUSED: Mapping[str, tuple[str, ...]] = {"BE": ("", "prod"), "LSR": ("", "mid", "batch", "free")}
"""QoS class to the priority classes that it cannot be combined with; empty: no class."""
_OF_BATCH = frozenset(band for band, classes in colocation.QOS.items() if classes == ("BE",))
"""Priority classes that Koordinator's documentation gives only to pods of class BE."""
_BATCH, _MID = OVERCOMMITTED["batch"], OVERCOMMITTED["mid"]
_SEPARATOR = re.compile("[-_]")
_LEAST_MILLI_CORES = 100
"""A smaller amount is more likely a number of cores."""
_REFUSES = "Koordinator refuses the pod"


_UNSERVED = "a class for which Koordinator offers no resources and evicts no pods: it does not support it yet"
"""Source: koordinator-sh/koordinator#2379; `ResourceNameMap` (1.0 to 1.8) has batch and mid only."""


def _refuses(severity: Severity | None) -> str:
    """With the releases that do not, where one of them may be there."""
    return f"{_REFUSES}, but for 1.6 and 1.7" if severity else _REFUSES


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Pods, and the ClusterColocationProfiles that set their class."""
    if manifest.read_as:
        return
    if manifest.kind == _PROFILE:
        if manifest.group == "config.koordinator.sh":
            yield from _profile(manifest, context.cluster)
    elif manifest.kind and _mentions(words(manifest.data)):
        for pod_set in pod_sets(manifest.data):
            yield from _pods(pod_set, context.cluster, partial=manifest.partial)


def _mentions(written: Words) -> bool:
    return written.begin(_KEYS) or not written.texts.isdisjoint(_KEYS)


def _pods(pod_set: PodSet, cluster: Cluster | None, *, partial: bool) -> Iterator[Violation]:
    """Of one pod template. Source: koordinator `pkg/webhook/pod/validating/` (1.8)."""
    qos = pod_set.labels.get(QOS_CLASS, "")
    requests = device_requests(pod_set)
    severity = _severity(cluster)
    if cluster and profile_of(cluster, pod_set):
        # It overwrites class and priority of the pods, and compiling the policy checks that they match.
        yield from _batch("BE", requests, severity)
        return
    misplaced = None if qos else _misplaced(pod_set)
    if misplaced:
        yield misplaced
        return
    if qos and not is_placeholder(qos):
        if qos not in QOS_CLASSES:
            yield _unknown(pod_set.place("labels", QOS_CLASS), qos)
            return
        if not partial:
            yield from _priority(pod_set, qos, cluster, severity)
            yield from _whole_cores(pod_set, qos, requests, severity)
    if qos or not _has_other_qos(pod_set):
        yield from _batch(qos, requests, severity)
    yield from _untranslated(pod_set, qos, requests, cluster)


_CLASSES = Names(("koord-prod", "koord-mid", "koord-batch", "koord-free"))


def _likely_class(name: str) -> str:
    """The class of Koordinator's own that is nearly called so; empty: none is."""
    return _CLASSES.misspelt(name)


def _profile(manifest: Manifest, cluster: Cluster | None) -> Iterator[Violation]:
    """Of a ClusterColocationProfile: what it sets on every pod it selects."""
    spec = mapping(manifest.data.get("spec"))
    qos, name = text(spec.get("qosClass")), text(spec.get("priorityClassName"))
    if not name or is_placeholder(name):
        return
    band = _band_of_class(name, cluster)
    if band is not None and band in _REFUSED.get(qos, ()):
        yield Violation(
            ("spec", "priorityClassName"),
            f"the profile sets qosClass {qos} together with priorityClassName {name}: Koordinator refuses "
            "the pods",
            _priority_for(qos),
            _severity(cluster),
        )
    elif cluster and cluster.priorities and band is None:
        yield Violation(
            ("spec", "priorityClassName"),
            f"priorityClassName {name} is neither the policy's nor Koordinator's: unless it exists, no pod "
            "that the profile selects is admitted",
            "correct the name, or add the class to the policy's priorities",
            Severity.WARNING,
        )
    elif band is None and (likely := _likely_class(name)):
        yield Violation(
            ("spec", "priorityClassName"),
            f"Koordinator has no PriorityClass {name}: unless it exists, no pod that the profile selects is "
            "admitted",
            f"did you mean {likely}?",
            Severity.WARNING,
        )


def _has_other_qos(pod_set: PodSet) -> bool:
    """Whether the resources may be those of another target's agent, which has QoS classes of its own."""
    return any(
        pod_set.scheduler_name in target.schedulers or target.qos_annotation in pod_set.annotations
        for target in TARGETS
        if target.qos_annotation
    )


def _severity(cluster: Cluster | None) -> Severity | None:
    stated = versions.release_of(cluster)
    first, ended = versions.QOS_UNENFORCED
    return Severity.WARNING if stated is None or first <= stated < ended else None


def _misplaced(pod_set: PodSet) -> Violation | None:
    """A class in an annotation, or under a misspelt label."""
    if QOS_CLASS in pod_set.annotations:
        message = f"{QOS_CLASS} is an annotation here, but Koordinator reads it as a label"
        where, key, help_ = "annotations", QOS_CLASS, "move it to the labels"
    else:
        similar = [key for key in pod_set.labels if _SEPARATOR.sub("", key.lower()) == QOS_CLASS.lower()]
        if not similar:
            return None
        message = f"Koordinator does not read the label {similar[0]}"
        where, key, help_ = "labels", similar[0], f"rename it to {QOS_CLASS}"
    return Violation(pod_set.place(where, key), f"{message}: the pod has no QoS class", help_, key=True)


def _unknown(path: Path, qos: str) -> Violation:
    known = qos.upper() in QOS_CLASSES
    return Violation(
        path,
        f"qosClass is {qos!r}, which Koordinator does not know: the pod has no QoS class",
        f"write {qos.upper()}" if known else f"write one of {', '.join(QOS_CLASSES)}",
    )


def _priority(
    pod_set: PodSet, qos: str, cluster: Cluster | None, severity: Severity | None
) -> Iterator[Violation]:
    if "koordinator.sh/priority-class" in pod_set.labels or qos not in (*_REFUSED, "LS"):
        return
    name, value = text(pod_set.spec.get("priorityClassName")), whole(pod_set.spec.get("priority"))
    if not name and value is None and qos in _REFUSED:
        yield Violation(
            pod_set.place("labels", QOS_CLASS),
            f"qosClass is {qos}, but the pod has no priorityClassName: {_REFUSES}",
            f"{_priority_for(qos)}, unless a ClusterColocationProfile sets it",
            Severity.WARNING,
        )
        return
    if is_placeholder(name):
        return
    band = _band_name(value) if value is not None else _band_of_class(name, cluster)
    stated = f"priority is {value}" if value is not None else f"priorityClassName is {name}"
    field = "priorityClassName" if name else "priority"
    if qos == "LS" and band in _OF_BATCH:
        yield Violation(
            pod_set.place(field),
            f"{stated}, which is for pods of qosClass BE, but qosClass is LS",
            f"{_priority_for(qos)}, or label the pod {QOS_CLASS}: BE",
            Severity.WARNING,
        )
    elif band is not None and band in _REFUSED.get(qos, ()):
        yield Violation(
            pod_set.place(field),
            f"{stated}, but qosClass is {qos}: {_refuses(severity)}",
            _priority_for(qos),
            severity,
        )
    elif qos == "BE" and band == "free":
        yield Violation(
            pod_set.place(field),
            f"{stated}, {_UNSERVED}",
            "write priorityClassName: koord-batch",
            Severity.WARNING,
        )


def _whole_cores(
    pod_set: PodSet, qos: str, requests: Mapping[str, Request], severity: Severity | None
) -> Iterator[Violation]:
    if qos not in ("LSR", "LSE"):
        return
    cpu = requests.get("cpu")
    if cpu is None:
        # Init containers and pod-level requests may ask for it.
        others = pod_set.spec.get("resources") or pod_set.spec.get("initContainers")
        if pod_set.spec.get("containers") and not others:
            yield Violation(
                pod_set.place("labels", QOS_CLASS),
                f"qosClass is {qos}, but the pod requests no cpu: {_refuses(severity)}",
                "request whole cores",
                severity,
            )
    elif cpu.amount is not None and cpu.amount % 1000 and not pod_set.spec.get("initContainers"):
        yield Violation(
            cpu.path,
            f"qosClass is {qos}, but the pod requests {cpu.amount}m cpu, not whole cores: "
            + _refuses(severity),
            f"request {cpu.amount // 1000 + 1} cores in total",
            severity,
        )


def _batch(qos: str, requests: Mapping[str, Request], severity: Severity | None) -> Iterator[Violation]:
    batch = next((name for name in _BATCH if name in requests), "")
    if batch and qos != "BE" and not is_placeholder(qos):
        stated = f"qosClass is {qos}" if qos else "the pod has no qosClass"
        yield Violation(
            requests[batch].path,
            f"{batch} is for pods of qosClass BE, but {stated}: {_refuses(severity)}",
            f"write the label {QOS_CLASS}: BE"
            + ("" if qos else ", unless a ClusterColocationProfile sets it"),
            severity if qos else Severity.WARNING,
            key=True,
        )
    for name in (_BATCH[0], _MID[0]):
        number = requests[name].amount if name in requests else None
        if number is not None and 0 < number < _LEAST_MILLI_CORES:
            yield Violation(
                requests[name].path,
                f"{name} is {number}, but its unit is a thousandth of a core",
                f"write {number * 1000} for {number} cores",
                Severity.WARNING,
            )


def _untranslated(
    pod_set: PodSet, qos: str, requests: Mapping[str, Request], cluster: Cluster | None
) -> Iterator[Violation]:
    """Ordinary cpu and memory become batch ones only where a ClusterColocationProfile matches."""
    band = colocation.band_of_priority_class(text(pod_set.spec.get("priorityClassName")))
    if qos != "BE" and not (not qos and band and band.name == "batch"):
        return
    native = next((name for name in ("cpu", "memory") if name in requests), "")
    if not native or any(name in requests for name in (*_BATCH, *_MID)) or _profiled(cluster):
        return
    why = f"qosClass is {qos}" if qos == "BE" else "priorityClassName is koord-batch"
    yield Violation(
        requests[native].path,
        f"the pod requests {native}, but {why}: unless a ClusterColocationProfile selects it, it takes "
        "resources from guaranteed pods",
        "request kubernetes.io/batch-cpu and kubernetes.io/batch-memory, or add a profile",
        Severity.WARNING,
        key=True,
    )


def _profiled(cluster: Cluster | None) -> bool:
    """Whether the policy generates profiles: any of them may select the pod."""
    target = cluster.targets.get(TARGET_NAME) if cluster else None
    if cluster is None or target is None:
        return False
    from policykit.targets.koordinator.pods import scheduler_name

    return bool(colocation.profiles(cluster, scheduler_name(cluster)))


def _band_of_class(name: str, cluster: Cluster | None) -> str | None:
    """prod, mid, batch or free; empty: none of them; None: the class is unknown."""
    values = {each.name: each.value for each in cluster.priorities} if cluster else {}
    if name in values:
        return _band_name(values[name])
    if name.startswith("system-"):
        return ""
    band = colocation.band_of_priority_class(name)
    return band.name if band else None


def _band_name(value: int) -> str:
    band = colocation.band_of(value)
    return band.name if band else ""


def _priority_for(qos: str) -> str:
    fitting = [f"koord-{band}" for band, classes in colocation.QOS.items() if qos in classes]
    return f"write priorityClassName: {' or '.join(fitting)}"


RULE = Rule(
    code="PK612",
    name="qos-priority-conflict",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=("koord", "/batch-"),
)
