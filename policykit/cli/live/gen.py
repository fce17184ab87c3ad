"""`policykit gen --diff --live`: generated objects beside those of a cluster."""

from __future__ import annotations

from policykit.cli.live.generated import comparison
from policykit.cli.live.session import reading, tell
from policykit.formats.diff import diff
from policykit.live.access import Access
from policykit.model.cluster import Cluster
from policykit.namedtuple import NamedTuple


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
