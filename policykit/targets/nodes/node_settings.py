"""Labels and taints that objects give nodes: Node, NodeFeatureRule, NodePool, kubeadm's files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube import tolerations
from policykit.manifests.document import Manifest, texts
from policykit.manifests.path import Path, lookup
from policykit.model.pool import Taint
from policykit.namedtuple import NamedTuple

_ARGUMENT = "node-labels"


class NodeSettings(NamedTuple):
    """Labels and taints of one set of nodes."""

    labels: Mapping[str, str]
    labels_at: Path
    """Path of the map of labels, or of the string that lists them."""
    keyed: bool
    """Whether `labels_at` is a map with a key per label."""
    taints: tuple[Taint, ...]
    taints_at: Path
    taints_final: bool
    """Whether no other object can add taints to these nodes."""
    requirements: Mapping[str, tuple[str, ...]] = {}
    """Node label to the values that an autoscaler may choose."""

    def label_at(self, key: str) -> Path:
        return (*self.labels_at, key) if self.keyed else self.labels_at


def read(manifest: Manifest) -> Iterator[NodeSettings]:
    """The settings of each set of nodes; none for other kinds."""
    if manifest.kind == "Node" and manifest.api_version == "v1":
        # Taints of a Node are often set by commands, so a missing list proves nothing.
        yield _settings(manifest, ("metadata", "labels"), ("spec", "taints"), taints_final=False)
    elif manifest.kind == "NodeFeatureRule":
        rules = lookup(manifest.data, ("spec", "rules"))
        for at, _ in enumerate(rules if isinstance(rules, list) else ()):
            rule: Path = ("spec", "rules", at)
            yield _settings(manifest, (*rule, "labels"), (*rule, "taints"), taints_final=False)
    elif manifest.kind == "NodePool" and manifest.group == "karpenter.sh":
        template: Path = ("spec", "template")
        found = _settings(
            manifest, (*template, "metadata", "labels"), (*template, "spec", "taints"), taints_final=True
        )
        asked = lookup(manifest.data, (*template, "spec", "requirements"))
        yield found._replace(requirements=_requirements(asked))
    elif manifest.kind in ("InitConfiguration", "JoinConfiguration"):
        yield from _kubeadm(manifest)


def _settings(manifest: Manifest, labels: Path, taints: Path, *, taints_final: bool) -> NodeSettings:
    written = lookup(manifest.data, taints)
    return NodeSettings(
        texts(lookup(manifest.data, labels)),
        labels,
        True,
        tolerations.read_taints(written),
        taints,
        taints_final or isinstance(written, list),
    )


def _kubeadm(manifest: Manifest) -> Iterator[NodeSettings]:
    """Settings of nodes that join: kubeletExtraArgs is a map up to v1beta3, and a list since."""
    base: Path = ("nodeRegistration", "kubeletExtraArgs")
    arguments = lookup(manifest.data, base)
    place: Path = (*base, _ARGUMENT)
    if isinstance(arguments, list):
        named = [at for at, one in enumerate(arguments) if isinstance(one, dict)]
        at = next((at for at in named if arguments[at].get("name") == _ARGUMENT), None)
        if at is None:
            return
        place = (*base, at, "value")
    listed = lookup(manifest.data, place)
    if not isinstance(listed, str):
        return
    pairs = [pair.partition("=") for pair in listed.split(",") if "=" in pair]
    taints: Path = ("nodeRegistration", "taints")
    written = lookup(manifest.data, taints)
    labels = {key.strip(): value.strip() for key, _, value in pairs}
    yield NodeSettings(labels, place, False, tolerations.read_taints(written), taints, True)


def _requirements(raw: Any) -> dict[str, tuple[str, ...]]:
    found = {}
    for one in raw if isinstance(raw, list) else ():
        if isinstance(one, dict) and one.get("operator") == "In" and isinstance(one.get("key"), str):
            values = one.get("values")
            listed = values if isinstance(values, list) else []
            found[one["key"]] = tuple(value for value in listed if isinstance(value, str))
    return found
