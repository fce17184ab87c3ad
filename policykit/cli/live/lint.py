"""`policykit lint --live`: the objects of a cluster instead of files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policykit.cli.live.inspection import cluster_of, finish, lint_objects, read_objects, setting_of
from policykit.cli.live.session import reading
from policykit.live.access import Access

if TYPE_CHECKING:
    from policykit.cli.linting.reports import ReportOptions
    from policykit.workspace.cache.folder import Cache


def lint_cluster(access: Access, policy: str, cache: Cache, reporting: ReportOptions) -> int:
    """Prints findings; the exit code."""
    cluster = cluster_of(policy, cache)
    setting = setting_of(reporting, cluster)
    with reading(access) as read:
        objects = read_objects(read, cluster)
    report = lint_objects(objects, setting)
    return finish(report, objects, setting, reporting, read)
