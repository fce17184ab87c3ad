"""Of Namespaces: the annotations that YuniKorn reads, and where the amounts in them are written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.model.application import NamespaceMetadata
from policykit.targets.yunikorn import metadata
from policykit.targets.yunikorn.names import NAMESPACE_QUOTA

GUARANTEED = "yunikorn.apache.org/namespace.guaranteed"
AMOUNTS = (NAMESPACE_QUOTA, GUARANTEED)
"""Annotations that hold a JSON object of amounts."""


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """NamespaceMetadata of a Namespace with annotations of YuniKorn."""
    ours = {key: text for key, text in manifest.annotations.items() if key.startswith(metadata.DOMAIN)}
    if not ours or manifest.api_version != "v1":
        return
    places: dict[str, Path] = {}
    inside: dict[str, Path] = {}
    for key, text in ours.items():
        places[key] = ("metadata", "annotations", key)
        for name in amounts(key, text):
            where = field(key, name)
            places[where], inside[where] = places[key], (name,)
    yield Fact(NamespaceMetadata(manifest.name, tuple(ours.items())), places, inside)


def field(annotation: str, name: str) -> str:
    """Name of the place of an entry in the JSON of an annotation."""
    return f"{annotation}#{name}"


def amounts(annotation: str, text: str) -> Mapping[str, object]:
    """The entries of an annotation with amounts; empty for any other, and for what is no JSON object."""
    if annotation not in AMOUNTS:
        return {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
