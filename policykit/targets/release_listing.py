"""The known releases and what differs between them, as text and as a page of the documentation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.escape import markdown
from policykit.linter.target import Target
from policykit.model.release import ReleaseFact, Releases, Version
from policykit.targets import TARGETS, target_of
from policykit.targets.releases import facts, table

_HEAD = ("what", "name", "from", "until", "source")


def targets() -> tuple[str, ...]:
    """Names of the targets with known releases."""
    return tuple(target.name for target in TARGETS if target.releases)


def listing() -> str:
    """Each target with its oldest and newest known release."""
    rows = [("system", "supported from", "known until", "dated facts")]
    for target, known in _known():
        newest = _minor(known.newest) if not known.by_patch else str(known.newest)
        count = str(len(facts(target))) if target.release_facts else ""
        rows.append((target.title, _minor(known.oldest), newest, count))
    return "\n".join([*_columns(rows), "", "a newer, older or vendor release is treated as the nearest", ""])


def page(target_name: str) -> str:
    """What differs between the releases of one target."""
    target = target_of(target_name)
    known = table(target) if target else None
    if target is None or known is None:
        raise KeyError(target_name)
    first = f"{target.title}: supported from {_minor(known.oldest)}, known until {known.newest}"
    rows = [_HEAD, *map(_row, sorted(facts(target), key=_order))]
    return "\n".join([first, "", *_columns(rows), ""]) if len(rows) > 1 else f"{first}\n"


def reference() -> str:
    """The page of the documentation."""
    lines = [
        "# What differs between releases",
        "",
        "<!-- Generated from the tables of the program by `make compiled`: do not edit. -->",
        "",
        "State the release of each system in the policy: `kubernetes` and `targets.<name>.version`. A newer,",
        "older or vendor release is treated as the nearest known one, with a notice.",
        "",
        "| system | supported from | known until |",
        "| --- | --- | --- |",
    ]
    lines += [f"| {t.title} | {_minor(known.oldest)} | {known.newest} |" for t, known in _known()]
    for target, _ in _known():
        found = sorted(facts(target), key=_order)
        if found:
            lines += ["", f"## {target.title}", "", f"| {' | '.join(_HEAD[:4])} | else |"]
            lines += ["| --- | --- | --- | --- | --- |"]
            lines += [_markdown_row(fact) for fact in found]
    return "\n".join([*lines, ""])


def _known() -> Iterator[tuple[Target, Releases]]:
    for target in TARGETS:
        known = table(target)
        if known:
            yield target, known


def _order(fact: ReleaseFact) -> tuple[Version, str, str, str]:
    return (fact.since or fact.gone or Version(0, 0, 0), fact.what, fact.name, fact.part)


def _row(fact: ReleaseFact) -> tuple[str, ...]:
    name = f"{fact.name}: {fact.part_name}" if fact.part else fact.name
    return (fact.what, name, _text(fact.since), _text(fact.gone), fact.source)


def _markdown_row(fact: ReleaseFact) -> str:
    what, name, since, gone, _ = _row(fact)
    return f"| {what} | {markdown(name)} | {since} | {gone} | {markdown(fact.instead)} |"


def _text(version: Version | None) -> str:
    return str(version) if version else ""


def _minor(version: Version) -> str:
    return f"{version.major}.{version.minor}"


def _columns(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(len(row[number]) for row in rows) for number in range(len(rows[0]))]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()
