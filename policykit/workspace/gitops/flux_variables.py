"""Variables of a Flux Kustomization: its `postBuild`, and the ConfigMaps and Secrets that it names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from policykit.manifests.shape import mapping
from policykit.workspace import filesystem, safe_paths
from policykit.workspace.files import repository_root
from policykit.workspace.gitops.controller_files import ControllerObject, controller_files, written_objects
from policykit.workspace.gitops.sources import Variables, merge_variables, texts, variables_of_object
from policykit.workspace.kustomization_entries import first_document
from policykit.workspace.policies import is_cluster, nearest_policy

POST_BUILD = frozenset({"substitute", "substituteFrom", "substituteStrategy"})
"""Fields of `postBuild` that are applied."""


def post_build_variables(stated: ControllerObject, post: Mapping[str, Any], folder: str) -> Variables | None:
    """The variables of a Kustomization, for the cluster whose policy is in a folder; None: nothing is
    substituted.
    """
    references = post.get("substituteFrom")
    found = [
        _referenced(stated, each, folder)
        for each in (references if isinstance(references, list) else ())
        if isinstance(each, dict)
    ]
    if mapping(post.get("substitute")):
        found.append(Variables(texts(mapping(post.get("substitute")))))
    always = post.get("substituteStrategy") == "Always"
    return merge_variables(found)._replace(always=always) if found or always else None


def _referenced(stated: ControllerObject, reference: Mapping[str, Any], folder: str) -> Variables:
    """The variables of a ConfigMap or Secret next to the Kustomization, else in the folder of the policy,
    else anywhere but next to the policy of another cluster; if it is not here, any may exist.
    """
    kind, name = str(reference.get("kind")), str(reference.get("name"))
    here = os.path.dirname(stated.file)
    root = repository_root(here) or here
    candidates = [
        (file, variables)
        for file, variables in (*_written(root, kind, name), *_generated(root, kind, name))
        if not _is_of_another_cluster(file, folder, here)
    ]
    for place in dict.fromkeys((here, folder, root)):
        found = [variables for file, variables in candidates if safe_paths.is_within(file, place)]
        if len(found) == 1:
            return found[0]
    return Variables(complete=False)


def _is_of_another_cluster(file: str, folder: str, here: str) -> bool:
    """Whether the nearest policy is neither above the cluster's own policy nor above the Kustomization."""
    owner = nearest_policy(os.path.dirname(file))
    above = filesystem.realpath(os.path.dirname(owner))
    inside = any(safe_paths.is_within(filesystem.realpath(each), above) for each in (folder, here))
    return bool(owner) and not inside and is_cluster(owner)


def _written(root: str, kind: str, name: str) -> Iterator[tuple[str, Variables]]:
    for file in controller_files(root).variables:
        for each in written_objects(file, name):
            if (each.manifest.kind, each.manifest.name) == (kind, name):
                yield file, variables_of_object(each.manifest.data)


def _generated(root: str, kind: str, name: str) -> Iterator[tuple[str, Variables]]:
    """ConfigMaps and Secrets that generators of kustomizations make under exactly this name."""
    field = {"ConfigMap": "configMapGenerator", "Secret": "secretGenerator"}.get(kind, "")
    for file in controller_files(root).generators if field else ():
        data = first_document(file)
        stated = data.get(field)
        renamed = data.get("namePrefix") or data.get("nameSuffix")
        for each in stated if isinstance(stated, list) and not renamed else ():
            if isinstance(each, dict) and each.get("name") == name and _keeps_its_name(each, data):
                yield file, _of_generator(each) if kind == "ConfigMap" else Variables(complete=False)


def _keeps_its_name(generator: Mapping[str, Any], data: Mapping[str, Any]) -> bool:
    return any(
        mapping(options).get("disableNameSuffixHash") is True
        for options in (generator.get("options"), data.get("generatorOptions"))
    )


def _of_generator(generator: Mapping[str, Any]) -> Variables:
    """Its literals; files and what it merges with may define anything else."""
    literals = generator.get("literals")
    pairs = [str(each).partition("=") for each in (literals if isinstance(literals, list) else ())]
    others = ("env", "envs", "files", "behavior")
    known = texts({name: _unquoted(value) for name, _, value in pairs})
    return Variables(known, complete=not any(generator.get(field) for field in others))


def _unquoted(value: str) -> str:
    """As kustomize reads a literal: without one pair of quotes around it."""
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value
