"""CronJobs of Volcano as their webhook admits them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policykit.kube import cron
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.document import Manifest
from policykit.manifests.shape import mapping, text

_LONGEST = 52
"""The Jobs' names have 11 characters more."""
_ZONE_PART = re.compile(r"[A-Za-z._0-9+-]{1,14}\Z")


def faults(manifest: Manifest) -> Iterator[Violation]:
    """Source: `webhooks/admission/cronjobs/validate/admit_cronjob.go` (1.13 to 1.15)."""
    spec = mapping(manifest.data.get("spec"))
    yield from _schedule(spec.get("schedule"))
    yield from _zone(spec.get("timeZone"))
    if len(manifest.name) > _LONGEST and not is_placeholder(manifest.name):
        yield Violation(
            ("metadata", "name"),
            f"the name of the CronJob has {len(manifest.name)} characters, the limit is {_LONGEST}",
            "give it a shorter one: its jobs have 11 characters more",
        )


def _schedule(written: object) -> Iterator[Violation]:
    if not isinstance(written, str) or is_placeholder(written):
        return
    path = ("spec", "schedule")
    if not written:
        yield Violation(path, "schedule is empty", "write five fields: 0 2 * * * is every night at 2")
    elif "TZ" in written:
        yield Violation(path, f"schedule {written!r} has a time zone", "write it as timeZone")
    elif problem := cron.problem(written):
        yield Violation(
            path,
            f"schedule {written!r} {problem}",
            "write minute, hour, day of the month, month, day of the week",
        )


def _zone(written: object) -> Iterator[Violation]:
    if not isinstance(written, str) or is_placeholder(written):
        return
    parts = written.split("/")
    named = all(_ZONE_PART.match(part) and part not in (".", "..") and part[0] != "-" for part in parts)
    if not text(written) or written.lower() == "local" or not named:
        yield Violation(
            ("spec", "timeZone"),
            f"timeZone {written!r} is no name of a time zone",
            "write one of the IANA list, such as Asia/Shanghai, or leave it out",
        )
