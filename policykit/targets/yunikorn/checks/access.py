"""Access lists that pass the validator, and then stop the queue from being made or leave people out.

Source: core common/security/acl.go, release 1.9.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.manifests.path import Path
from policykit.model.severity import Severity
from policykit.targets.yunikorn.checks.problem import Located, Problem
from policykit.targets.yunikorn.configuration import acl

_FORM = "write `users groups`: names with commas and no spaces, one space between the two lists"


def problems(tree: Located) -> Iterator[Problem]:
    """Of every queue; a list that the validator refuses is left to it."""
    for each in tree.walk():
        for key, text in (("submitacl", each.queue.submit), ("adminacl", each.queue.admin)):
            if len(text.split()) <= 2:
                yield from _list(key, text, each.queue.name, (*each.path, key))


def _list(key: str, text: str, queue: str, path: Path) -> Iterator[Problem]:
    people = acl.read(text)
    if people is None:
        message = f"{key} {text!r} has more than one space, on which making queue {queue} fails"
        yield Problem(path, "acl-spaces", message, _FORM)
        return
    if "\t" in text.strip("\t"):
        message = f"{key} {text!r} has a tab, which divides nothing: all of it is one name that nobody has"
        yield Problem(path, "acl-spaces", message, _FORM)
        return
    users, _, groups = text.partition(" ")
    if users.endswith(",") and groups.strip(" ,"):
        message = f"{key} {text!r}: what follows the space is read as groups, not as users"
        yield Problem(path, "acl-comma", message, "delete the space after the comma", Severity.WARNING)
        return
    dropped = _dropped(text)
    if dropped:
        nobody = len(dropped) == len(_names(text))
        yield Problem(
            path,
            "acl-name",
            f"{key} of queue {queue} cannot name {', '.join(map(_shown, dropped))}",
            "YuniKorn drops it: users are letters, digits and _ . @ -, groups letters, digits and _ -"
            + ("; nobody is left" if nobody else ""),
            None if nobody else Severity.WARNING,
        )


def _names(text: str) -> list[str]:
    return [name for part in text.split(" ") for name in part.split(",") if name]


def _dropped(text: str) -> tuple[str, ...]:
    """Names that YuniKorn leaves out; `*` stands for everybody only where it is all of its part."""
    people = acl.read(text)
    if people is None or people == acl.ALL:
        return ()
    beside = [name for name in _names(text) if name == acl.EVERYBODY]
    return (*beside, *acl.strangers(people))


def _shown(name: str) -> str:
    return name if name.isprintable() else repr(name)
