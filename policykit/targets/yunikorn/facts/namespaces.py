"""Of Namespaces: the annotations that YuniKorn reads, and where the amounts in them stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Stated
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.model.application import NamespaceMetadata
from policykit.targets.yunikorn import metadata
from policykit.targets.yunikorn.checks import namespace_quota


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Stated]:
    """NamespaceMetadata of a Namespace with annotations of YuniKorn."""
    ours = {key: text for key, text in manifest.annotations.items() if key.startswith(metadata.DOMAIN)}
    if not ours or manifest.api_version != "v1":
        return
    places: dict[str, Path] = {}
    inside: dict[str, Path] = {}
    for key, text in ours.items():
        places[key] = ("metadata", "annotations", key)
        for name in namespace_quota.entries(key, text):
            field = namespace_quota.field(key, name)
            places[field], inside[field] = places[key], (name,)
    yield Stated(NamespaceMetadata(manifest.name, tuple(ours.items())), places, inside)
