"""The objects that a policy generates, as they are applied."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policykit import api
from policykit.generator.artifact import Role
from policykit.importer.documents import objects
from policykit.model.cluster import Cluster


def generated_objects(cluster: Cluster) -> Iterator[dict[str, Any]]:
    """In the order of their files."""
    for artifact in api.generate(cluster).artifacts:
        if artifact.role is Role.MANIFEST:
            for manifest in objects(artifact.text, artifact.path):
                yield manifest.data
