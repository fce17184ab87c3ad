"""Units: one policy with one build, or with one file that no build uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from policykit.kube.structure.problem import IN_NO_NAMESPACE
from policykit.linter.engine import FileResult
from policykit.linter.finding import Finding
from policykit.linter.input_file import BuiltKustomization, InputFile
from policykit.linter.lint_files import lint_input_file, lint_input_files
from policykit.linter.reader import decode
from policykit.linter.scope import LocatedFact, decoded
from policykit.linter.workspace import Run, Setting, Workspace
from policykit.manifests.node import Span
from policykit.model.severity import Severity
from policykit.namedtuple import NamedTuple


class UnitResult(NamedTuple):
    """The result of one file or build, shared by all policies that lead to the same result."""

    input_file: InputFile
    settings: tuple[int, ...]
    """Indices of their settings in the workspace, at least one."""
    result: FileResult
    failure: str = ""
    """Why the file could not be read; empty: it was read."""
    first: bool = True
    """Whether it is the first judgement of this file."""
    key: bytes = b""
    """Key of the result in the cache; empty: it is not there."""


class UnitFinding(NamedTuple):
    """A finding of one unit."""

    finding: Finding
    setting: int
    """Index of the policy in the workspace."""
    build: int = -1
    """Index of the build; -1: no build uses the file."""
    source_location: tuple[str, Span] | None = None
    """For a built object: its source file, as reported, and its first line there."""
    outside_kustomization: bool = False
    """Whether it is about a built object and in a file outside the kustomization's folder."""
    ignored: bool = False
    """Whether an annotation of the built object suppresses it."""


class PassResult(NamedTuple):
    """The result of one pass of a run."""

    findings: tuple[UnitFinding, ...] = ()
    failures: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    """Fixes left out because the edited text would not have the intended data, each with its location."""


def unit_results(run: Run) -> tuple[UnitResult, ...]:
    """Lints every file and then every build with rules about single files, once for all policies that cannot
    lead to different findings.
    """
    workspace = run.workspace
    users = policies_of_files(workspace)
    jobs: list[tuple[InputFile, tuple[int, ...], bool]] = []
    files: list[str] = []
    sources: list[str] = []
    sizes: list[int] = []
    for number, input_file in enumerate(workspace.input_files):
        for position, alike in enumerate(
            _alike(
                workspace.settings,
                users.get(input_file.path, (input_file.setting,)),
                bool(input_file.components),
            )
        ):
            linted = input_file if input_file.setting == alike[0] else input_file._replace(setting=alike[0])
            jobs.append((linted, alike, not position))
            files.append("" if input_file.only else input_file.file)
            sources.append(input_file.file)
            sizes += workspace.sizes[number : number + 1]
    known_builds = _AlikeBuilds(workspace)
    repeated: list[tuple[InputFile, int]] = []
    for build in workspace.builds:
        known = known_builds.first(build, len(jobs))
        if known < len(jobs):
            repeated.append((build.input_file, known))
            continue
        jobs.append((build.input_file, (build.input_file.setting,), True))
        files.append(build.file)
        sources.append(build.file or build.tree.file)
        sizes += [len(workspace.read(build.input_file.file))] if workspace.sizes else []
    found = lint_input_files(run, [input_file for input_file, _, _ in jobs], sizes)
    judged: list[UnitResult] = []
    for (input_file, settings, first), file, source, (result, failure, key) in zip(
        jobs, files, sources, found, strict=True
    ):
        alone = _as_flux_builds(run, source, _alone(run, input_file, file, result))
        key = key if alone is result else b""
        judged.append(UnitResult(input_file, settings, alone, failure, first, key))
        run.options.progress(len(judged), len(jobs))
    return (*judged, *(_again(judged[number], input_file) for input_file, number in repeated))


def linted_again(run: Run, each: UnitResult, settings: tuple[Setting, ...]) -> UnitResult:
    """A judgement under other settings, whose results are not cached."""
    run = run._replace(workspace=run.workspace._replace(settings=settings, cache=None))
    result, failure, _ = lint_input_file(run, each.input_file)
    file = "" if each.input_file.only else each.input_file.file
    return each._replace(result=_alone(run, each.input_file, file, result), failure=failure, key=b"")


class _AlikeBuilds:
    """Finds builds of the same objects whose policies differ in nothing that rules look at."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._known: dict[tuple[object, ...], int] = {}
        self._settings: list[tuple[object, ...]] = []
        self._classes: dict[int, int] = {}

    def first(self, build: BuiltKustomization, number: int) -> int:
        """The number of the first build like this one; its own, if there is none."""
        input_file = build.input_file
        setting = self._workspace.settings[input_file.setting]
        if build.file or setting.selection.per_path:
            return number
        raw = self._workspace.read(input_file.file)
        about = (
            raw,
            self._class(input_file.setting),
            input_file.namespace,
            input_file.partial,
            input_file.components,
            input_file.origins,
            input_file.literal,
        )
        return self._known.setdefault(about, number)

    def _class(self, number: int) -> int:
        """Equal for policies that differ only in the names of their clusters."""
        if number not in self._classes:
            setting = self._workspace.settings[number]
            cluster = setting.cluster and setting.cluster._replace(name="", source="")
            about = (cluster, setting.selection, setting.namespace, setting.served, setting.plugins)
            if about not in self._settings:
                self._settings.append(about)
            self._classes[number] = self._settings.index(about)
        return self._classes[number]


def _again(judged: UnitResult, input_file: InputFile) -> UnitResult:
    """The judgement of a build for another policy."""
    result = judged.result._replace(
        findings=tuple(one._replace(path=input_file.path) for one in judged.result.findings),
        facts=tuple(
            one._replace(path=input_file.path) if isinstance(one, LocatedFact) else one
            for one in decoded(judged.result.facts)
        ),
        times=(),
    )
    return UnitResult(input_file, (input_file.setting,), result, judged.failure)


def _alone(run: Run, input_file: InputFile, file: str, result: FileResult) -> FileResult:
    """The result of a file alone. If a kustomization that was not built adds to its objects, they are
    incomplete, and nothing missing in them is an error. `file`: the file with the objects as they are
    applied; empty: they are built, or not linted.
    """
    if not (result.findings and file):
        return result
    result = _as_kustomize_reads(run, file, result)
    if input_file.partial or not (result.findings and run.workspace.completed(file)):
        return result
    partial, failure, _ = lint_input_file(run, input_file._replace(partial=True))
    if failure:
        return result
    shape = run.workspace.settings[input_file.setting].rules.schema_rules()
    certain = {(one.code, one.span, one.message) for one in partial.findings}
    lacking = [
        _may_be_added(one)
        for one in result.findings
        if one.code not in shape and (one.code, one.span, one.message) not in certain
    ]
    partial = _as_kustomize_reads(run, file, partial)
    # The objects exist nevertheless, and others may refer to them.
    return partial._replace(findings=(*partial.findings, *lacking), facts=result.facts)


_BOOLEAN = "is the boolean "
_BOOLEANS_OF_ALL = frozenset({"true", "True", "TRUE", "false", "False", "FALSE"})


def _as_kustomize_reads(run: Run, file: str, result: FileResult) -> FileResult:
    """Without words that kubectl reads as booleans, but kustomize, which reads the file first, as text: `yes`
    and `off`. Tried with kustomize 5.8."""
    about = [one for one in result.findings if _BOOLEAN in one.message]
    if not about or not run.workspace.listed(file):
        return result
    from policykit.manifests.lines import split

    lines = split(decode(run.workspace.read(file)).text)
    texts = [one for one in about if _written(lines, one.span) not in _BOOLEANS_OF_ALL]
    return result._replace(findings=tuple(one for one in result.findings if one not in texts))


def _as_flux_builds(run: Run, source: str, result: FileResult) -> FileResult:
    """Without accounts that get a namespace: kustomize fills it in wherever it sets that of the objects.

    `source`: the file, or the kustomization that was built. See kustomize_generator.go of fluxcd/pkg 1.35.
    """
    for one in result.findings:
        if IN_NO_NAMESPACE in one.message:
            break
    else:
        return result
    if not run.workspace.has_target_namespace(source):
        return result
    left = tuple(one for one in result.findings if IN_NO_NAMESPACE not in one.message)
    return result._replace(findings=left)


def _written(lines: Sequence[str], span: Span) -> str:
    """The text of a span in one line."""
    line = lines[span.line - 1] if span.line <= len(lines) else ""
    return line[span.column - 1 : span.end_column - 1]


def _may_be_added(finding: Finding) -> Finding:
    if finding.severity is not Severity.ERROR:
        return finding
    help_text = f"{finding.help}\nunless a kustomization that uses this file does: it was not built".lstrip(
        "\n"
    )
    return finding._replace(severity=Severity.WARNING, help=help_text)


def policies_of_files(workspace: Workspace) -> Mapping[str, tuple[int, ...]]:
    """Reported path of each file that builds use, to the settings of those builds."""
    found: dict[str, dict[int, None]] = {}
    for build in workspace.builds:
        for file in build.tree.written():
            input_file = build.names.get(file)
            if input_file is not None:
                found.setdefault(input_file.path, {})[build.input_file.setting] = None
    return {path: tuple(settings) for path, settings in found.items()}


def file_findings(judged: Sequence[UnitResult]) -> Iterator[UnitFinding]:
    """Findings of single files, once per policy, with suppressions applied."""
    for each in judged:
        found = each.result.findings
        if found and not each.input_file.is_built:
            for setting in each.settings:
                yield from (UnitFinding(finding, setting) for finding in found)


def _alike(
    settings: Sequence[Setting], numbers: Sequence[int], by_policy: bool = False
) -> list[tuple[int, ...]]:
    """Groups settings by what rules about text use: the APIs that the server serves, plugins and namespace;
    for a file that components apply to, also by the policy.
    """
    if len(numbers) == 1:
        return [tuple(numbers)]
    found: list[tuple[tuple[object, ...], list[int]]] = []
    for number in numbers:
        about: tuple[object, ...] = (
            settings[number].served,
            settings[number].plugins,
            settings[number].namespace,
            number if by_policy else None,
        )
        for known, alike in found:
            if known == about:
                alike.append(number)
                break
        else:
            found.append((about, [number]))
    return [tuple(alike) for _, alike in found]
