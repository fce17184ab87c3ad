"""The objects that a policy generates, beside those of a cluster: for `gen --diff --live` and `audit`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from policykit import api
from policykit.cli.live import reading, tell
from policykit.formats.diff import diff
from policykit.generator.artifact import Role
from policykit.generator.bundle import POLICY_LABEL
from policykit.importer.files import objects
from policykit.kube.names import label_value_problem
from policykit.live.connection import Access
from policykit.live.drift import Comparison, OrphanedObject, abandoned, comparisons
from policykit.live.kinds import generated_kinds
from policykit.live.objects import ClusterReader
from policykit.model.cluster import Cluster
from policykit.namedtuple import NamedTuple


class Drift(NamedTuple):
    """A policy's objects and those of a cluster."""

    compared: Sequence[Comparison]
    abandoned: Sequence[OrphanedObject]


def generated_objects(cluster: Cluster) -> Iterator[dict[str, Any]]:
    """In the order of their files."""
    for artifact in api.generate(cluster).artifacts:
        if artifact.role is Role.MANIFEST:
            for manifest in objects(artifact.text, artifact.path):
                yield manifest.data


def comparison(read: ClusterReader, cluster: Cluster) -> Drift:
    """What the policy generates beside what the cluster has of it, and what it generated once.

    Raises ClusterError.
    """
    made = [*generated_objects(cluster)]
    compared = [*comparisons(read, made)]
    every = (cluster.name, *cluster.formerly.names)
    names = ",".join(name for name in every if name and not label_value_problem(name))
    if not names:
        return Drift(compared, ())
    left = abandoned(read, f"{POLICY_LABEL} in ({names})", generated_kinds(), made)
    return Drift(compared, [*left])


class Difference(NamedTuple):
    """An object that is not as the policy generates it."""

    name: str
    diff: str
    verb: str


def differences(access: Access, cluster: Cluster) -> list[Difference]:
    """In the order of the generated files, then what they no longer have. Raises ClusterError."""
    with reading(access) as read:
        drift = comparison(read, cluster)
        found = [
            Difference(
                each.name,
                diff(each.name, each.there, each.wanted),
                "differs" if each.there else "is missing",
            )
            for each in drift.compared
            if each.there != each.wanted
        ]
        found += [
            Difference(each.name, diff(each.name, each.there, ""), "is no longer generated")
            for each in drift.abandoned
        ]
    tell(read)
    return found
