"""Kueue or the API server refuses a ResourceFlavor or Topology.

A flavor with a topology needs a node label, taints are unique by key and effect, and
kubernetes.io/hostname can only be the lowest level of a Topology.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.catalogue import labels
from policykit.kube import node_label_values, tolerations
from policykit.kube.names import label_key_problem, label_value_problem
from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, numbered
from policykit.model.cluster import Cluster
from policykit.model.severity import Severity
from policykit.targets.kueue import versions
from policykit.targets.kueue.names import GROUP, HOSTNAME
from policykit.targets.kueue.objects import resource_flavors

BAD = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata:
  name: racks
spec:
  levels:
  - nodeLabel: kubernetes.io/hostname
  - nodeLabel: example.com/rack
"""

GOOD = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata:
  name: racks
spec:
  levels:
  - nodeLabel: example.com/rack
  - nodeLabel: kubernetes.io/hostname
"""

_PREFERRED = "PreferNoSchedule"
_MOST_LABELS = 8
_FEWER_LEVELS = 8
"""Levels of a Topology before 0.13."""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Source: `pkg/webhooks/resourceflavor_webhook.go` and the CRDs' validation rules (0.9 to 0.19)."""
    if manifest.group == GROUP:
        yield from (_topology if manifest.kind == resource_flavors.TOPOLOGY else _flavor)(manifest, context)


def _flavor(manifest: Manifest, context: Context) -> Iterator[Violation]:
    spec = mapping(manifest.data.get("spec"))
    topology = spec.get("topologyName")
    if topology and not mapping(spec.get("nodeLabels")) and not manifest.partial:
        yield Violation(
            ("spec", "topologyName"),
            f"topologyName is {topology}, but nodeLabels is empty",
            "select the flavor's nodes with at least one label",
            key=True,
        )
    yield from _labels_of_itself(manifest, context.cluster)
    yield from _labels(manifest)
    yield from _values(mapping(spec.get("nodeLabels")))
    yield from _taints(manifest)
    yield from _own_tolerations(manifest)
    yield from _toleration_forms(manifest)


def _values(stated: Mapping[str, Any]) -> Iterator[Violation]:
    """Pods that are admitted select them."""
    for key, value in stated.items():
        if wrong := node_label_values.impossible(key, (value,)):
            yield Violation(
                ("spec", "nodeLabels", key),
                f"no node has {key}={wrong[0]}: admitted pods stay pending",
                node_label_values.advice(key, wrong[0]),
                Severity.WARNING,
            )


def _toleration_forms(manifest: Manifest) -> Iterator[Violation]:
    """As a pod must have them: the flavor adds them to its pods."""
    path: Path = ("spec", "tolerations")
    listed = mapping(manifest.data.get("spec")).get("tolerations")
    for number, toleration in enumerate(tolerations.read(listed)):
        if toleration.key and (problem := label_key_problem(toleration.key)):
            yield Violation(
                (*path, number, "key"),
                f"key {toleration.key!r} {problem}",
                "write the key of a taint",
            )
    for number, written in numbered(listed):
        operator, effect = written.get("operator"), written.get("effect")
        if not written.get("key") and operator != "Exists":
            message = "the toleration has no key, which only operator Exists allows"
            yield Violation(
                (*path, number), message, "write the key of a taint, or operator: Exists", key=True
            )
        elif operator == "Exists" and written.get("value"):
            message = f"operator Exists takes no value, and there is {written['value']!r}"
            yield Violation(
                (*path, number, "value"), message, "delete it, or write operator: Equal", key=True
            )
        if effect == "":
            yield Violation(
                (*path, number, "effect"), "effect is empty", "delete it, which means every effect"
            )
        if written.get("tolerationSeconds") is not None and effect != "NoExecute":
            message = "tolerationSeconds is only for the effect NoExecute"
            yield Violation((*path, number, "tolerationSeconds"), message, "delete it", key=True)


def _own_tolerations(manifest: Manifest) -> Iterator[Violation]:
    """Source: `flavorSelector` and the tolerations of flavors in `flavorassigner.go` (0.9.2 to 0.19)."""
    flavor = resource_flavors.read_flavor(manifest.data)
    for number, taint in enumerate(flavor.taints):
        if taint.key and any(tolerations.tolerates(each, taint) for each in flavor.tolerations):
            yield Violation(
                ("spec", "nodeTaints", number),
                f"the flavor's own tolerations tolerate {taint}: it is open to workloads that do not",
                "delete the toleration if only workloads that tolerate the taint are to get the flavor",
                Severity.INFO,
            )


def _labels_of_itself(manifest: Manifest, cluster: Cluster | None) -> Iterator[Violation]:
    """Labels of nodes among those of the object, which select nothing."""
    if manifest.partial or mapping(mapping(manifest.data.get("spec")).get("nodeLabels")):
        return
    known = {key for pool in cluster.pools for key in pool.labels} if cluster else set()
    found = [
        key
        for key in manifest.labels
        if key in known or labels.names_pool(key) or labels.names_machine(key) or labels.discovery(key)
    ]
    if found:
        yield Violation(
            ("metadata", "labels", found[0]),
            f"{found[0]} is a label of the flavor itself, which has no nodeLabels: its pods go to any node",
            "move it to spec.nodeLabels",
            Severity.WARNING,
            key=True,
        )


def _labels(manifest: Manifest) -> Iterator[Violation]:
    written = mapping(mapping(manifest.data.get("spec")).get("nodeLabels"))
    if len(written) > _MOST_LABELS:
        message = f"the flavor has {len(written)} node labels, more than {_MOST_LABELS}"
        yield Violation(
            ("spec", "nodeLabels"), message, "keep those that tell its nodes from others", key=True
        )
    for key, value in written.items():
        path: Path = ("spec", "nodeLabels", key)
        if not isinstance(key, str) or is_placeholder(key):
            continue
        if problem := label_key_problem(key):
            yield Violation(path, f"node label {key!r} {problem}", "write a label of nodes", key=True)
        elif isinstance(value, str) and not is_placeholder(value) and (fault := label_value_problem(value)):
            yield Violation(path, f"{key} is {value!r}, which {fault}", "write the value that the nodes have")


def _taints(manifest: Manifest) -> Iterator[Violation]:
    seen: set[tuple[str, str]] = set()
    taints = tolerations.read_taints(mapping(manifest.data.get("spec")).get("nodeTaints"))
    for number, taint in enumerate(taints):
        path: Path = ("spec", "nodeTaints", number)
        if not taint.key or is_placeholder(taint.key):
            continue
        if problem := label_key_problem(taint.key):
            yield Violation((*path, "key"), f"key {taint.key!r} {problem}", "write the key of a taint")
        if not is_placeholder(taint.value) and (fault := label_value_problem(taint.value)):
            yield Violation(
                (*path, "value"), f"value {taint.value!r} {fault}", "write the value that the taint has"
            )
        if taint.effect == _PREFERRED:
            message = (
                f"effect {_PREFERRED} keeps no workload from the flavor: Kueue heeds only the other effects"
            )
            yield Violation(
                (*path, "effect"), message, "write the taint's real effect, or delete it", Severity.INFO
            )
        if (taint.key, taint.effect) in seen:
            yield Violation(
                path,
                f"taint {taint.key}:{taint.effect} is listed twice",
                "list it once: taints are unique by key and effect",
            )
        seen.add((taint.key, taint.effect))


def _topology(manifest: Manifest, context: Context) -> Iterator[Violation]:
    levels = resource_flavors.read_topology(manifest.data).levels
    have = versions.release_of(context.cluster)
    checked = (have or versions.newest()) >= versions.TOPOLOGY_RULES
    severity = None if have else Severity.WARNING
    since = "" if have else f": Kueue refuses that since {versions.TOPOLOGY_RULES}"
    for number, level in enumerate(levels) if checked else ():
        path: Path = ("spec", "levels", number, "nodeLabel")
        if level in levels[:number]:
            yield Violation(path, f"level {level} is listed twice{since}", "list it once", severity)
        elif level == HOSTNAME and number < len(levels) - 1:
            below = ", ".join(levels[number + 1 :])
            yield Violation(
                path,
                f"{HOSTNAME} is above {below}, but it can only be the lowest level{since}",
                "move it to the end of the levels",
                severity,
            )
    if have and have < versions.MANY_LEVELS and len(levels) > _FEWER_LEVELS:
        yield Violation(
            ("spec", "levels"),
            f"the topology has {len(levels)} levels, but Kueue {have} allows {_FEWER_LEVELS}",
            "leave out levels that no workload names",
        )


RULE = Rule(
    code="PK921",
    name="invalid-resource-flavor",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"ResourceFlavor", "Topology"}),
)
