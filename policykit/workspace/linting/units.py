"""The units of a run: each policy with each build, and with each file that no build uses."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from policykit.errors import Failures, SourceError
from policykit.linter.input_file import KUSTOMIZATIONS, OBJECTS, STDIN, TEXT, InputFile
from policykit.manifests.memoize import memoize_last
from policykit.namedtuple import NamedTuple
from policykit.workspace import filesystem
from policykit.workspace.files import read, real_paths, relative, repository_files, repository_root
from policykit.workspace.linting.cluster_units import ClusterUnit, ClusterUnits, applied_units
from policykit.workspace.linting.files import NO_UNITS, AppliedFiles, Files
from policykit.workspace.linting.request import Request
from policykit.workspace.linting.settings import SettingsTable
from policykit.workspace.policies import policies_above
from policykit.workspace.scopes import is_patch, kustomization, kustomization_namespace

if TYPE_CHECKING:
    from policykit.linter.finding import NotJudged
    from policykit.linter.input_file import BuiltKustomization, Kustomization
    from policykit.linter.rule import FailedBuild
    from policykit.linter.workspace import FileOwners
    from policykit.workspace.linting.build_requests import Attempt, SkippedBuilds
    from policykit.workspace.linting.builds import BuildResults


class FilePolicy(NamedTuple):
    """A policy that judges a file as written."""

    setting: int
    scope: str
    namespace: str
    tree: Kustomization | None = None
    """Leads to the file from where it is said; None: the policy is that of its place."""


class Units(NamedTuple):
    """The units of a run, and why other kustomizations were not built."""

    input_files: tuple[InputFile, ...]
    """The files of the run; rules about effects read the builds, rules about text the source files."""
    built: tuple[BuiltKustomization, ...] = ()
    texts: dict[str, bytes] = {}
    """Objects as they are applied, by the name of their input file."""
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
    around: AppliedFiles = NO_UNITS
    notices: tuple[str, ...] = ()
    """What is judged otherwise than it is applied, as messages."""
    owners: Mapping[str, FileOwners] = {}
    """Reported paths of files with objects that are for other clusters than the file."""


def units_of(request: Request, table: SettingsTable, files: Files, failures: Failures) -> Units:
    """The units that the files of the run are part of.

    Without kustomizations, and policies that say what they apply to, nothing is imported.
    """
    applied = applied_units(request, table, files.input_files, failures)
    results, declined = _builds(request, table, files, applied, failures)
    alone = results is None and not (applied.of_run or applied.owners) and not _has_kustomizations(files)
    if alone and not table.is_repeated and not table.is_restricted:
        return Units(
            files.input_files,
            not_judged=applied.not_judged,
            incomplete=applied.incomplete,
            notices=applied.notices,
        )
    built = results.built if results else ()
    failed = results.failed if results else ()
    judges = _judges(request, files, applied, failed)
    input_files, direct, owners = _input_files(request, table, files, applied, judges, built)
    over = tuple(map(_over_limits, direct[request.max_units :]))
    direct = direct[: request.max_units]
    texts = {
        **(results.texts if results else {}),
        **{each.input_file.file: _raw(each.file) for each in direct},
    }
    looked_at = frozenset(file for each in built for file in each.tree.looked_at())
    beside = _Beside(request, table, applied, texts)
    return Units(
        input_files,
        (*built, *direct),
        texts,
        (*results.other_files, *declined.other_files) if results and declined else (),
        tuple(sorted({*(declined.not_judged if declined else ()), *applied.not_judged, *over})),
        tuple(declined.wrong) if declined else (),
        frozenset(file for attempt in failed for file in attempt.tree.looked_at()) | judges.keys(),
        applied.incomplete
        | {attempt.input_file.setting for attempt in failed if _is_stated(attempt)}
        | {each.setting for each in over}
        | (declined.incomplete if declined else set()),
        AppliedFiles(looked_at, _scopes(input_files, (*built, *direct), applied, beside), beside),
        applied.notices,
        owners,
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
    from policykit.workspace.linting.build_requests import SkippedBuilds, attempts_by_place, attempts_of
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
    from policykit.workspace.gitops.controller_files import controller_files

    return any(controller_files(root).flux for root in _repositories(files) if policies_above((root,)))


@memoize_last
def _repositories(files: Files) -> set[str]:
    """The repositories that files of the run are in."""
    folders = {each.file[: each.file.rfind(os.sep) + 1] for each in files.input_files}
    return {*filter(None, map(repository_root, map(os.path.abspath, folders)))}


def _judges(
    request: Request, files: Files, applied: ClusterUnits, failed: Iterable[Attempt]
) -> dict[str, list[FilePolicy]]:
    """Policies that state that they apply files as written, by the real path of each file. What could not be
    built counts as written.
    """
    found: dict[str, list[FilePolicy]] = {}
    for each in applied.of_run:
        if each.unit.file:
            namespace = request.namespace or each.unit.namespace
            judge = FilePolicy(each.setting, each.scope, namespace, each.unit.tree)
            found.setdefault(each.unit.file, []).append(judge)
    for attempt in failed:
        if _is_stated(attempt):
            input_file = attempt.input_file
            for file in attempt.tree.looked_at():
                judge = FilePolicy(input_file.setting, input_file.scope, input_file.namespace, attempt.tree)
                if judge not in found.setdefault(file, []):
                    found[file].append(judge)
    return found


def _is_stated(attempt: Attempt) -> bool:
    """Whether a policy says that it applies to what was to be built."""
    return "\0" in attempt.input_file.scope


def _input_files(
    request: Request,
    table: SettingsTable,
    files: Files,
    applied: ClusterUnits,
    judges: Mapping[str, list[FilePolicy]],
    built: Sequence[BuiltKustomization],
) -> tuple[tuple[InputFile, ...], tuple[BuiltKustomization, ...], dict[str, FileOwners]]:
    """The files of the run, a unit for each policy of a file that several policies judge, and files of which
    some policies judge parts."""
    looked_at = {file for each in built for file in each.tree.looked_at()}
    parts: dict[str, int] = {}
    for each in applied.of_run:
        parts.update((file, each.setting) for file in each.unit.tree.written() if file not in parts)
    input_files: list[InputFile] = []
    several: list[tuple[InputFile, str, FilePolicy]] = []
    owners: dict[str, FileOwners] = {}
    reals = real_paths(input_file.file for input_file in files.input_files if input_file.file != STDIN)
    for input_file in files.input_files:
        real = next(reals) if input_file.file != STDIN else STDIN
        own = [each for each in judges.get(real, ()) if not table.excluded(input_file.path, each.setting)]
        owned = {} if table.is_restricted else applied.owners.get(real, {})
        if not judges.get(real) and real not in looked_at and (real not in parts or owned):
            own = _by_place(request, table, input_file)
            if not own:
                continue
        if owned:
            owners[input_file.path] = _owners(own, owned)
            own = _with_owners(own, owners[input_file.path], input_file)
        if real in looked_at or len(own) > 1:
            input_files.append(input_file._replace(only=TEXT))
            several += [(input_file, real, each) for each in own]
        elif own:
            setting, scope, namespace, _ = own[0]
            input_files.append(
                input_file._replace(setting=setting, scope=scope, namespace=namespace or input_file.namespace)
            )
        else:
            input_files.append(input_file._replace(setting=input_file.setting or parts[real]))
    if built:
        input_files = _with_components(input_files, built)
    names = {
        filesystem.realpath(input_file.file): input_file
        for input_file in input_files
        if input_file.file != STDIN
    }
    direct = tuple(_direct(*each, number, names) for number, each in enumerate(several, 1))
    return tuple(input_files), direct, owners


def _owners(own: Sequence[FilePolicy], owned: Mapping[int, frozenset[int]]) -> FileOwners:
    """Who judges the documents of a file. `owned`: those that are for certain clusters."""
    from policykit.linter.workspace import FileOwners

    return FileOwners(owned, frozenset(judge.setting for judge in own))


def _with_owners(own: Sequence[FilePolicy], owners: FileOwners, input_file: InputFile) -> list[FilePolicy]:
    """The policies of a file, with those of the clusters that objects in it are for."""
    known = {judge.setting for judge in own}
    more = sorted({each for found in owners.documents.values() for each in found} - known)
    scope = os.path.dirname(os.path.abspath(input_file.path))
    return [*own, *(FilePolicy(each, f"{scope}\0{each}", input_file.namespace) for each in more)]


def _with_components(
    input_files: Sequence[InputFile], built: Iterable[BuiltKustomization]
) -> list[InputFile]:
    """Input files with the workload kinds whose generated components kustomizations apply to them."""
    from policykit.workspace.kustomizations import components_of

    kinds: dict[str, set[str]] = {}
    for each in built:
        for file, found in components_of(each.tree).items():
            kinds.setdefault(file, set()).update(found)
    if not kinds:
        return [*input_files]
    return [
        input_file._replace(components=tuple(sorted(kinds.get(filesystem.realpath(input_file.file), ()))))
        for input_file in input_files
    ]


def _over_limits(unit: BuiltKustomization) -> NotJudged:
    from policykit.linter.finding import NotJudged
    from policykit.linter.not_judged import OVER_LIMITS

    why = "this run has more files of several policies than --max-units allows"
    return NotJudged(relative(unit.file), OVER_LIMITS, why, unit.input_file.setting)


def _by_place(request: Request, table: SettingsTable, input_file: InputFile) -> list[FilePolicy]:
    """The policies of a file that nobody says who applies: those that -p names, else those above it and above
    the kustomizations that use it.
    """
    from policykit.workspace.gitops.clusters import policies_of

    if table.is_restricted:
        return []
    if table.is_repeated:
        numbers = table.all_of(os.path.dirname(os.path.abspath(input_file.path)))
    elif request.policies or input_file.file == STDIN:
        numbers = (input_file.setting,)
    else:
        numbers = tuple(dict.fromkeys(map(table.of_policy, policies_of(input_file.file)))) or (
            input_file.setting,
        )
    if len(numbers) == 1:
        return [FilePolicy(numbers[0], input_file.scope, input_file.namespace)]
    return [FilePolicy(number, f"{input_file.scope}\0{number}", input_file.namespace) for number in numbers]


def _direct(
    input_file: InputFile, real: str, judge: FilePolicy, number: int, names: Mapping[str, InputFile]
) -> BuiltKustomization:
    """A file as written, as one of several policies judges it."""
    from policykit.linter.input_file import BuiltKustomization, FileEntry, Kustomization

    name = f"{input_file.path}#applied{number}"
    namespace = judge.namespace or input_file.namespace
    applied = InputFile(name, name, judge.scope, judge.setting, input_file.partial, namespace, OBJECTS)
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
        return b""  # reported for the file itself


def _scopes(
    input_files: Iterable[InputFile],
    built: Iterable[BuiltKustomization],
    applied: ClusterUnits,
    beside: _Beside,
) -> dict[str, tuple[InputFile, ...]]:
    """Input files by the scopes of what policies apply, those outside the run included."""
    found: dict[str, dict[str, InputFile]] = {}
    for input_file in (*input_files, *(each.input_file for each in built)):
        if "\0" in input_file.scope:
            found.setdefault(input_file.scope, {})[input_file.path] = input_file
    here = {each.unit.file for each in applied.of_run}
    for each in applied.beside:
        if each.unit.file and each.unit.file not in here and each.scope in found:
            input_file = beside.input_file(each)
            found[each.scope][input_file.path] = input_file
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
        self._known: dict[int, tuple[InputFile, ...]] = {}

    def __call__(self, setting: int) -> Sequence[InputFile]:
        if setting not in self._known:
            units = [each for each in self._applied.beside if each.setting == setting]
            files = tuple(self.input_file(each) for each in units if each.unit.file)
            self._known[setting] = (*files, *self._built(units))
        return self._known[setting]

    def input_file(self, applied: ClusterUnit) -> InputFile:
        """A file as written."""
        file = applied.unit.file
        namespace = self._request.namespace or applied.unit.namespace
        return InputFile(
            relative(file),
            file,
            applied.scope,
            applied.setting,
            is_patch(file),
            namespace or kustomization_namespace(os.path.dirname(file)),
        )

    def _built(self, units: Sequence[ClusterUnit]) -> list[InputFile]:
        """Input files for what is built. Reading one that failed fails, so nothing is reported as absent."""
        if not any(each.unit.root for each in units) or not self._request.kustomize:
            return []
        from policykit.workspace.linting.build_requests import attempts_of
        from policykit.workspace.linting.builds import Builder

        attempts = attempts_of(units, self._request, len(self._applied.of_run) + len(self._texts) + 1)
        made_of = Builder(self._request, self._table).objects(attempts)
        for attempt, made in zip(attempts, made_of, strict=True):
            if made.text is not None:
                self._texts[attempt.input_file.file] = made.text
        return [attempt.input_file for attempt in attempts]
