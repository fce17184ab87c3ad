"""Users and groups, as queues and tenants name them."""

from __future__ import annotations

from policykit.manifests.path import Path
from policykit.policy.compile.draft import Draft
from policykit.policy.compile.known import once

EVERYBODY = "*"


def check_people(draft: Draft, path: Path, users: tuple[str, ...], groups: tuple[str, ...]) -> None:
    """Reports names that no system takes: empty ones, and ones with spaces or commas."""
    for part, names in (("users", users), ("groups", groups)):
        for number, name in enumerate(names):
            if not name or any(letter.isspace() or letter == "," for letter in name):
                message = f"{name!r} is no name of a {part[:-1]}, which has no spaces and no commas"
                draft.problems.error((*path, part, number), message, "write one name for each entry")
        once(draft, (*path, part), names)
    if EVERYBODY in groups:
        place = (*path, "groups", groups.index(EVERYBODY))
        draft.problems.error(place, "'*' is everybody, which is said under users", 'write users: ["*"]')
