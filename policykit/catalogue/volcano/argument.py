"""Arguments of plugins and actions: their types, and what is wrong with a value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from policykit.manifests.path import Path, dotted
from policykit.nearest import nearest

Release = tuple[int, ...]
"""(1, 13) is the first release of that minor, (1, 13, 2) a patch."""


class Mistake(NamedTuple):
    """Something Volcano would not take as it is written."""

    path: Path
    message: str
    hint: str = ""
    key: bool = False
    """It is the key that is wrong, not what stands at it."""


class Argument(NamedTuple):
    """One argument. A value of another type is passed over by Volcano, or ends its process."""

    kind: str
    """whole, number, switch, text, names (a comma list), duration, hours, list or map."""
    default: object = None
    """What Volcano takes where it is left out; None: nothing, or it depends."""
    since: Release = ()
    gone: Release = ()
    """First release without it; empty: it is still there."""
    least: int | None = None
    choices: tuple[str, ...] = ()
    fields: Mapping[str, Argument] = {}
    """Of a map: the keys it may have; empty: any."""
    each: Argument | None = None
    """Of a list its items, of a map of any keys their values."""


_DURATION = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?(?:ns|us|ms|s|m|h))+\Z")
_HOURS = re.compile(r"(?:[01]?[0-9]|2[0-3]):[0-5][0-9]-(?:[01]?[0-9]|2[0-3]):[0-5][0-9]\Z")
_WORDS = {
    "whole": "a whole number",
    "number": "a number",
    "switch": "true or false",
    "text": "a text",
    "names": "names in one text, with commas between them",
    "duration": "a duration such as 1h30m",
    "hours": "hours of the day, as 20:00-08:00",
    "list": "a list",
    "map": "a map",
}


def release_text(release: Release) -> str:
    return ".".join(map(str, release))


def unknown(what: str, name: str, known: tuple[str, ...], path: Path) -> Mistake:
    """A name that no release has."""
    near = nearest(name, known)
    hint = f"did you mean {near}?" if near else f"known are {', '.join(sorted(known))}" if known else ""
    return Mistake(path, f"{what} {name!r} is not known to Volcano", hint, key=True)


def outside(what: str, since: Release, gone: Release, path: Path, have: Release | None) -> Iterator[Mistake]:
    """Says where a release does not have something; `have` None: the newest."""
    if have and since and have < since:
        message = (
            f"{what} is not in Volcano {release_text(have)}, {release_text(since)} is the first that has it"
        )
        yield Mistake(path, message, "leave it out, or install a newer release", key=True)
    elif gone and (have is None or have >= gone):
        yield Mistake(
            path, f"{what} is not read since Volcano {release_text(gone)}", "leave it out", key=True
        )


def mistakes(value: object, argument: Argument, path: Path, have: Release | None) -> Iterator[Mistake]:
    """What is wrong with the value of an argument."""
    name = _named(path)
    if not _fits(value, argument.kind):
        yield Mistake(path, f"{name} must be {_WORDS[argument.kind]}, not {value!r}")
    elif argument.least is not None and isinstance(value, (int, float)) and value < argument.least:
        yield Mistake(path, f"{name} is {value}, of {argument.least} at least")
    elif argument.choices and value not in argument.choices:
        shown = ", ".join(choice or '""' for choice in argument.choices)
        yield Mistake(path, f"{name} is {value!r}, which is none of {shown}")
    elif isinstance(value, Mapping):
        yield from _entries(value, argument, path, have)
    elif isinstance(value, list) and argument.each:
        for index, item in enumerate(value):
            yield from mistakes(item, argument.each, (*path, index), have)


def _entries(
    value: Mapping[str, object], argument: Argument, path: Path, have: Release | None
) -> Iterator[Mistake]:
    for key, entry in value.items():
        expected = argument.fields.get(key, argument.each)
        if expected:
            yield from mistakes(entry, expected, (*path, key), have)
        elif argument.fields:
            yield unknown(f"key of {_named(path)}", str(key), tuple(argument.fields), (*path, key))


def _named(path: Path) -> str:
    """The key, or the key of the list that an item stands in."""
    return str(path[-1]) if isinstance(path[-1], str) else dotted(path[-2:])


def _fits(value: object, kind: str) -> bool:
    if kind == "switch":
        return isinstance(value, bool)
    if kind in ("whole", "number"):
        wanted = int if kind == "whole" else (int, float)
        return isinstance(value, wanted) and not isinstance(value, bool)
    if kind in ("list", "map"):
        return isinstance(value, list if kind == "list" else Mapping)
    if not isinstance(value, str):
        return False
    form = {"duration": _DURATION, "hours": _HOURS}.get(kind)
    return form is None or form.match(value) is not None
