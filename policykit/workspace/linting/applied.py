"""What the policies say that their clusters apply, as far as a run has to do with it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from policykit.errors import Failures
from policykit.linter.finding import NotJudged
from policykit.linter.member import STDIN, Member
from policykit.namedtuple import NamedTuple
from policykit.workspace.files import real_paths
from policykit.workspace.linting.request import Request
from policykit.workspace.linting.settings import SettingsTable
from policykit.workspace.policies import policies_above, says_what_it_applies, shown_as

if TYPE_CHECKING:
    from policykit.workspace.entries import NotHereError
    from policykit.workspace.sources import Source
    from policykit.workspace.units import Unit


class ClusterUnit(NamedTuple):
    """A unit of a cluster."""

    setting: int
    """Index of its policy in the settings of the run."""
    source: Source
    unit: Unit
    scope: str
    """Of its objects: each policy has its own in a folder."""


class ClusterUnits(NamedTuple):
    """What policies say they apply to."""

    of_run: tuple[ClusterUnit, ...] = ()
    """Units that files of the run are part of."""
    beside: tuple[ClusterUnit, ...] = ()
    """Further units of the same policies."""
    not_judged: tuple[NotJudged, ...] = ()
    """What these policies apply and nobody here can read."""
    wrong: tuple[tuple[str, int, NotHereError], ...] = ()
    """Folders of kustomizations with a mistake, the setting of the policy, and what is wrong."""
    incomplete: frozenset[int] = frozenset()
    """Settings of the policies of which not everything can be read."""
    notices: tuple[str, ...] = ()
    """What is judged otherwise than it is applied, as messages."""


def applied_units(
    request: Request, table: SettingsTable, members: Sequence[Member], failures: Failures
) -> ClusterUnits:
    """The units of all policies of the repository, or of those that -p names, by what they say."""
    files = {*real_paths(member.file for member in members if member.file != STDIN)}
    of_run: list[ClusterUnit] = []
    beside: list[ClusterUnit] = []
    not_judged: list[NotJudged] = []
    wrong: list[tuple[str, int, NotHereError]] = []
    incomplete: set[int] = set()
    notices: dict[str, None] = {}
    for policy in _policies(request, files):
        units: list[tuple[Source, Unit]] = []
        reasons: list[tuple[Source, NotHereError]] = []
        releases: list[tuple[Source, NotHereError]] = []
        with failures.collect(shown_as(policy)):
            _read(policy, units, reasons, releases)
        concerned = [_concerns(unit, files) for _, unit in units]
        if not any(concerned) and os.path.realpath(policy) not in files:
            continue
        setting = table.of_policy(policy)
        for source, reason in reasons:
            if reason.wrong:
                wrong.append((source.path, setting, reason))
            else:
                not_judged.append(_not_judged(source, setting, reason))
        not_judged += (_not_judged(source, setting, reason) for source, reason in releases)
        incomplete.update((setting,) if reasons else ())
        for (source, unit), here in zip(units, concerned, strict=True):
            each = ClusterUnit(setting, source, unit, f"{unit.folder}\0{setting}")
            (of_run if here else beside).append(each)
            if here:
                notices |= dict.fromkeys(f"{_place(source)}: {notice}" for notice in source.notices)
    return ClusterUnits(
        tuple(of_run),
        tuple(beside),
        tuple(not_judged),
        tuple(wrong),
        frozenset(incomplete),
        tuple(notices),
    )


def _read(
    policy: str,
    units: list[tuple[Source, Unit]],
    reasons: list[tuple[Source, NotHereError]],
    releases: list[tuple[Source, NotHereError]],
) -> None:
    """Adds what a policy applies, and why the rest and charts cannot be read. Without policies nothing is
    imported."""
    from policykit.workspace.clusters import contents_of_policy

    for source, contents in contents_of_policy(os.path.abspath(policy)):
        units += [(source, unit) for unit in contents.units]
        reasons += [(source, reason) for reason in contents.why_not]
        releases += [(source, reason) for reason in contents.releases]


def _policies(request: Request, files: set[str]) -> Iterator[str]:
    if request.policies:
        yield from filter(says_what_it_applies, request.policies)
    else:
        yield from policies_above(sorted({os.path.dirname(file) for file in files}))


def _concerns(unit: Unit, files: set[str]) -> bool:
    """Whether files of the run are part of a unit."""
    if unit.file:
        return unit.file in files
    return any(file in files for file in unit.tree.written()) or any(
        listed.file in files for each in unit.tree.every() for listed in each.generated
    )


def _not_judged(source: Source, setting: int, reason: NotHereError) -> NotJudged:
    resource = f"{source.stated.resource}: " if source.stated.resource else ""
    return NotJudged(shown_as(source.stated.file), reason.reason, f"{resource}{reason}", setting)


def _place(source: Source) -> str:
    where = f"{shown_as(source.stated.file)}:{source.stated.line}"
    return f"{source.stated.resource} ({where})" if source.stated.resource else where
