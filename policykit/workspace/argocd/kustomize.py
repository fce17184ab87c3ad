"""What Argo CD adds to a kustomization: the field `kustomize` of a source."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from policykit.workspace import boundary
from policykit.workspace.argocd.repository import UnreadableError

_SAME = ("namePrefix", "nameSuffix", "namespace", "commonAnnotations", "replicas", "patches")
"""Fields with the same name in a kustomization."""
_NOTHING = frozenset({"version", "forceCommonLabels", "forceCommonAnnotations", "kubeVersion", "apiVersions"})
"""Fields that do not matter here."""
_LABELS = ("commonLabels", "labelWithoutSelector", "labelIncludeTemplates")
_IMAGE = re.compile(
    r"(?:(?P<name>[^=\s]+)=)?(?P<new>[^=@\s]+?)(?::(?P<tag>[\w.-]{1,128}))?(?:@(?P<digest>\S+))?"
)


def added_fields(said: Mapping[str, Any], folder: str, root: str) -> dict[str, Any]:
    """The fields of a kustomization that wraps the one in a folder. Raises UnreadableError."""
    known = {*_SAME, *_NOTHING, *_LABELS, "images", "components", "ignoreMissingComponents"}
    unknown = sorted(field for field in said if field not in known and said[field])
    if unknown:
        raise UnreadableError(f"its kustomize has {unknown[0]}, which is not read")
    patches = said.get("patches")
    if any(
        isinstance(each, dict) and each.get("path") for each in (patches if isinstance(patches, list) else ())
    ):
        raise UnreadableError("its kustomize has a patch in a file, which is not read")
    added: dict[str, Any] = {field: said[field] for field in _SAME if said.get(field)}
    if isinstance(said.get("images"), list):
        added["images"] = [_image(str(each)) for each in said["images"]]
    if said.get("commonLabels"):
        added["labels"] = [
            {
                "pairs": said["commonLabels"],
                "includeSelectors": not said.get("labelWithoutSelector"),
                "includeTemplates": bool(said.get("labelIncludeTemplates")),
            }
        ]
    if isinstance(said.get("components"), list):
        named = [str(each).replace("\0", "") for each in said["components"]]
        places = [os.path.realpath(os.path.join(folder, each)) for each in named]
        if not all(boundary.contains(root, place) for place in places):
            raise UnreadableError("one of its components is outside of the repository")
        missing = [place for place in places if not os.path.isdir(place)]
        if missing and not said.get("ignoreMissingComponents"):
            raise UnreadableError(f"its component {os.path.basename(missing[0])} does not exist")
        added["components"] = [place for place in places if place not in missing]
    return added


def _image(said: str) -> dict[str, str]:
    """An item of `images` from `name=new:tag@digest`, where all but one name is optional."""
    match = _IMAGE.fullmatch(said)
    if match is None:
        raise UnreadableError(f"its image {said} is not a valid image")
    found = {"name": match["name"] or match["new"]}
    if match["name"]:
        found["newName"] = match["new"]
    if match["tag"]:
        found["newTag"] = match["tag"]
    if match["digest"]:
        found["digest"] = match["digest"]
    return found
