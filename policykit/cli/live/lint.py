"""`policykit lint --live`: the objects of a cluster instead of files."""

from __future__ import annotations

from policykit.cli.live.inspection import Choice, cluster_of, finish, lint_objects, read_objects, setting_of
from policykit.cli.live.session import reading
from policykit.live.access import Access

__all__ = ("Choice", "lint_cluster")


def lint_cluster(access: Access, choice: Choice) -> int:
    """Prints findings; the exit code."""
    cluster = cluster_of(choice)
    setting = setting_of(choice, cluster)
    with reading(access) as read:
        objects = read_objects(read, cluster)
    report = lint_objects(objects, setting)
    return finish(report, objects, setting, choice, read)
