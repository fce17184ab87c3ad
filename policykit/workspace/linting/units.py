"""The units of a run: each policy with each build, and with each file that no build uses."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from policykit.errors import Failures, SourceError
from policykit.linter.member import OBJECTS, STDIN, TEXT, Member
from policykit.manifests.memoize import memoize_last
from policykit.namedtuple import NamedTuple
from policykit.workspace.files import read, real_paths, relative, repository_files, repository_root
from policykit.workspace.linting.applied import ClusterUnit, ClusterUnits, applied_units
from policykit.workspace.linting.files import NO_UNITS, Files, UnitsBeside
from policykit.workspace.linting.request import Request
from policykit.workspace.linting.settings import SettingsTable
from policykit.workspace.policies import policies_above
from policykit.workspace.scopes import KUSTOMIZATIONS, is_patch, kustomization, kustomization_namespace

if TYPE_CHECKING:
    from policykit.linter.builds.kustomization import BuiltKustomization, Kustomization
    from policykit.linter.finding import NotJudged
    from policykit.linter.subjects import FailedBuild
    from policykit.workspace.linting.attempts import Attempt, SkippedBuilds
    from policykit.workspace.linting.builds import BuildResults


class Judge(NamedTuple):
    """A policy that judges a file as it stands."""

    setting: int
    scope: str
    namespace: str
    tree: Kustomization | None = None
    """Leads to the file from where it is said; None: the policy is that of its place."""


class Units(NamedTuple):
    """The units of a run, and why other kustomizations were not built."""

    members: tuple[Member, ...]
    """The files of the run; rules about effects read the builds, rules about text the source files."""
    built: tuple[BuiltKustomization, ...] = ()
    texts: dict[str, bytes] = {}
    """Objects as they are applied, by the name of their member."""
    other_files: tuple[str, ...] = ()
    """Files outside the run that findings may point into."""
    not_judged: tuple[NotJudged, ...] = ()
    """Kustomizations that are linted file by file, and what policies apply to and nobody here can read."""
    wrong: tuple[tuple[int, FailedBuild], ...] = ()
    """Kustomizations with a mistake, for which no build succeeds, with the index of their setting."""
    certain: frozenset[str] = frozenset()
    """Files that no kustomization adds to in a way that is not known, links resolved."""
    incomplete: frozenset[int] = frozenset()
    """Settings of policies that apply to more than could be judged."""
    around: UnitsBeside = NO_UNITS
    notices: tuple[str, ...] = ()
    """What is judged otherwise than it is applied, as messages."""


def units_of(request: Request, table: SettingsTable, files: Files, failures: Failures) -> Units:
    """The units that the files of the run are part of.

    Without kustomizations, and policies that say what they apply to, nothing is imported.
    """
    applied = applied_units(request, table, files.members, failures)
    results, declined = _builds(request, table, files, applied, failures)
    alone = results is None and not applied.of_run and not _has_kustomizations(files)
    if alone and not table.is_repeated and not table.is_restricted:
        return Units(
            files.members,
            not_judged=applied.not_judged,
            incomplete=applied.incomplete,
            notices=applied.notices,
        )
    built = results.built if results else ()
    failed = results.failed if results else ()
    judges = _judges(request, files, applied, failed)
    members, direct = _members(request, table, files, applied, judges, built)
    over = tuple(map(_over_limits, direct[request.max_units :]))
    direct = direct[: request.max_units]
    texts = {**(results.texts if results else {}), **{each.member.file: _raw(each.file) for each in direct}}
    looked_at = frozenset(file for each in built for file in each.tree.looked_at())
    beside = _Beside(request, table, applied, texts)
    return Units(
        members,
        (*built, *direct),
        texts,
        (*results.other_files, *declined.other_files) if results and declined else (),
        tuple(sorted({*(declined.not_judged if declined else ()), *applied.not_judged, *over})),
        tuple(declined.wrong) if declined else (),
        frozenset(file for attempt in failed for file in attempt.tree.looked_at()) | judges.keys(),
        applied.incomplete
        | {attempt.member.setting for attempt in failed if _is_stated(attempt)}
        | {each.setting for each in over},
        UnitsBeside(looked_at, _scopes(members, (*built, *direct), applied, beside), beside),
        applied.notices,
    )


def _builds(
    request: Request, table: SettingsTable, files: Files, applied: ClusterUnits, failures: Failures
) -> tuple[BuildResults, SkippedBuilds] | tuple[None, None]:
    """What kustomize makes of the run, and does not; None: there is nothing for it to do."""
    if not request.kustomize or not (
        applied.wrong
        or any(each.unit.root for each in applied.of_run)
        or any(map(kustomization, files.folders))
        or _has_kustomizations(files)
        or _has_releases(files)
    ):
        return None, None
    from policykit.workspace.linting.attempts import SkippedBuilds, attempts_by_place, attempts_of
    from policykit.workspace.linting.builds import Builder, results_of

    stated = frozenset(
        os.path.dirname(tree.file) for each in applied.of_run for tree in each.unit.tree.every()
    )
    declined = SkippedBuilds(table, files)
    for folder, setting, error in applied.wrong:
        declined.read(folder, setting, error)
    stated |= {folder for folder, _, _ in applied.wrong}
    stated |= {each.unit.file for each in applied.of_run}
    attempts = attempts_by_place(request, table, files, stated, declined, failures)
    attempts += attempts_of(applied.of_run, request)
    return results_of(Builder(request, table), table, files, attempts, declined), declined


def _has_kustomizations(files: Files) -> bool:
    """Whether the repositories of the run have any, beside those of its folders."""
    return any(
        os.path.basename(path) in KUSTOMIZATIONS
        for root in _repositories(files)
        for path in repository_files(root)
    )


def _has_releases(files: Files) -> bool:
    """Whether repositories with policies have objects of Flux."""
    from policykit.workspace.controller_files import controller_files

    return any(controller_files(root).flux for root in _repositories(files) if policies_above((root,)))


@memoize_last
def _repositories(files: Files) -> set[str]:
    """The repositories that files of the run are in."""
    folders = {os.path.dirname(each.file) for each in files.members}
    return {*filter(None, map(repository_root, map(os.path.abspath, folders)))}


def _judges(
    request: Request, files: Files, applied: ClusterUnits, failed: Iterable[Attempt]
) -> dict[str, list[Judge]]:
    """Policies that say they apply to files as they stand, by the real path of each file. What could not be
    built counts as written.
    """
    found: dict[str, list[Judge]] = {}
    for each in applied.of_run:
        if each.unit.file:
            namespace = request.namespace or each.unit.namespace
            judge = Judge(each.setting, each.scope, namespace, each.unit.tree)
            found.setdefault(each.unit.file, []).append(judge)
    for attempt in failed:
        if _is_stated(attempt):
            member = attempt.member
            for file in attempt.tree.looked_at():
                judge = Judge(member.setting, member.scope, member.namespace, attempt.tree)
                if judge not in found.setdefault(file, []):
                    found[file].append(judge)
    return found


def _is_stated(attempt: Attempt) -> bool:
    """Whether a policy says that it applies to what was to be built."""
    return "\0" in attempt.member.scope


def _members(
    request: Request,
    table: SettingsTable,
    files: Files,
    applied: ClusterUnits,
    judges: Mapping[str, list[Judge]],
    built: Sequence[BuiltKustomization],
) -> tuple[tuple[Member, ...], tuple[BuiltKustomization, ...]]:
    """The files of the run, and a unit for each policy of a file that several policies judge."""
    looked_at = {file for each in built for file in each.tree.looked_at()}
    parts: dict[str, int] = {}
    for each in applied.of_run:
        parts.update((file, each.setting) for file in each.unit.tree.written() if file not in parts)
    members: list[Member] = []
    several: list[tuple[Member, str, Judge]] = []
    reals = real_paths(member.file for member in files.members if member.file != STDIN)
    for member in files.members:
        real = next(reals) if member.file != STDIN else STDIN
        own = [each for each in judges.get(real, ()) if not table.excluded(member.path, each.setting)]
        if not judges.get(real) and real not in looked_at and real not in parts:
            own = _by_place(request, table, member)
            if not own:
                continue
        if real in looked_at or len(own) > 1:
            members.append(member._replace(only=TEXT))
            several += [(member, real, each) for each in own]
        elif own:
            setting, scope, namespace, _ = own[0]
            members.append(
                member._replace(setting=setting, scope=scope, namespace=namespace or member.namespace)
            )
        else:
            members.append(member._replace(setting=member.setting or parts[real]))
    if built:
        members = _with_components(members, built)
    names = {os.path.realpath(member.file): member for member in members if member.file != STDIN}
    return tuple(members), tuple(_direct(*each, number, names) for number, each in enumerate(several, 1))


def _with_components(members: Sequence[Member], built: Iterable[BuiltKustomization]) -> list[Member]:
    """Members with the workload kinds whose generated components kustomizations apply to them."""
    from policykit.workspace.kustomizations import components_of

    kinds: dict[str, set[str]] = {}
    for each in built:
        for file, found in components_of(each.tree).items():
            kinds.setdefault(file, set()).update(found)
    if not kinds:
        return [*members]
    return [
        member._replace(components=tuple(sorted(kinds.get(os.path.realpath(member.file), ()))))
        for member in members
    ]


def _over_limits(unit: BuiltKustomization) -> NotJudged:
    from policykit.linter.finding import NotJudged
    from policykit.linter.not_judged import OVER_LIMITS

    why = "this run has more files of several policies than --max-units allows"
    return NotJudged(relative(unit.file), OVER_LIMITS, why, unit.member.setting)


def _by_place(request: Request, table: SettingsTable, member: Member) -> list[Judge]:
    """The policies of a file that nobody says who applies: those that -p names, else those above it and above
    the kustomizations that use it.
    """
    from policykit.workspace.clusters import policies_of

    if table.is_restricted:
        return []
    if table.is_repeated:
        numbers = table.all_of(os.path.dirname(os.path.abspath(member.path)))
    elif request.policies or member.file == STDIN:
        numbers = (member.setting,)
    else:
        numbers = tuple(dict.fromkeys(map(table.of_policy, policies_of(member.file)))) or (member.setting,)
    if len(numbers) == 1:
        return [Judge(numbers[0], member.scope, member.namespace)]
    return [Judge(number, f"{member.scope}\0{number}", member.namespace) for number in numbers]


def _direct(
    member: Member, real: str, judge: Judge, number: int, names: Mapping[str, Member]
) -> BuiltKustomization:
    """A file as it stands, as one of several policies judges it."""
    from policykit.linter.builds.kustomization import BuiltKustomization, FileEntry, Kustomization

    name = f"{member.path}#applied{number}"
    namespace = judge.namespace or member.namespace
    applied = Member(name, name, judge.scope, judge.setting, member.partial, namespace, OBJECTS)
    tree = judge.tree or Kustomization(real, (FileEntry((), real),))
    return BuiltKustomization(
        applied,
        tree._replace(resources=(FileEntry((), real),), bases=(), components=()),
        "",
        names,
        file=real,
    )


def _raw(file: str) -> bytes:
    try:
        return read(file)
    except SourceError:
        return b""  # told of the file itself


def _scopes(
    members: Iterable[Member], built: Iterable[BuiltKustomization], applied: ClusterUnits, beside: _Beside
) -> dict[str, tuple[Member, ...]]:
    """Members by the scopes that policies have by what they say, those beside the run among them."""
    found: dict[str, dict[str, Member]] = {}
    for member in (*members, *(each.member for each in built)):
        if "\0" in member.scope:
            found.setdefault(member.scope, {})[member.path] = member
    here = {each.unit.file for each in applied.of_run}
    for each in applied.beside:
        if each.unit.file and each.unit.file not in here and each.scope in found:
            member = beside.member(each)
            found[each.scope][member.path] = member
    return {scope: tuple(each.values()) for scope, each in found.items()}


class _Beside:
    """What policies say they apply to beside the run; kustomizations are built when they are asked for."""

    def __init__(
        self, request: Request, table: SettingsTable, applied: ClusterUnits, texts: dict[str, bytes]
    ) -> None:
        self._request = request
        self._table = table
        self._applied = applied
        self._texts = texts
        self._known: dict[int, tuple[Member, ...]] = {}

    def __call__(self, setting: int) -> Sequence[Member]:
        if setting not in self._known:
            units = [each for each in self._applied.beside if each.setting == setting]
            files = tuple(self.member(each) for each in units if each.unit.file)
            self._known[setting] = (*files, *self._built(units))
        return self._known[setting]

    def member(self, applied: ClusterUnit) -> Member:
        """A file as it stands."""
        file = applied.unit.file
        namespace = self._request.namespace or applied.unit.namespace
        return Member(
            relative(file),
            file,
            applied.scope,
            applied.setting,
            is_patch(file),
            namespace or kustomization_namespace(os.path.dirname(file)),
        )

    def _built(self, units: Sequence[ClusterUnit]) -> list[Member]:
        """Members for what is built. Reading one that failed fails, so nothing is said to be absent."""
        if not any(each.unit.root for each in units) or not self._request.kustomize:
            return []
        from policykit.workspace.linting.attempts import attempts_of
        from policykit.workspace.linting.builds import Builder

        attempts = attempts_of(units, self._request, len(self._applied.of_run) + len(self._texts) + 1)
        made_of = Builder(self._request, self._table).objects(attempts)
        for attempt, made in zip(attempts, made_of, strict=True):
            if made.text is not None:
                self._texts[attempt.member.file] = made.text
        return [attempt.member for attempt in attempts]
