"""The syntax of suppressions: rules, end date and reason."""

from __future__ import annotations

import re
from collections.abc import Collection

from policykit.namedtuple import NamedTuple

_UNTIL = re.compile(r"(?:^|\s)until(?:\s|$)")
_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})", re.ASCII)
_SEPARATOR = re.compile(r"[,\s]+")


class Directive(NamedTuple):
    """The content of a suppression."""

    rules: tuple[str, ...] = ()
    """Codes, names or families as written; empty: it is not a valid suppression."""
    until: str | None = None
    """The last day on which it applies, as written; None: it has no end."""
    reason: str = ""

    @property
    def dated(self) -> bool:
        """Whether its end is a valid date; if not, it never expires."""
        return self.until is not None and is_day(self.until)

    def expired(self, today: str) -> bool:
        """Whether its last day is before `today`, YYYY-MM-DD; empty: nothing expires."""
        return bool(today) and self.until is not None and self.dated and self.until < today


def of_comment(names: str, rest: str) -> Directive:
    """The directive in a comment: the text in its brackets, and the text after them."""
    said, _, reason = rest.partition("--")
    before, until = _ending(said)
    return Directive() if before.strip() else Directive(_names(names), until, reason.strip())


def of_annotation(text: str) -> Directive:
    """`PK101, PK103 until 2026-12-31 -- why`."""
    said, _, reason = text.partition("--")
    names, until = _ending(said)
    return Directive(_names(names), until, reason.strip())


def without(names: str, words: Collection[str]) -> str:
    """A list of rules without some of its words; spaces and commas between the others are kept."""
    text = names.strip()
    pieces = ["", *re.split(r"([,\s]+)", text)]
    kept = [pair for pair in zip(pieces[::2], pieces[1::2], strict=True) if pair[1] not in words]
    shorter = "".join(before * (position > 0) + word for position, (before, word) in enumerate(kept))
    return names.replace(text, shorter, 1) if text else names


def _ending(said: str) -> tuple[str, str | None]:
    """The text before `until`, and the text after it."""
    match = _UNTIL.search(said)
    return (said[: match.start()], said[match.end() :].strip()) if match else (said, None)


def _names(text: str) -> tuple[str, ...]:
    return tuple(word for word in _SEPARATOR.split(text) if word)


def is_day(text: str) -> bool:
    """Whether a text is a valid date, YYYY-MM-DD."""
    match = _DAY.fullmatch(text)
    if match is None:
        return False
    from datetime import date

    try:
        date(*(int(part) for part in match.groups()))
    except ValueError:
        return False
    return True
