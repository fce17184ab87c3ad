"""Reads workload kinds back from the generated kustomize components under `workloads/`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.tolerations import read as read_tolerations
from policykit.linter.import_reader import ImportReader, WorkloadComponent
from policykit.manifests.parser import parse
from policykit.manifests.shape import mapping, mappings, text
from policykit.model.inventory import Component, Inventory, LevelBound
from policykit.placement.recognition import WORKLOAD_KEY
from policykit.targets import TARGETS
from policykit.targets.workloads import generate

_HELPERS = "helpers"
_WORD = re.compile(r"[a-z0-9.]+")


class WorkloadsReader(ImportReader):
    """Reads the components that `gen` wrote."""

    target_name = "workloads"

    def __init__(self, inventory: Inventory) -> None:
        super().__init__(inventory)
        self.files: dict[str, dict[str, str]] = {}
        """Folder of a component to file name to text."""

    def read_generated(self, path: tuple[str, ...], source: str) -> bool:
        if len(path) == 2:
            self.files.setdefault(path[0], {})[path[1]] = source
        return True

    def finish(self) -> None:
        found = (read_component(folder, files) for folder, files in self.files.items())
        self.inventory.components = [each for each in found if each]


def read_component(folder: str, files: Mapping[str, str]) -> Component | None:
    """The component in a folder; None: it has no patch for Deployments."""
    kustomization = files.get("kustomization.yaml", "")
    patches = {
        (group, kind): text(each.get("patch"))
        for each in mappings(mapping(next(_documents(kustomization), None)).get("patches"))
        for group, kind in _targets(mapping(each.get("target")))
    }
    patch = mapping(next(_documents(patches.get(("apps", "Deployment"), "")), None))
    template = mapping(mapping(patch.get("spec")).get("template"))
    spec = mapping(template.get("spec"))
    workload = text(mapping(mapping(template.get("metadata")).get("labels")).get(WORKLOAD_KEY))
    if not workload:
        return None
    card = folder.removeprefix(f"{workload}-")
    metadata = mapping(template.get("metadata"))
    job_fields = _job_fields(patches.get(("batch.volcano.sh", "Job"), ""))
    component = WorkloadComponent(mapping(patch.get("metadata")), metadata, job_fields)
    rule = generate.read_gang_comment(kustomization)
    affinity = mapping(mapping(spec.get("affinity")).get("nodeAffinity"))
    required = mapping(affinity.get("requiredDuringSchedulingIgnoredDuringExecution"))
    terms = mappings(required.get("nodeSelectorTerms"))
    return Component(
        workload,
        "" if card == _HELPERS else card,
        tuple(each for term in terms[:1] for each in _expressions(term)),
        tuple(_preferred(affinity)),
        read_tolerations(spec.get("tolerations")),
        text(spec.get("schedulerName")),
        text(spec.get("priorityClassName")),
        next((queue for reader in _readers() if (queue := reader.component_queue(component))), ""),
        generate.NO_GANG_COMMENT in kustomization or rule is not None,
        tuple(_spread(spec)),
        _affinity_bound(mapping(mapping(spec.get("affinity")).get("podAffinity")))
        or next((level for reader in _readers() if (level := reader.component_level(component))), None),
        rule,
    )


def _targets(target: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """API groups and kinds of a patch's target, which are alternatives."""
    groups = _WORD.findall(text(target.get("group")))
    for kind in text(target.get("kind")).split("|"):
        yield from ((group, kind) for group in groups)


def _spread(spec: Mapping[str, Any]) -> Iterator[tuple[str, bool, int]]:
    for each in mappings(spec.get("topologySpreadConstraints")):
        skew = each.get("maxSkew")
        hard = each.get("whenUnsatisfiable") == "DoNotSchedule"
        yield text(each.get("topologyKey")), hard, skew if isinstance(skew, int) else 1


def _affinity_bound(affinity: Mapping[str, Any]) -> LevelBound | None:
    """The level of the affinity to pods of the same job."""
    required = mappings(affinity.get("requiredDuringSchedulingIgnoredDuringExecution"))
    preferred = mappings(affinity.get("preferredDuringSchedulingIgnoredDuringExecution"))
    for term in required:
        return LevelBound(True, text(term.get("topologyKey")))
    for weighted in preferred:
        return LevelBound(False, text(mapping(weighted.get("podAffinityTerm")).get("topologyKey")))
    return None


def _expressions(term: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for each in mappings(term.get("matchExpressions")):
        values = each.get("values")
        if isinstance(values, list) and each.get("operator") == "In":
            yield text(each.get("key")), tuple(value for value in values if isinstance(value, str))


def _preferred(affinity: Mapping[str, Any]) -> Iterator[tuple[int, str, str]]:
    for each in mappings(affinity.get("preferredDuringSchedulingIgnoredDuringExecution")):
        weight = each.get("weight")
        for key, values in _expressions(mapping(each.get("preference"))):
            if isinstance(weight, int) and len(values) == 1:
                yield weight, key, values[0]


def _job_fields(patch: str) -> dict[str, object]:
    """Path to value of the operations of a JSON patch."""
    operations = (each for data in _documents(patch) for each in mappings(data))
    return {text(operation.get("path")): operation.get("value") for operation in operations}


def _readers() -> Iterator[type[ImportReader]]:
    return (target.import_reader.load() for target in TARGETS if target.import_reader)


def _documents(source: str) -> Iterator[Any]:
    return (document.root.data for document in parse(source) if document.root is not None)
