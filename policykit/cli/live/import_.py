"""What `policykit import --live` reads."""

from __future__ import annotations

from policykit.cli.live.inspection import system_namespaces
from policykit.cli.live.session import reading, tell
from policykit.live.access import Access
from policykit.live.kinds import Kind, Role, of_roles

_SCHEDULERS = Kind("apps", "Deployment", Role.CONFIGURATIONS)


def texts_of(access: Access) -> dict[str, bytes]:
    """Nodes, queues, quotas, and what configures the schedulers, by the names of the objects."""
    wanted = (*of_roles(Role.NODES, Role.QUOTAS, Role.CONFIGURATIONS), _SCHEDULERS)
    with reading(access) as read:
        found = {each.name: each.text for each in read.objects(wanted, system_namespaces())}
    tell(read)
    return found
