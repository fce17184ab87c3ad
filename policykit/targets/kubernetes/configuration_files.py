"""Facts about configurations of kube-scheduler that are applied like objects, and about who reads them so.

Source: `docs/addon_objects.md` of kops (1.36).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.shape import texts
from policykit.model.configuration_files import (
    ClusterOfProvisioner,
    ListedFile,
    MisplacedConfiguration,
)

_GROUP = "kustomize.config.k8s.io"
_FILES = (".yaml", ".yml", ".json")


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterable[Fact]:
    """Of a configuration that no other object holds, of a kustomization, or of a cluster of kops."""
    if manifest.kind == "Kustomization":
        if manifest.group in ("", _GROUP):
            for entry in texts(manifest.data.get("resources")):
                if entry.endswith(_FILES):
                    yield Fact(ListedFile(entry), {}, answers=True, as_written=True)
    elif manifest.kind == "Cluster":
        if manifest.group == "kops.k8s.io":
            yield Fact(ClusterOfProvisioner("kops"), {}, answers=True, as_written=True)
    elif manifest.holder is None and not manifest.partial:
        among = bool(manifest.document or manifest.base)
        yield Fact(MisplacedConfiguration(manifest.kind, among), {"kind": ("kind",)}, as_written=True)
