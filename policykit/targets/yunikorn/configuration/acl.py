"""Access lists: `users groups`, each a list with commas, between them exactly one space."""

from __future__ import annotations

import re

from policykit.model.queue import Submitters

EVERYBODY = "*"
ALL = Submitters((EVERYBODY,))
_USER = re.compile(r"[_a-zA-Z][a-zA-Z0-9_.@-]*[$]?\Z")
_GROUP = re.compile(r"[_a-zA-Z][a-zA-Z0-9_-]*\Z")


def write(people: Submitters) -> str:
    """The text of an access list; empty for nobody."""
    if EVERYBODY in (*people.users, *people.groups):
        return EVERYBODY
    users, groups = ",".join(people.users), ",".join(people.groups)
    return f"{users} {groups}" if groups else users


def read(text: str) -> Submitters | None:
    """People of an access list; None for a text that creating the queue fails on (core acl.go, 1.9)."""
    parts = text.split(" ")
    if len(parts) > 2:
        return None
    users, groups = (*(tuple(filter(None, part.split(","))) for part in parts), ())[:2]
    if (EVERYBODY,) in (users, groups):
        return ALL
    return Submitters(users, groups)


def invalid_names(people: Submitters) -> tuple[str, ...]:
    """Names that YuniKorn drops from an access list: it knows them in no other form."""
    users = [user for user in people.users if user != EVERYBODY and not _USER.match(user)]
    groups = [group for group in people.groups if group != EVERYBODY and not _GROUP.match(group)]
    return (*users, *groups)
