"""Users and groups of queues and tenants."""

from __future__ import annotations

from policykit.manifests.path import Path
from policykit.policy.compile.draft import Draft
from policykit.policy.compile.known import once

EVERYBODY = "*"


def check_people(draft: Draft, path: Path, users: tuple[str, ...], groups: tuple[str, ...]) -> None:
    """Reports names that no system accepts: empty ones, and ones with spaces or commas."""
    for part, names in (("users", users), ("groups", groups)):
        for number, name in enumerate(names):
            if not name or any(letter.isspace() or letter == "," for letter in name):
                message = f"{name!r} is not a {part[:-1]} name, which has no spaces or commas"
                draft.problems.error((*path, part, number), message, "give each name its own entry")
        once(draft, (*path, part), names)
    if EVERYBODY in groups:
        place = (*path, "groups", groups.index(EVERYBODY))
        draft.problems.error(place, "'*' means everybody and belongs under users", 'set users: ["*"]')
