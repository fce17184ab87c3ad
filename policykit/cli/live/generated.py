"""The objects that a policy generates, as they are applied."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from policykit import api
from policykit.generator.artifact import Role
from policykit.generator.bundle import POLICY_LABEL
from policykit.importer.documents import objects
from policykit.kube.names import label_value_problem
from policykit.live.drift import Abandoned, Comparison, abandoned, comparisons
from policykit.live.kinds import kinds_of_generation
from policykit.live.reading import Reading
from policykit.model.cluster import Cluster
from policykit.namedtuple import NamedTuple


class Drift(NamedTuple):
    """A policy's objects and those of a cluster."""

    compared: Sequence[Comparison]
    abandoned: Sequence[Abandoned]


def generated_objects(cluster: Cluster) -> Iterator[dict[str, Any]]:
    """In the order of their files."""
    for artifact in api.generate(cluster).artifacts:
        if artifact.role is Role.MANIFEST:
            for manifest in objects(artifact.text, artifact.path):
                yield manifest.data


def comparison(read: Reading, cluster: Cluster) -> Drift:
    """What the policy generates beside what the cluster has of it, and what it generated once.

    Raises ClusterError.
    """
    made = [*generated_objects(cluster)]
    compared = [*comparisons(read, made)]
    every = (cluster.name, *cluster.formerly.names)
    names = ",".join(name for name in every if name and not label_value_problem(name))
    if not names:
        return Drift(compared, ())
    left = abandoned(read, f"{POLICY_LABEL} in ({names})", kinds_of_generation(), made)
    return Drift(compared, [*left])
