"""Cohort: ClusterQueues and Cohorts that share quota, written and read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.manifests.shape import mapping, text
from policykit.targets.kueue import versions
from policykit.targets.kueue.objects import resource_groups, stated_resources
from policykit.targets.kueue.objects.cluster_queues import fair_sharing, read_weight
from policykit.targets.kueue.objects.resource_groups import ResourceGroup
from policykit.targets.kueue.objects.stated_resources import Stated
from policykit.targets.release import Version

KIND = "Cohort"


class Cohort(NamedTuple):
    """ClusterQueues and Cohorts that share quota."""

    name: str
    parent: str = ""
    groups: tuple[ResourceGroup, ...] = ()
    """Quota that all below share, beside what they have themselves."""
    weight: int | None = None
    """Of fair sharing; None: 1."""
    stated: Stated | None = None
    """What the policy states; None: not known."""


def write(cohort: Cohort, version: Version) -> dict[str, Any]:
    """The object, in the version that the release serves."""
    spec: dict[str, Any] = {}
    if cohort.parent:
        spec[parent_field(version)] = cohort.parent
    if cohort.weight is not None:
        spec["fairSharing"] = fair_sharing(cohort.weight)
    if cohort.groups:
        spec["resourceGroups"] = [resource_groups.write(group) for group in cohort.groups]
    return {
        "apiVersion": versions.api_version(KIND, version),
        "kind": KIND,
        "metadata": {"name": cohort.name, **stated_resources.metadata(cohort.stated)},
        **({"spec": spec} if spec else {}),
    }


def parent_field(version: Version) -> str:
    """The field that names the parent."""
    return "parentName" if versions.has(version, versions.COHORT_V1BETA1) else "parent"


def read(data: Mapping[str, Any]) -> Cohort:
    """A Cohort object of any version; what is absent or of another shape is empty."""
    spec = mapping(data.get("spec"))
    return Cohort(
        text(mapping(data.get("metadata")).get("name")),
        text(spec.get("parentName") or spec.get("parent")),
        resource_groups.read(spec.get("resourceGroups")),
        read_weight(spec),
        stated_resources.read(data),
    )
