"""What the policies say that their clusters apply, as far as a run has to do with it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from policykit.errors import Failures
from policykit.linter.finding import NotJudged
from policykit.linter.input_file import STDIN, InputFile
from policykit.namedtuple import NamedTuple
from policykit.workspace import filesystem
from policykit.workspace.files import real_paths, repository_root
from policykit.workspace.gitops.controller_files import has_controllers
from policykit.workspace.linting.request import Request
from policykit.workspace.linting.settings import SettingsTable
from policykit.workspace.policies import has_applies, policies_above, shown_as

if TYPE_CHECKING:
    from policykit.workspace.gitops.source_contents import Unit
    from policykit.workspace.gitops.sources import Source
    from policykit.workspace.kustomization_entries import NotHereError


_APPLICATION = "Application"
"""How the names of Applications and ApplicationSets begin."""


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
    owners: Mapping[str, Mapping[int, frozenset[int]]] = {}
    """Real path of each file of the run with Applications, to the settings of the clusters that each is for,
    by the index of its document."""


def applied_units(
    request: Request, table: SettingsTable, input_files: Sequence[InputFile], failures: Failures
) -> ClusterUnits:
    """The units of all policies of the repository, or of those that -p names, by what they say."""
    files = {*real_paths(input_file.file for input_file in input_files if input_file.file != STDIN)}
    of_run: list[ClusterUnit] = []
    beside: list[ClusterUnit] = []
    not_judged: list[NotJudged] = []
    wrong: list[tuple[str, int, NotHereError]] = []
    incomplete: set[int] = set()
    notices: dict[str, None] = {}
    owners: dict[str, dict[int, set[int]]] = {}
    for policy in _policies(request, files):
        sources: list[Source] = []
        units: list[tuple[Source, Unit]] = []
        reasons: list[tuple[Source, NotHereError]] = []
        releases: list[tuple[Source, NotHereError]] = []
        with failures.collect(shown_as(policy)):
            _read(policy, sources, units, reasons, releases)
        concerned = [_concerns(unit, files) for _, unit in units]
        stated = [source.stated for source in sources if source.stated.file in files]
        if not any(concerned) and filesystem.realpath(policy) not in files and not stated:
            continue
        setting = table.of_policy(policy)
        for each in stated:
            if each.resource.startswith(_APPLICATION):
                owners.setdefault(each.file, {}).setdefault(each.document, set()).add(setting)
        for source, reason in reasons:
            if reason.wrong:
                wrong.append((source.path, setting, reason))
            else:
                not_judged.append(_not_judged(source, setting, reason))
        not_judged += (_not_judged(source, setting, reason) for source, reason in releases)
        incomplete.update((setting,) if reasons else ())
        for (source, unit), here in zip(units, concerned, strict=True):
            found = ClusterUnit(setting, source, unit, f"{unit.folder}\0{setting}")
            (of_run if here else beside).append(found)
            if here:
                notices |= dict.fromkeys(f"{_place(source)}: {notice}" for notice in source.notices)
    return ClusterUnits(
        tuple(of_run),
        tuple(beside),
        tuple(not_judged),
        tuple(wrong),
        frozenset(incomplete),
        tuple(notices),
        {
            file: {document: frozenset(own) for document, own in documents.items()}
            for file, documents in owners.items()
        },
    )


def _read(
    policy: str,
    sources: list[Source],
    units: list[tuple[Source, Unit]],
    reasons: list[tuple[Source, NotHereError]],
    releases: list[tuple[Source, NotHereError]],
) -> None:
    """Adds what a policy applies, and why the rest and charts cannot be read. Nothing is imported for a
    policy that says nothing about that, in a repository without objects of controllers.
    """
    path = os.path.abspath(policy)
    if not has_applies(policy) and not has_controllers(repository_root(os.path.dirname(path))):
        return
    from policykit.workspace.gitops.clusters import contents_of_policy

    for source, contents in contents_of_policy(path):
        sources.append(source)
        units += [(source, unit) for unit in contents.units]
        reasons += [(source, reason) for reason in contents.why_not]
        releases += [(source, reason) for reason in contents.releases]


def _policies(request: Request, files: set[str]) -> Iterator[str]:
    if request.policies:
        yield from request.policies if request.only_applied else filter(has_applies, request.policies)
    else:
        yield from policies_above(sorted({file.rpartition(os.sep)[0] or os.sep for file in files}))


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
