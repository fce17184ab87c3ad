"""An annotation of pods is where no pod gets it.

Autoscalers, the descheduler, Multus and GKE read these annotations of each pod. Those of a Deployment or a
Job do not reach its pods, and a label of the same name is none: the node is emptied although its pods
must stay, or the second network and the mounted bucket are missing. The cluster autoscaler knows `true` and
`false` only, and Multus one name of its annotation, with names or a list of JSON in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.kube import multus, podsets
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest, words
from policykit.manifests.path import Path, dotted, lookup
from policykit.model.severity import Severity

BAD = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
  annotations:
    cluster-autoscaler.kubernetes.io/safe-to-evict: "false"
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: registry.example/train:1
"""

GOOD = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
spec:
  template:
    metadata:
      annotations:
        cluster-autoscaler.kubernetes.io/safe-to-evict: "false"
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: registry.example/train:1
"""

_SAFE = "cluster-autoscaler.kubernetes.io/safe-to-evict"
_READERS: Mapping[str, str] = {
    _SAFE: "the cluster autoscaler",
    "cluster-autoscaler.kubernetes.io/enable-ds-eviction": "the cluster autoscaler",
    "controller.kubernetes.io/pod-deletion-cost": "the controller of ReplicaSets",
    "descheduler.alpha.kubernetes.io/evict": "the descheduler",
    "gke-gcsfuse/volumes": "GKE",
    "gke-parallelstore/volumes": "GKE",
    multus.NETWORKS: "Multus",
    "karpenter.sh/do-not-disrupt": "Karpenter",
    "kubernetes.io/egress-bandwidth": "the bandwidth plugin of the network",
    "kubernetes.io/ingress-bandwidth": "the bandwidth plugin of the network",
    "networking.gke.io/default-interface": "GKE",
    "networking.gke.io/interfaces": "GKE",
    "v1.multus-cni.io/default-network": "Multus",
}
"""Annotations that are read of pods, and by whom."""
_OWN: tuple[Path, ...] = (("metadata",), ("spec", "jobTemplate", "metadata"))
_TEMPLATE: Path = ("spec", "template", "metadata", "annotations")
_BUILT_IN = frozenset(
    {
        *(("apps", kind) for kind in ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")),
        *(("batch", kind) for kind in ("CronJob", "Job")),
    }
)
"""(API group, kind) whose own annotations do not become those of their pods."""
_WORDS = ("true", "false")
_LIKE_NETWORKS = ".v1.cni.cncf.io/networks"


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Sources: the keys in `utils/drain` of the cluster autoscaler, Karpenter and Multus; GKE's docs."""
    keys = words(manifest.data).keys
    named = keys & _READERS.keys()
    networks = any(key.endswith(_LIKE_NETWORKS) for key in keys)
    if not (named or networks) or not podsets.known(manifest.api_version, manifest.kind):
        return
    pod_sets = podsets.pod_sets(manifest.data)
    for each in pod_sets if networks else ():
        yield from _of_networks(each)
    for key in sorted(named):
        if not pod_sets or any(key in each.annotations for each in pod_sets):
            yield from _of_another_word(manifest, key)
            continue
        if (manifest.group, manifest.kind) in _BUILT_IN:
            for base in _OWN:
                path: Path = (*base, "annotations", key)
                if isinstance(lookup(manifest.data, path), str):
                    where = pod_sets[0].places.get("annotations") or _TEMPLATE
                    yield Violation(
                        path,
                        f"{_READERS[key]} reads {key} of pods, and pods do not get the annotations of "
                        f"{_of(manifest, base)}",
                        f"move it to {dotted(where)}",
                        key=True,
                    )
        for each in pod_sets:
            place = each.places.get("labels")
            if key in each.labels and place is not None:
                yield Violation(
                    (*place, key),
                    f"{_READERS[key]} reads {key} as an annotation, not as a label",
                    f"move it to {dotted((*place[:-1], 'annotations'))}",
                    key=True,
                )


def _of(manifest: Manifest, base: Path) -> str:
    return "a Job" if len(base) > 1 else f"a {manifest.kind}"


def _of_another_word(manifest: Manifest, key: str) -> Iterator[Violation]:
    """Where pods have it."""
    for each in podsets.pod_sets(manifest.data) if key == _SAFE else ():
        value, place = each.annotations.get(key, "true"), each.places.get("annotations")
        if value not in _WORDS and place is not None and not is_placeholder(value):
            yield Violation(
                (*place, key),
                f'{key} is "{value}", but {_READERS[key]} knows only "true" and "false"',
                'write "true" or "false"',
            )


def _of_networks(pod_set: PodSet) -> Iterator[Violation]:
    place = pod_set.places.get("annotations")
    if place is None:
        return
    for key, value in pod_set.annotations.items():
        if key == multus.NETWORKS:
            for what, advice in multus.faults(value.strip()):
                message = f"the annotation {key} {what}: Multus refuses the pods"
                yield Violation((*place, key), message, advice)
        elif key.endswith(_LIKE_NETWORKS):
            message = f"Multus does not read {key}: the pods get no further network"
            yield Violation((*place, key), message, f"write {multus.NETWORKS}", key=True)


RULE = Rule(
    code="PK147",
    name="pod-annotation-misplaced",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=(
        *("afe-to-evict", "enable-ds-eviction", "pod-deletion-cost", "descheduler.alpha", "gke-gcsfuse"),
        *("gke-parallelstore", "v1.cni.cncf", "do-not-disrupt", "gress-bandwidth", "networking.gke.io"),
        "multus-cni.io",
    ),
)
