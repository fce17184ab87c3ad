"""What it means for older releases that a policy states none: the files are written for the newest."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.errors import PolicykitError
from policykit.generator.artifact import Generate, Generated, Notice, Role
from policykit.model.cluster import Cluster
from policykit.model.release import Releases, Version, ranges

_MOST = 3
"""Notices of the oldest release that are repeated."""


def notices(
    target: str, write: Generate, cluster: Cluster, known: Releases, newest: Generated
) -> Iterator[Notice]:
    """One notice, if some supported release needs other files than the `newest`; none if all read the same.

    Every minor release is asked for its own files, which are thrown away.
    """
    made = {version: _written(write, cluster, target, version) for version in known.minors}
    others = [version for version, found in made.items() if _differs(found, newest)]
    if not others:
        return
    yield Notice(
        target,
        f"the policy states no release of {known.title}, so the files are written for {known.newest}; "
        f"{known.title} {ranges(others, tuple(made))} need{'s' if len(others) == 1 else ''} others"
        f"{_difference(made[others[0]], newest, others[0])}. Set targets.{target}.version",
    )


def _written(write: Generate, cluster: Cluster, target: str, version: Version) -> Generated | PolicykitError:
    settings = cluster.targets[target]._replace(version=str(version))
    try:
        return write(cluster._replace(targets={**cluster.targets, target: settings}))
    except PolicykitError as error:
        return error


def _differs(found: Generated | PolicykitError, newest: Generated) -> bool:
    return isinstance(found, PolicykitError) or _files(found) != _files(newest)


def _files(generated: Generated) -> tuple[tuple[str, str], ...]:
    """Without pages, which are for people."""
    return tuple((each.path, each.text) for each in generated.artifacts if each.role is not Role.PAGE)


def _difference(found: Generated | PolicykitError, newest: Generated, version: Version) -> str:
    """What the oldest of the other releases makes of the policy."""
    if isinstance(found, PolicykitError):
        return f" (with {version}: {found.message})"
    known = {notice.message for notice in newest.notices}
    more = [notice.message for notice in found.notices if notice.message not in known]
    return f" (with {version}: {'; '.join(more[:_MOST])})" if more else ""
