"""The day of a run, from outside: suppressions with an end are held against it."""

from __future__ import annotations

import os
import time

from policykit.errors import UsageError

VARIABLE = "POLICYKIT_TODAY"


def today() -> str:
    """YYYY-MM-DD as the environment says, else today in UTC. Raises UsageError where it is no day."""
    given = os.environ.get(VARIABLE, "")
    if given:
        from policykit.linter.suppression_syntax import is_day

        if not is_day(given):
            raise UsageError(f"{VARIABLE} is {given!r}, not a valid date", "write it as 2030-12-31")
    return given or time.strftime("%Y-%m-%d", time.gmtime())
