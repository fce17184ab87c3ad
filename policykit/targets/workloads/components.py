"""Which objects the generated kustomize components patch, and how they select them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from policykit.manifests.path import Path
from policykit.namedtuple import NamedTuple
from policykit.placement.recognition import WORKLOAD_KEY
from policykit.targets import TARGETS

_SELECTOR = re.compile(rf"(?:^|,){re.escape(WORKLOAD_KEY)}=([A-Za-z0-9._-]+)(?:,|$)")


class BuiltIn(NamedTuple):
    """A built-in kind that creates pods, and the path of its pod template."""

    kind: str
    api_version: str
    template: Path

    @property
    def group(self) -> str:
        group, slash, _ = self.api_version.partition("/")
        return group if slash else ""

    @property
    def owner(self) -> Path:
        """The object that makes the pods: of a CronJob those are the Jobs it makes."""
        return self.template[:-2] if len(self.template) > 2 else ()


BUILT_IN = (
    BuiltIn("CronJob", "batch/v1", ("spec", "jobTemplate", "spec", "template")),
    BuiltIn("Deployment", "apps/v1", ("spec", "template")),
    BuiltIn("Job", "batch/v1", ("spec", "template")),
    BuiltIn("Pod", "v1", ()),
    BuiltIn("PodTemplate", "v1", ("template",)),
    BuiltIn("ReplicaSet", "apps/v1", ("spec", "template")),
    BuiltIn("ReplicationController", "v1", ("spec", "template")),
    BuiltIn("StatefulSet", "apps/v1", ("spec", "template")),
)
"""Without DaemonSets: they serve nodes, and are of no workload kind."""


def has_component(data: Mapping[str, Any]) -> bool:
    """Whether generated components patch objects of this kind."""
    version, kind = data.get("apiVersion"), data.get("kind")
    own = any((version, kind) == (each.api_version, each.kind) for each in BUILT_IN)
    return own or (isinstance(version, str) and is_job_group(version.partition("/")[0]))


def is_job_group(group: str) -> bool:
    """Whether a system has job kinds of its own in an API group."""
    return any(target.jobs.group == group for target in TARGETS if target.jobs)


def selector(workload: str) -> str:
    """The label selector for objects of a workload kind."""
    return f"{WORKLOAD_KEY}={workload}"


def selected_kinds(component: Mapping[str, Any]) -> frozenset[str]:
    """The workload kinds that the patches of a component select by label."""
    patches = component.get("patches")
    targets = (
        [each.get("target") for each in patches if isinstance(each, dict)]
        if isinstance(patches, list)
        else []
    )
    texts = [each.get("labelSelector") for each in targets if isinstance(each, dict)]
    return frozenset(
        found[1] for text in texts if isinstance(text, str) and (found := _SELECTOR.search(text))
    )
