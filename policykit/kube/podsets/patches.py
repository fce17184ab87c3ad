"""Patches inside an object that are applied to the pod last."""

from __future__ import annotations

from typing import Any

from policykit.kube.podsets.layers import laid
from policykit.kube.podsets.shapes import Places, Pod, pod_template
from policykit.kube.podsets.walk import value
from policykit.manifests.parser import parse
from policykit.manifests.path import Path


def patched(data: Any, pod: Pod) -> Pod:
    """The pod with its strategic merge patches applied; patches that are not maps are skipped."""
    for place in pod.patches:
        patch = _patch(value(data, place), place)
        if patch is not None:
            pod = laid(patch, pod, "strategic", {}, main=pod)
    return pod


def _patch(found: Any, place: Path) -> Pod | None:
    """A map is a patch of the whole template, text one of its PodSpec (Argo podSpecPatch)."""
    if isinstance(found, dict):
        return pod_template(found, place)
    if not isinstance(found, str):
        return None
    document = next(parse(found), None)
    spec = document.root.data if document and document.root else None
    if not isinstance(spec, dict):
        return None
    # A text has no paths inside: everything the patch sets is located at the text.
    places: Places = {**{str(field): place for field in spec}, "labels": None, "annotations": None}
    return Pod(spec, {}, {}, places, None)
