"""Schedules of CronJobs."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.cron import problem
from policykit.kube.structure.admission.values import Data, refused
from policykit.kube.structure.scalars import is_filled_in
from policykit.manifests.path import lookup
from policykit.manifests.problem import Problem

_HELP = "write minute, hour, day of the month, month and day of the week, as in `0 2 * * *`"


def cron_job(data: Data) -> Iterator[Problem]:
    """Source: `validateScheduleFormat` (Kubernetes v1.36): a time zone has a field of its own."""
    schedule = lookup(data, ("spec", "schedule"))
    if not isinstance(schedule, str) or not schedule or is_filled_in(schedule):
        return
    if schedule.startswith(("TZ=", "CRON_TZ=")):
        zone, _, rest = schedule.partition(" ")
        advice = f"write schedule: {rest!r} and timeZone: {zone.partition('=')[2]}"
        yield refused(("spec", "schedule"), "states a time zone, which belongs to timeZone", advice)
    elif _is_whole(schedule) and (wrong := problem(schedule)):
        yield refused(("spec", "schedule"), wrong, _HELP)


def _is_whole(schedule: str) -> bool:
    """Whether it has five fields or is a word: the schema refuses anything else."""
    return schedule.startswith("@") or len(schedule.split()) == 5
