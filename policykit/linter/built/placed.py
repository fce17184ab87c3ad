"""Findings about built objects, told once, at the places in the files that say what they are about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from policykit.linter.built.places import Placed, Places
from policykit.linter.built.tree import Built
from policykit.linter.finding import Finding
from policykit.linter.suppression import Suppressed, sift
from policykit.manifests.node import Span


class Heard(NamedTuple):
    """What remains of findings about built objects."""

    told: list[tuple[Built, Finding]]
    hidden: int
    """How many were asked not to be told."""


def heard(
    built: Sequence[Built],
    findings: Iterable[Finding],
    read: Callable[[str], bytes],
    suppressions: dict[str, tuple[Suppressed, ...]],
) -> Heard:
    """Findings in the files of the run, as far as nothing hides them there or at the object itself.

    `suppressions`, by file, take note of what they hide.
    """
    told: list[tuple[Built, Finding]] = []
    hidden = 0
    for each, (finding, home, _) in placed(built, findings, read):
        places = dict.fromkeys([(finding.path, finding.span), home])
        kept = [finding]
        for path, span in places:
            if kept:
                at = finding._replace(path=path, span=span)
                kept, suppressions[path] = sift([at], suppressions.get(path, ()))
        hidden += not kept
        told += [(each, finding)] if kept else []
    return Heard(told, hidden)


def placed(
    built: Sequence[Built], findings: Iterable[Finding], read: Callable[[str], bytes]
) -> list[tuple[Built, Placed]]:
    """Findings about built objects in the files of the run.

    A place that several kustomizations use is told once: as gravely as any of them has it.
    """
    by_build: dict[str, list[Finding]] = {}
    for finding in findings:
        by_build.setdefault(finding.path, []).append(finding)
    told: dict[tuple[str, Span, str], _Told] = {}
    for number, each in enumerate(built):
        if each.member.path not in by_build:
            continue
        places = Places(each, read)
        for found in map(places.of, sorted(by_build[each.member.path], key=Finding.sort_key)):
            if found is None:
                continue
            key = found.finding.path, found.finding.span, found.finding.code
            told.setdefault(key, _Told({})).add(number, found)
    return [(built[number], found) for one in told.values() for number, found in one.chosen(built)]


class _Told(NamedTuple):
    """What builds say of one place and rule."""

    by_build: dict[int, list[Placed]]

    def add(self, number: int, found: Placed) -> None:
        self.by_build.setdefault(number, []).append(found)

    def chosen(self, built: Sequence[Built]) -> Iterator[tuple[int, Placed]]:
        """What the first of those says that have it as grave as any, with the names of all."""
        number = min(
            self.by_build, key=lambda each: (min(p.finding.severity.rank for p in self.by_build[each]), each)
        )
        seen = f"seen in {_listed([built[each].shown for each in self.by_build])}, as kustomize builds it"
        for found in self.by_build[number]:
            finding = found.finding
            if found.foreign:
                finding = finding._replace(help=f"{finding.help}\n{seen}".lstrip("\n"))
            yield number, found._replace(finding=finding)


def _listed(names: Sequence[str]) -> str:
    if len(names) > 3:
        return f"{names[0]} and {len(names) - 1} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
