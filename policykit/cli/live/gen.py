"""`policykit gen --diff --live`: generated objects beside those of a cluster."""

from __future__ import annotations

from policykit.cli.live.generated import generated_objects
from policykit.cli.live.session import reading, tell
from policykit.formats.diff import diff
from policykit.live.access import Access
from policykit.live.drift import comparisons
from policykit.model.cluster import Cluster
from policykit.namedtuple import NamedTuple


class Difference(NamedTuple):
    """An object that is not as the policy generates it."""

    name: str
    diff: str
    missing: bool

    @property
    def verb(self) -> str:
        return "is missing" if self.missing else "differs"


def differences(access: Access, cluster: Cluster) -> list[Difference]:
    """In the order of the generated files. Raises ClusterError."""
    with reading(access) as read:
        found = [
            Difference(each.name, diff(each.name, each.there, each.wanted), not each.there)
            for each in comparisons(read, generated_objects(cluster))
            if each.there != each.wanted
        ]
    tell(read)
    return found
