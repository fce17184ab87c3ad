"""The engines joined to the rules and the targets: lint, where, generate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from policykit.kube.structure.schema import NOTHING, ServedApis
from policykit.linter.finding import Report
from policykit.linter.input_file import InputFile
from policykit.linter.registry import RuleSet, choose
from policykit.linter.workspace import DEFAULT, Options, Run, Setting, Workspace
from policykit.rules import CATALOGUE, entries, rule

if TYPE_CHECKING:
    from policykit.gates.applied_pod_sets import AppliedPodSets
    from policykit.gates.pod_gates import Answer
    from policykit.generator.artifact import Artifact, Generate, Notice, TargetOutput
    from policykit.kube.structure.schema import Schema
    from policykit.linter.continued_run import ChangedFile, Knowledge, Revision
    from policykit.linter.fix_files import FixResult
    from policykit.linter.kept_run import Kept
    from policykit.linter.run import UnitFindings
    from policykit.linter.scope import AnyFact
    from policykit.linter.workspace import EarlierFindings
    from policykit.model.cluster import Cluster, LintSettings
    from policykit.placement.review import Review


def setting(
    cluster: Cluster | None = None,
    lint: LintSettings | None = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    namespace: str = "default",
    *,
    timed: bool = False,
    below: str = "",
    custom: Mapping[tuple[str, str], Schema] = NOTHING.custom,
    preset: str = "",
) -> Setting:
    """The setting of a group of files; `timed`: its rules measure their own time.

    `below`: the current folder as seen from that of the settings, where it is below: `apps/`.
    `custom`: the user's own kinds, by apiVersion and kind. `preset`: instead of what the settings choose.
    Raises UsageError for a rule that does not exist.
    """
    able = entries(with_policy=cluster is not None)
    settings = lint or (cluster.lint if cluster else None)
    chosen = choose(CATALOGUE, settings, select, ignore, below, preset)
    skipped = len(chosen.codes.difference(entry.code for entry in able))
    able_rules = RuleSet(able, rule, skipped)
    able_rules.timed = timed
    served = ServedApis(_releases(cluster), custom)
    plugins = settings.extra_plugins if settings else ()
    return Setting(able_rules, chosen, cluster, namespace, None if custom else b"", served, plugins)


def _releases(cluster: Cluster | None) -> dict[str, str]:
    """Systems to the release that the policy states."""
    if cluster is None:
        return {}
    from policykit.targets import DEFAULT_TARGET

    stated = {name: target.version for name, target in cluster.targets.items()}
    stated[DEFAULT_TARGET] = cluster.kubernetes_version
    return {name: version for name, version in stated.items() if version}


def lint(workspace: Workspace, options: Options = DEFAULT) -> Report:
    """Findings over the files of a workspace."""
    return report_of(workspace, options, unit_findings(workspace, options))


def report_of(workspace: Workspace, options: Options, found: UnitFindings) -> Report:
    """The report of a workspace with these findings of its units."""
    from policykit.linter.run import report_of as run
    from policykit.targets import ALL_TARGETS

    report = run(Run(workspace, options, ALL_TARGETS), found)
    return without_shared_fixes(workspace, report) if options.fixes else report


def keep(
    workspace: Workspace,
    options: Options,
    found: UnitFindings,
    sources: Sequence[str],
    folder_of: Callable[[str], str],
) -> Kept | None:
    """What a later run can go on from: see `policykit.linter.kept_run`."""
    from policykit.linter.kept_run import keep as kept
    from policykit.targets import ALL_TARGETS

    return kept(Run(workspace, options, ALL_TARGETS), found, sources, folder_of)


def go_on(
    workspace: Workspace,
    options: Options,
    known: Knowledge,
    changed: Sequence[ChangedFile],
    earlier: EarlierFindings,
    revision: Revision | None = None,
) -> Report:
    """The report of a workspace of which only some files differ from a kept run. Raises CannotGoOnError."""
    from policykit.linter.continued_run import go_on as run
    from policykit.targets import ALL_TARGETS

    return run(Run(workspace, options, ALL_TARGETS), known, changed, earlier, revision)


def without_shared_fixes(workspace: Workspace, report: Report) -> Report:
    """The report without fixes for one policy in files that another policy also governs."""
    from policykit.linter import run

    return run.without_shared_fixes(workspace, report)


def unit_findings(workspace: Workspace, options: Options = DEFAULT) -> UnitFindings:
    """Findings of each policy for each build and file, before baselines are applied."""
    from policykit.linter import run
    from policykit.targets import ALL_TARGETS

    return run.unit_findings(Run(workspace, options, ALL_TARGETS))


def fix(
    workspace: Workspace,
    options: Options = DEFAULT,
    *,
    unsafe: bool = False,
    only: frozenset[str] | None = None,
) -> FixResult:
    """Applies all fixes in memory and reports the remaining findings; nothing is written.

    `only`: reported paths of the files to fix; None: all.
    """
    from policykit.linter.fix_files import fix_files

    wanted = options._replace(fixes=True)

    def lint_again(read: Callable[[str], bytes], paths: frozenset[str]) -> Report:
        again = workspace._replace(read=read, cache=None)
        if paths:
            some = tuple(input_file for input_file in workspace.input_files if input_file.path in paths)
            again = again._replace(input_files=some, sizes=(), policies=(), builds=())
        report = lint(again, wanted)
        if only is None:
            return report
        kept = tuple(one if one.path in only else one._replace(fix=None) for one in report.findings)
        return report._replace(findings=kept)

    files = {input_file.path: input_file.file for input_file in workspace.input_files}
    return fix_files(lint_again, workspace.read, files, unsafe=unsafe)


def workspace_of(texts: Mapping[str, bytes], setting: Setting, *, complete: bool = True) -> Workspace:
    """Texts in memory, by path; `complete`: together they are a whole scope."""
    input_files = tuple(InputFile(path, path, "memory" if complete else "", 0) for path in texts)
    return Workspace(input_files, (setting,), texts.__getitem__, lambda _: input_files)


def lint_texts(
    texts: dict[str, bytes],
    cluster: Cluster | None = None,
    select: Sequence[str] = (),
    complete: bool = True,
    today: str = "",
) -> Report:
    """Findings over texts in memory, by path; `complete`: together they are a whole scope."""
    chosen = setting(cluster, select=select)
    return lint(workspace_of(texts, chosen, complete=complete), Options(today=today, workers=1))


def fix_texts(
    texts: dict[str, bytes],
    cluster: Cluster | None = None,
    select: Sequence[str] = (),
    *,
    unsafe: bool = False,
    complete: bool = True,
    today: str = "",
) -> FixResult:
    """Fixes texts in memory, by path; `complete`: together they are a whole scope."""
    chosen = setting(cluster, select=select)
    workspace = workspace_of(texts, chosen, complete=complete)
    return fix(workspace, Options(today=today, workers=1), unsafe=unsafe)


def unit_answers(workspace: Workspace, *, complete: bool) -> AppliedPodSets:
    """Every pod set of the files of a workspace, for each cluster that applies it. `complete`: what the files
    do not state does not exist."""
    from policykit.gates import applied_pod_sets as units

    return units.applied_pod_sets(workspace, where, facts, complete=complete)


def where(
    raw: bytes, cluster: Cluster | None, namespace: str = "default", path: str = ""
) -> Iterator[Review]:
    """Every pod set of a file under a policy, in document order; unreadable documents are left out.

    The reasons are in the order of the scheduler that places the pods. With `path`, SourceError is raised
    after the last pod set if a document is not YAML, unless the text is a template.
    """
    from policykit.kube import podsets
    from policykit.linter.reader import (
        decode,
        documents,
        has_signs,
        is_abridged,
        is_marked_partial,
        is_partial,
        unreadable,
    )
    from policykit.manifests.document import manifests
    from policykit.manifests.lines import split
    from policykit.model.pool import KUBE_SCHEDULER
    from policykit.placement.review import review
    from policykit.targets import target_name_of, target_of

    text, broken = decode(raw), None
    parsed = list(documents(text))
    marked, lines = is_marked_partial(text.text), split(text.text) if has_signs(text.text) else ()
    for index, document in enumerate(parsed):
        if document.problem:
            broken = broken or document
        if document.root is None or document.problem:
            continue
        end = parsed[index + 1].start_line if index + 1 < len(parsed) else len(lines)
        partial = marked or (
            bool(lines) and is_abridged(document.root, lines, document.start_line if index else 0, end)
        )
        for manifest in manifests(document.root, index):
            pod_sets = podsets.pod_sets(manifest.data)
            manifest = manifest._replace(partial=partial or is_partial(manifest, pod_sets))
            for pod_set in pod_sets:
                target = target_of(target_name_of(pod_set.scheduler_name, cluster)) if cluster else None
                filters = target.filters if target else KUBE_SCHEDULER
                if pod_set.per_node:
                    filters = filters._replace(skips_cordoned=False)
                yield review(manifest, pod_set, cluster, namespace, filters)
    if path and broken and (error := unreadable(path, text, broken)):
        raise error


def facts(path: str, raw: bytes, cluster: Cluster, namespace: str = "default") -> tuple[AnyFact, ...]:
    """What a file contributes to its scope."""
    from policykit.linter.engine import Job, lint_file
    from policykit.linter.scope import decoded
    from policykit.targets import ALL_TARGETS

    result = lint_file(Job(path, cluster, namespace=namespace), raw, RuleSet((), rule), ALL_TARGETS)
    return tuple(decoded(result.facts))


def answers(
    reviewed: Iterable[tuple[str, Review]], known: Iterable[AnyFact], cluster: Cluster, *, complete: bool
) -> Iterator[Answer]:
    """Pod sets with the gates that hold them. `known`: facts of all files that see each other; `complete`:
    what they do not state does not exist."""
    from policykit.gates.pod_gates import Answer, PodGates
    from policykit.linter.scope import scope_of

    gates = PodGates(scope_of(known, complete=complete), cluster)
    return (Answer(path, review, gates.of(review)) for path, review in reviewed)


def generate(cluster: Cluster, targets: Sequence[str] = ()) -> TargetOutput:
    """What every target (or only the named ones) writes for a cluster, sorted by path."""
    from policykit.generator.artifact import TargetOutput
    from policykit.targets import writers

    artifacts: list[Artifact] = []
    notices: list[Notice] = []
    for name, write in writers(cluster):
        if targets and name not in targets:
            continue
        generated = write(cluster)
        artifacts.extend(generated.artifacts)
        notices.extend(generated.notices)
        notices.extend(_of_an_unstated_release(name, write, cluster, generated))
    return TargetOutput(tuple(sorted(artifacts, key=lambda a: a.path)), tuple(notices))


def _of_an_unstated_release(
    name: str, write: Generate, cluster: Cluster, generated: TargetOutput
) -> Iterator[Notice]:
    """What it means for older releases; nothing where the policy states one."""
    from policykit.generator import bundle
    from policykit.targets import target_of

    settings, target = cluster.targets.get(name), target_of(name)
    if settings is None or settings.version or target is None or target.releases is None or target.always:
        return
    yield from bundle.notices(name, write, cluster, target.releases.load(), generated)
