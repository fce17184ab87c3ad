"""Kustomizations and charts as kustomize and helm build them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from policykit.linter.input_file import STDIN, BuiltKustomization, Chart, InputFile, Kustomization
from policykit.linter.not_judged import BUILD_FAILED, NO_PROGRAM, OVER_LIMITS
from policykit.namedtuple import NamedTuple
from policykit.workspace import filesystem, kustomize
from policykit.workspace.build_failures import TOO_MANY, reason_of
from policykit.workspace.cache.builds import BuildRequest, builds
from policykit.workspace.files import relative
from policykit.workspace.gitops.substitution import SubstitutionError, substituted
from policykit.workspace.linting.build_requests import Attempt, SkippedBuilds, released
from policykit.workspace.linting.files import Files
from policykit.workspace.linting.request import Request
from policykit.workspace.linting.settings import SettingsTable

if TYPE_CHECKING:
    from policykit.workspace.kustomize import Build


_NO_PROGRAM = "neither kustomize nor kubectl is on PATH"
_NO_HELM = "it uses charts, and "
_NOT_SUBSTITUTED = "variables cannot be substituted"


class BuildResults(NamedTuple):
    """What came of the attempts of a run."""

    built: tuple[BuiltKustomization, ...] = ()
    texts: Mapping[str, bytes] = {}
    """Objects as kustomize builds them, by the name of their input file."""
    other_files: tuple[str, ...] = ()
    """Files outside the run that findings may point into."""
    failed: tuple[Attempt, ...] = ()


def results_of(
    builder: Builder,
    table: SettingsTable,
    files: Files,
    attempts: Sequence[Attempt],
    declined: SkippedBuilds,
) -> BuildResults:
    """Runs kustomize and helm."""
    silent = frozenset(map(filesystem.realpath, files.left_out))
    made = builder.objects(attempts)
    charts = released(attempts, [each.text or b"" for each in made], declined)
    attempts = [*attempts, *charts]
    made += builder.objects(charts)
    works = any(each.text is not None for each in made)
    names = {filesystem.realpath(m.file): m for m in files.input_files if m.file != STDIN} if works else {}
    generated = _generated(files, (each.tree for each in attempts), names, silent) if works else {}
    names |= generated
    built: list[BuiltKustomization] = []
    texts: dict[str, bytes] = {}
    failed: list[Attempt] = []
    for attempt, (text, folder, failure, rendered) in zip(attempts, made, strict=True):
        if text is None:
            _decline(declined, attempt, failure)
            failed.append(attempt)
            continue
        texts[attempt.input_file.file] = text
        excluded = silent | excluded_files(table, attempt.input_file.setting, attempt.tree)
        real, shown = filesystem.realpath(attempt.folder), relative(attempt.folder)
        input_file = attempt.input_file._replace(origins=_origins(attempt.tree, names, folder))
        built.append(
            BuiltKustomization(input_file, attempt.tree, folder, names, excluded, shown, rendered, root=real)
        )
    return BuildResults(
        tuple(built),
        texts,
        tuple(input_file.path for input_file in generated.values()),
        tuple(failed),
    )


def _origins(tree: Kustomization, names: Mapping[str, InputFile], folder: str) -> tuple[str, ...]:
    """The origins of objects that findings in files of the run may be about: all, if one of the files does
    more than to list objects, or if nothing would be left out."""
    parts = [*tree.every()]
    resources = {listed.file for part in parts for listed in part.resources if listed.file}
    here = {file for file in resources if file in names}
    others = (listed.file for part in parts for listed in (*part.patches, *part.generated, *part.beside))
    if any(file in names for file in (*(part.file for part in parts), *others)):
        return ()
    if len(here) == len(resources) or any(part.charts for part in parts):
        return ()
    return tuple(sorted(os.path.relpath(file, folder) for file in here))


class Objects(NamedTuple):
    """What came of an attempt."""

    text: bytes | None = None
    """None: nothing did."""
    folder: str = ""
    """That the origins of its objects are relative to."""
    failure: str = ""
    rendered: bytes = b""
    """Objects of charts as helm renders them."""


class Builder:
    """Runs kustomize and helm, as often and as long as a run may."""

    def __init__(self, request: Request, table: SettingsTable) -> None:
        self._request = request
        self._table = table
        self._left = request.max_builds
        self._until = time.monotonic() + request.build_seconds

    def objects(self, attempts: Sequence[Attempt]) -> list[Objects]:
        """What comes of each attempt, in order."""
        program = kustomize.binary() if attempts else ""
        helm = without_helm = ""
        charts = [tuple(each.tree.every_chart()) for each in attempts]
        if any(charts):
            helm, without_helm = _helm(self._request)
        found: dict[int, Objects] = {}
        wanted: dict[int, BuildRequest] = {}
        for number, each in enumerate(attempts):
            if each.root.release is None and not program:
                found[number] = Objects(failure=_NO_PROGRAM)
            elif charts[number] and not helm:
                found[number] = Objects(failure=f"{_NO_HELM}{without_helm}")
            elif not self._left:
                found[number] = Objects(failure=TOO_MANY)
            else:
                self._left -= 1
                wanted[number] = self._wanted(each, charts[number], helm)
        made = builds(program, [*wanted.values()], self._request.cache, self._until)
        found |= {
            number: _objects_of(attempts[number], build) for number, build in zip(wanted, made, strict=True)
        }
        return [found[number] for number in range(len(attempts))]

    def _wanted(self, attempt: Attempt, charts: tuple[Chart, ...], helm: str) -> BuildRequest:
        root = attempt.root
        if charts:
            version = kubernetes_of(self._table, attempt.input_file.setting)
            root = root._replace(charts=charts, helm=helm, kubernetes=version)
        return BuildRequest(root, attempt.tree)


def _objects_of(attempt: Attempt, build: Build) -> Objects:
    if build.failure:
        return Objects(failure=build.failure)
    text = build.text
    if attempt.variables is not None:
        try:
            text = substituted(text.decode("utf-8", errors="replace"), attempt.variables).encode()
        except SubstitutionError as error:
            return Objects(failure=f"{_NOT_SUBSTITUTED}: {error}")
    return Objects(text, build.folder, "", build.rendered)


def _helm(request: Request) -> tuple[str, str]:
    """The program that renders charts, else why there is none."""
    if not request.helm:
        return "", "--helm never"
    from policykit.workspace.helm import binary

    return binary(), "helm is not on PATH"


def kubernetes_of(table: SettingsTable, setting: int) -> str:
    """The version of Kubernetes that charts are rendered for."""
    cluster = table.settings[setting].cluster
    return cluster.kubernetes_version if cluster else ""


def _decline(declined: SkippedBuilds, attempt: Attempt, failure: str) -> None:
    setting = attempt.input_file.setting
    if reason_of(failure) == OVER_LIMITS:
        declined.add(attempt.folder, setting, OVER_LIMITS, failure)
    elif failure == _NO_PROGRAM or failure.startswith(_NO_HELM):
        declined.add(attempt.folder, setting, NO_PROGRAM, failure)
    elif failure.startswith(_NOT_SUBSTITUTED) or attempt.root.charts:
        declined.add(attempt.folder, setting, BUILD_FAILED, failure)
    else:
        declined.build(attempt.folder, setting, attempt.tree, failure)


def excluded_files(table: SettingsTable, setting: int, tree: Kustomization) -> frozenset[str]:
    """Files of a tree that the policy of a setting excludes, links resolved."""
    if not table.excludes:
        return frozenset()
    return frozenset(file for file in tree.written() if table.excluded(relative(file), setting))


def _generated(
    files: Files, trees: Iterable[Kustomization], names: Mapping[str, InputFile], silent: frozenset[str]
) -> dict[str, InputFile]:
    """Files that generators read below the folders of the run: findings may point into them."""
    folders = tuple(filesystem.realpath(folder) + os.sep for folder in files.folders)
    found = {}
    for tree in trees:
        for listed in (listed for each in tree.every() for listed in each.generated):
            if listed.file not in names and listed.file not in silent and listed.file.startswith(folders):
                path = relative(listed.file)
                found[listed.file] = InputFile(path, path, "", 0)
    return found
