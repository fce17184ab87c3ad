"""QoS classes beside priorities and requests: what Koordinator's webhook for pods refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from policykit.catalogue.koordinator import bands
from policykit.kube.podsets.podset import PodSet
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, text, whole
from policykit.model.severity import Severity
from policykit.targets.koordinator.admission import profile_of
from policykit.targets.koordinator.checks import releases
from policykit.targets.koordinator.checks.asked import Asked, asked
from policykit.targets.koordinator.names import QOS_CLASS, SYSTEM
from policykit.targets.koordinator.objects.colocation import QOS_CLASSES
from policykit.targets.release import Version

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

_REFUSED: Mapping[str, tuple[str, ...]] = {"BE": ("", "prod"), "LSR": ("", "mid", "batch", "free")}
"""QoS class to the classes of priority it may not stand with; empty: none."""
_BATCH = ("kubernetes.io/batch-cpu", "kubernetes.io/batch-memory")
_MID = ("kubernetes.io/mid-cpu", "kubernetes.io/mid-memory")
_VOLCANO, _VOLCANO_QOS = "volcano", "volcano.sh/qos-level"
_NOT_IN_WORDS = re.compile("[-_]")
_SPELT = QOS_CLASS.lower()
_CORES = 100
"""Milli-cores; what is smaller was meant to be whole cores."""
_UNCHECKED = (Version(1, 6, 0), Version(1, 8, 0))
"""From and up to where the webhook computes its verdict and does not use it."""
_REFUSES = "Koordinator refuses the pod"


def pods(pod_set: PodSet, cluster: Cluster | None, *, partial: bool) -> Iterator[Violation]:
    """Of one template. Source: koordinator `pkg/webhook/pod/validating/` (1.8)."""
    qos = pod_set.labels.get(QOS_CLASS, "")
    found = asked(pod_set)
    severity = _severity(cluster)
    if cluster and profile_of(cluster, pod_set):
        # It writes class and priority over what stands here; that they go together, the policy makes sure.
        yield from _batch("BE", found, severity)
        return
    unread = None if qos else _unread(pod_set)
    if unread:
        yield unread
        return
    if qos and not is_placeholder(qos):
        if qos not in QOS_CLASSES:
            yield _unknown(pod_set.place("labels", QOS_CLASS), qos)
            return
        if not partial:
            yield from _priority(pod_set, qos, cluster, severity)
            yield from _whole_cores(pod_set, qos, found, severity)
    if qos or not _is_volcanos(pod_set):
        yield from _batch(qos, found, severity)
    yield from _untranslated(pod_set, qos, found, cluster)


def profile(manifest: Manifest, cluster: Cluster | None) -> Iterator[Violation]:
    """Of a ClusterColocationProfile: what it writes into every pod it selects."""
    spec = mapping(manifest.data.get("spec"))
    qos, name = text(spec.get("qosClass")), text(spec.get("priorityClassName"))
    if not name or is_placeholder(name):
        return
    band = _band_of_class(name, cluster)
    if band is not None and band in _REFUSED.get(qos, ()):
        yield Violation(
            ("spec", "priorityClassName"),
            f"the profile gives pods qosClass {qos} with priorityClassName {name}: Koordinator refuses them",
            _advice(qos),
            _severity(cluster),
        )
    elif cluster and cluster.priorities and band is None:
        yield Violation(
            ("spec", "priorityClassName"),
            f"priorityClassName {name} is neither the policy's nor Koordinator's: without it no pod that the "
            "profile selects is admitted",
            "correct the name, or add the class to the policy's priorities",
            Severity.WARNING,
        )


def _is_volcanos(pod_set: PodSet) -> bool:
    """Volcano's agent offers resources of the same names, and classes of its own."""
    return pod_set.scheduler_name == _VOLCANO or _VOLCANO_QOS in pod_set.annotations


def _severity(cluster: Cluster | None) -> Severity | None:
    stated = releases.stated(cluster)
    return Severity.WARNING if stated and _UNCHECKED[0] <= stated < _UNCHECKED[1] else None


def _unread(pod_set: PodSet) -> Violation | None:
    """A class in the wrong place, or under another spelling."""
    if QOS_CLASS in pod_set.annotations:
        message = f"{QOS_CLASS} is an annotation here, and Koordinator reads the label of this name"
        where, key, advice = "annotations", QOS_CLASS, "move it to the labels"
    else:
        meant = [each for each in pod_set.labels if _NOT_IN_WORDS.sub("", each.lower()) == _SPELT]
        if not meant:
            return None
        message = f"Koordinator does not read the label {meant[0]}"
        where, key, advice = "labels", meant[0], f"rename it to {QOS_CLASS}"
    return Violation(pod_set.place(where, key), f"{message}: the pod has no class", advice, key=True)


def _unknown(path: Path, qos: str) -> Violation:
    meant = qos.upper() if qos.upper() in QOS_CLASSES else ""
    return Violation(
        path,
        f"qosClass is {qos!r}, which Koordinator does not know: the pod has none",
        f"write {meant}" if meant else f"write one of {', '.join(QOS_CLASSES)}",
    )


def _priority(
    pod_set: PodSet, qos: str, cluster: Cluster | None, severity: Severity | None
) -> Iterator[Violation]:
    if qos not in _REFUSED or "koordinator.sh/priority-class" in pod_set.labels:
        return
    name, value = text(pod_set.spec.get("priorityClassName")), whole(pod_set.spec.get("priority"))
    if not name and value is None:
        yield Violation(
            pod_set.place("labels", QOS_CLASS),
            f"qosClass is {qos}, but no priorityClassName goes with it: {_REFUSES}",
            f"{_advice(qos)}, unless a ClusterColocationProfile gives the pods one",
            Severity.WARNING,
        )
        return
    if is_placeholder(name):
        return
    band = _name(value) if value is not None else _band_of_class(name, cluster)
    if band is not None and band in _REFUSED[qos]:
        said = f"priority is {value}" if value is not None else f"priorityClassName is {name}"
        field = "priorityClassName" if name else "priority"
        yield Violation(
            pod_set.place(field), f"{said}, but qosClass is {qos}: {_REFUSES}", _advice(qos), severity
        )


def _whole_cores(
    pod_set: PodSet, qos: str, found: Mapping[str, Asked], severity: Severity | None
) -> Iterator[Violation]:
    if qos not in ("LSR", "LSE"):
        return
    cpu = found.get("cpu")
    if cpu is None:
        # Init containers and pod-level requests may ask for it.
        others = pod_set.spec.get("resources") or pod_set.spec.get("initContainers")
        if pod_set.spec.get("containers") and not others:
            yield Violation(
                pod_set.place("labels", QOS_CLASS),
                f"qosClass is {qos}, but the pod asks for no cpu: {_REFUSES}",
                "ask for whole cores",
                severity,
            )
    elif cpu.amount is not None and cpu.amount % 1000 and not pod_set.spec.get("initContainers"):
        yield Violation(
            cpu.path,
            f"qosClass is {qos}, but the pod asks for {cpu.amount}m cpu in all, no whole cores: {_REFUSES}",
            f"ask for {cpu.amount // 1000 + 1} cores in all",
            severity,
        )


def _batch(qos: str, found: Mapping[str, Asked], severity: Severity | None) -> Iterator[Violation]:
    asks = next((name for name in _BATCH if name in found), "")
    if asks and qos != "BE" and not is_placeholder(qos):
        stated = f"qosClass is {qos}" if qos else "the pod has no qosClass"
        yield Violation(
            found[asks].path,
            f"{asks} is for pods of qosClass BE, but {stated}: {_REFUSES}",
            f"write the label {QOS_CLASS}: BE"
            + ("" if qos else ", unless a ClusterColocationProfile gives it to the pods"),
            severity if qos else Severity.WARNING,
            key=True,
        )
    for name in (_BATCH[0], _MID[0]):
        number = found[name].amount if name in found else None
        if number is not None and 0 < number < _CORES:
            yield Violation(
                found[name].path,
                f"{name} is {number}: it counts in thousandths of a core",
                f"write {number * 1000} for {number} cores",
                Severity.WARNING,
            )


def _untranslated(
    pod_set: PodSet, qos: str, found: Mapping[str, Asked], cluster: Cluster | None
) -> Iterator[Violation]:
    """Ordinary cpu and memory become batch ones only where a ClusterColocationProfile matches."""
    band = bands.named(text(pod_set.spec.get("priorityClassName")))
    if qos != "BE" and not (not qos and band and band.name == "batch"):
        return
    native = next((name for name in ("cpu", "memory") if name in found), "")
    if not native or any(name in found for name in (*_BATCH, *_MID)) or _profiled(cluster):
        return
    why = f"qosClass is {qos}" if qos == "BE" else "priorityClassName is koord-batch"
    yield Violation(
        found[native].path,
        f"the pod asks for {native}, but {why}: without a ClusterColocationProfile that selects it, it takes "
        "what guaranteed pods need",
        "ask for kubernetes.io/batch-cpu and kubernetes.io/batch-memory, or add a profile",
        Severity.WARNING,
        key=True,
    )


def _profiled(cluster: Cluster | None) -> bool:
    """Whether the policy generates profiles, which cannot be told apart here."""
    target = cluster.targets.get(SYSTEM) if cluster else None
    if cluster is None or target is None:
        return False
    from policykit.targets.koordinator.objects import classes
    from policykit.targets.koordinator.pods import scheduler

    return bool(classes.profiles(cluster, scheduler(cluster)))


def _band_of_class(name: str, cluster: Cluster | None) -> str | None:
    """prod, mid, batch, free; empty: none of them; None: nobody knows the class."""
    values = {each.name: each.value for each in cluster.priorities} if cluster else {}
    if name in values:
        return _name(values[name])
    if name.startswith("system-"):
        return ""
    band = bands.named(name)
    return band.name if band else None


def _name(value: int) -> str:
    band = bands.band_of(value)
    return band.name if band else ""


def _advice(qos: str) -> str:
    fitting = [f"koord-{band}" for band, classes in bands.QOS.items() if qos in classes]
    return f"write priorityClassName: {' or '.join(fitting)}"
