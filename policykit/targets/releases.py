"""The known releases, what differs between them, and what those of a policy lack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from policykit.escape import markdown
from policykit.linter.target import Target
from policykit.model.cluster import Cluster
from policykit.model.release import ReleaseFact, Releases, Version
from policykit.namedtuple import NamedTuple
from policykit.targets import TARGETS, target_of


class MissingFact(NamedTuple):
    """Something that a release lacks."""

    target: Target
    fact: ReleaseFact
    version: Version | None
    """None: the policy states no release, and no supported one has it."""

    @property
    def reason(self) -> str:
        """`Volcano 1.12.4 does not read annotation X: it was added in 1.13.0`."""
        fact = self.fact
        who = f"{self.target.title} {self.version}" if self.version else self.target.title
        verb = "has no" if fact.what == "kind" else "does not read"
        name = f"{fact.part_name} of {fact.name}" if fact.part else fact.name
        when = f"it was added in {fact.since}" if self._is_new else f"it was removed in {fact.gone}"
        return f"{who} {verb} {fact.what} {name}: {when}"

    @property
    def help(self) -> str:
        """What to do."""
        if self.fact.instead and self.fact.part:
            return f"this release takes it for {self.fact.instead}: upgrade, or remove it"
        if self.fact.instead:
            return f"write {self.fact.instead}"
        return f"upgrade {self.target.title}, or remove it" if self._is_new else "remove it"

    @property
    def _is_new(self) -> bool:
        since = self.fact.since
        return since is not None and self.version is not None and self.version < since


def missing(what: str, names: Mapping[str, str], cluster: Cluster | None) -> Iterator[MissingFact]:
    """Those of the names, with their values, that the releases of a policy lack."""
    for name, value in names.items():
        for target, fact in _facts(what).get(name, ()):
            version = stated(target, cluster)
            lacking = not fact.read_by(version) if version else _is_gone(target, fact)
            if lacking and fact.is_stated(value):
                yield MissingFact(target, fact, version)


def stated(target: Target, cluster: Cluster | None) -> Version | None:
    """The release of a target that a policy states; None: it states none."""
    settings = cluster.targets.get(target.name) if cluster else None
    known = table(target)
    return known.parse(settings.version) if known and settings and settings.version else None


def table(target: Target) -> Releases | None:
    """The releases of a target; None: nothing about it depends on the release."""
    return target.releases.load() if target.releases else None


def facts(target: Target) -> tuple[ReleaseFact, ...]:
    """What only some releases of a target have."""
    return target.release_facts.load() if target.release_facts else ()


def _is_gone(target: Target, fact: ReleaseFact) -> bool:
    """Whether no supported release has it."""
    known = table(target)
    return known is not None and fact.gone is not None and fact.gone <= known.oldest


@cache
def _facts(what: str) -> dict[str, list[tuple[Target, ReleaseFact]]]:
    found: dict[str, list[tuple[Target, ReleaseFact]]] = {}
    for target in TARGETS:
        for fact in facts(target):
            if fact.what == what:
                found.setdefault(fact.name, []).append((target, fact))
    return found


_HEAD = ("what", "name", "from", "until", "source")


def targets() -> tuple[str, ...]:
    """Names of the targets with known releases."""
    return tuple(target.name for target in TARGETS if target.releases)


def named(word: str) -> str:
    """The name of the target with known releases that is meant, by its name or title; empty: none is."""
    words = {
        spelt.lower(): each.name for each in TARGETS if each.releases for spelt in (each.title, each.name)
    }
    return words.get(word.lower(), "")


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
