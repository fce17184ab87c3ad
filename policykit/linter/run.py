"""A run: passes over a workspace, whose findings are merged into a report."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, groupby
from operator import attrgetter

from policykit.errors import Failures
from policykit.linter.finding import Finding, NotJudged, Report, listed
from policykit.linter.input_file import KUSTOMIZATIONS, STDIN, TEXT, InputFile
from policykit.linter.not_judged import EMPTY_INPUT, NO_POLICY, NOT_YAML, REASONS
from policykit.linter.registry import FAILED_BUILD, GENERATED_FILE, POLICY
from policykit.linter.rule import Context
from policykit.linter.runtime_class_pass import with_classes
from policykit.linter.scope_pass import RuleFindings, ScopesByPolicy, scope_findings
from policykit.linter.unit import PassResult, UnitFinding, UnitResult, file_findings, unit_results
from policykit.linter.violations import finding_of, locate
from policykit.linter.workspace import Policy, Run, Setting, Workspace
from policykit.model.severity import Applicability, Severity
from policykit.namedtuple import NamedTuple

_POLICY = "policykit.yaml"


def left_over(run: Run, judged: Sequence[UnitResult]) -> tuple[NotJudged, ...]:
    """Everything that a run did not judge, sorted; each file or kustomization once per reason."""
    found = {(one.path, one.reason, one.detail): one for one in run.workspace.not_judged}
    for one in _files(run, judged):
        found.setdefault((one.path, one.reason, one.detail), one)
    return tuple(sorted(found.values()))


def not_accepted(settings: Sequence[Setting], found: Iterable[NotJudged]) -> tuple[NotJudged, ...]:
    """Those whose reason and path the settings do not accept. For a file without a policy, any policy of the
    run may accept it."""
    left = []
    for one in found:
        asked = settings if one.reason == NO_POLICY else settings[one.setting : one.setting + 1]
        if not any(setting.selection.accepts(one.reason, one.path) for setting in asked):
            left.append(one)
    return tuple(left)


def _files(run: Run, judged: Sequence[UnitResult]) -> Iterator[NotJudged]:
    any_policy = any(setting.cluster for setting in run.workspace.settings)
    reached = _reached(run, judged) | run.workspace.bases
    for each in judged:
        result, input_file = each.result, each.input_file
        if not each.first or each.failure or input_file.is_built:
            continue
        reason = result.obstacle
        if reason == NOT_YAML and input_file.only == TEXT:
            reason = ""  # its objects are judged as built
        if input_file.file == STDIN and not result.documents:
            reason = reason or EMPTY_INPUT
        elif (
            any_policy
            and result.documents
            and input_file.path not in reached
            and not _is_of_tools(input_file)
        ):
            reason = reason or NO_POLICY
        if reason:
            yield NotJudged(input_file.path, reason, REASONS[reason], input_file.setting)


def _reached(run: Run, judged: Sequence[UnitResult]) -> set[str]:
    """Paths of the files that a policy judges."""
    unjudged = {number for number, setting in enumerate(run.workspace.settings) if not setting.cluster}
    return {each.input_file.path for each in judged if not unjudged.issuperset(each.settings)}


def _without_policy(run: Run, judged: Sequence[UnitResult]) -> int:
    """Number of files that no policy judges, without those that are read and have no objects."""
    if not run.workspace.without_policy:
        return 0
    reached = _reached(run, judged)
    return sum(
        each.first
        and each.input_file.path in run.workspace.without_policy
        and each.input_file.path not in reached
        and bool(each.result.documents or each.result.findings or each.result.obstacle or each.failure)
        for each in judged
    )


def _is_of_tools(input_file: InputFile) -> bool:
    """Whether a file has no objects for a cluster, by its name: a kustomization or a policy."""
    return os.path.basename(input_file.file) in (*KUSTOMIZATIONS, _POLICY)


WITHOUT_GANG = "gang-not-declared"
"""What an operator in the scope of a job may refute."""


class Judgement(NamedTuple):
    """How a run came to its findings, as far as a later run can go on from it."""

    judged: tuple[UnitResult, ...]
    scopes: ScopesByPolicy
    files: tuple[UnitFinding, ...]
    """The findings of single files, before settings are applied."""
    rules: tuple[RuleFindings, ...]
    """The findings about scopes, before suppressions and settings are applied."""
    others: tuple[UnitFinding, ...]
    """All other findings, before settings are applied."""
    suppressed: bool
    """Whether there are suppressions."""


class UnitFindings(NamedTuple):
    """The findings of all units, before the baseline and merging."""

    findings: tuple[UnitFinding, ...]
    report: Report
    """The report of the run, without findings."""
    judgement: Judgement


def lint(run: Run) -> Report:
    """Lints a workspace. Findings are sorted; neither the number of workers nor the cache changes them."""
    return report_of(run, unit_findings(run))


def report_of(run: Run, of_units: UnitFindings) -> Report:
    """The report of a run, with the findings of its units that nothing accepts."""
    found, report, _ = of_units
    accepted = known = 0
    if run.workspace.baselines:
        from policykit.linter.baseline_pass import accept

        found, accepted = accept(run.workspace, found, complete=not report.failures)
    if run.workspace.earlier is not None:
        from policykit.linter.baseline_pass import new_findings

        found, known = new_findings(found, run.workspace.earlier)
    return report._replace(findings=merge(run, found), baselined=accepted, unchanged=known)


def unit_findings(run: Run) -> UnitFindings:
    """The findings of each unit, with settings and suppressions applied."""
    found = _judged(run)
    # Cached results have the right types, but may contradict each other or the files. They must not cause a
    # failure.
    cache = run.workspace.cache
    if found.report.failures and cache is not None and cache.clear():
        return _judged(run)
    return found


def _judged(run: Run) -> UnitFindings:
    judged, scopes = with_classes(run, unit_results(run))
    scoped = scope_findings(run, scopes)
    about_files = _with_sources(judged, (one for one in scoped.findings if one.build < 0))
    placed = _of_builds(run, judged, (one for one in scoped.findings if one.build >= 0))
    files = tuple(file_findings(judged))
    if any(one.finding.name == WITHOUT_GANG for one in files):
        from policykit.linter.gang_operator_pass import gang_made_by_operator

        files = gang_made_by_operator(scopes, files, WITHOUT_GANG)
    if any(one.finding.severity is Severity.ERROR for one in files):
        from policykit.linter.pod_mutation_pass import changed_at_admission

        files = changed_at_admission(run, scopes, files)
    if run.workspace.builds:
        from policykit.linter.builds.findings import reconcile

        files, built = reconcile(run.workspace, files, placed.findings)
        placed = placed._replace(findings=built)
    declared = policy_findings(run)
    broken = _failed_builds(run)
    unhidden = (*about_files, *placed.findings, *declared.findings, *broken.findings)
    suppressed = any(each.result.suppressions for each in judged)
    remaining, unused, hidden = PassResult(), PassResult(), 0
    if unhidden or suppressed:
        from policykit.linter.suppression_pass import apply

        remaining, unused, hidden = apply(run, judged, unhidden)
    found = select(run, chain(files, remaining.findings, unused.findings))
    passes = (scoped, placed, declared, broken, unused, remaining)
    failures = dict.fromkeys(each.failure for each in judged if each.failure)
    failures |= dict.fromkeys(chain(*(each.failures for each in passes)))
    dropped = chain(*(each.result.dropped for each in judged), *(each.dropped for each in passes))
    others = (*declared.findings, *broken.findings)
    judgement = Judgement(judged, scopes, files, scoped.rules, others, suppressed)
    report = _summary(run, judged, hidden, tuple(failures), tuple(dropped))
    return UnitFindings(found, report, judgement)


def policy_findings(run: Run) -> PassResult:
    """The pass over policies: findings about them and about their generated files."""
    failures = Failures()
    found: list[UnitFinding] = []
    for policy in run.workspace.policies:
        setting = run.workspace.settings[policy.setting]
        with failures.collect(policy.file or "policy"):
            found += [UnitFinding(one, policy.setting) for one in _about_policy(policy, setting)]
    return PassResult(tuple(found), tuple(failures))


def _failed_builds(run: Run) -> PassResult:
    """The rule about kustomizations that cannot be built, under the policy of each."""
    found = []
    for number, build in run.workspace.failed_builds:
        rules = run.workspace.settings[number].rules
        for rule in rules.of(FAILED_BUILD):
            for violation in rule.check(build, Context(path=build.path)):
                found.append(UnitFinding(finding_of(rule, violation, locate(violation, build.path)), number))
    return PassResult(tuple(found))


def _about_policy(policy: Policy, setting: Setting) -> Iterator[Finding]:
    rules, context = setting.rules, Context(setting.cluster, "", setting.namespace)
    if policy.declared is not None:
        for rule in rules.of(POLICY):
            for violation in rule.check(policy.declared, context):
                yield finding_of(rule, violation, locate(violation, "", policy.declared))
    for file in policy.drifted:
        for rule in rules.of(GENERATED_FILE):
            for violation in rule.check(file, context):
                yield finding_of(rule, violation, locate(violation, file.path))


def select(run: Run, found: Iterable[UnitFinding]) -> tuple[UnitFinding, ...]:
    """The findings that the settings of each unit select, with the severities they set."""
    kept = []
    for one in found:
        owners = run.workspace.owners.get(one.finding.path)
        if owners and not owners.judges(one.finding.document, one.setting):
            continue
        finding = run.workspace.settings[one.setting].selection.selected(one.finding)
        if finding is not None:
            kept.append(one if finding is one.finding else one._replace(finding=finding))
    return tuple(kept)


def without_shared_fixes(workspace: Workspace, report: Report) -> Report:
    """The report without fixes that one policy needs in files to which another policy also applies, unless
    they are right for both."""
    input_files = {input_file.path: input_file for input_file in workspace.input_files}
    needing = [setting.rules.needing_policy() for setting in workspace.settings]
    kept: list[Finding] = []
    dropped: list[str] = []
    refused: set[Applicability] = set()
    for finding in report.findings:
        input_file = input_files.get(finding.path)
        if finding.fix and input_file and finding.code in needing[input_file.setting]:
            texts = partial(_texts, workspace, input_file.file, finding)
            other = workspace.other_policy(input_file.file, input_file.setting, texts)
            if other:
                why = f"{other.shown} applies to the file too: {other.advice}"
                dropped.append(f"{finding.path}: {finding.code} is not fixed: {why}")
                refused.add(finding.fix.applicability)
                finding = finding._replace(fix=None)
        kept.append(finding)
    every = tuple(dict.fromkeys((*report.dropped, *dropped)))
    if not dropped:
        return report
    return report._replace(findings=tuple(kept), dropped=every, refused=frozenset(refused))


def _texts(workspace: Workspace, file: str, finding: Finding) -> tuple[bytes, bytes]:
    """A file before and after the fix of a finding."""
    from policykit.linter.fix_files import fixed_once

    raw = workspace.read(file)
    return raw, fixed_once(raw, (finding,))[0]


def _of_builds(run: Run, judged: tuple[UnitResult, ...], scoped: Iterable[UnitFinding]) -> PassResult:
    if not run.workspace.builds:
        return PassResult()
    from policykit.linter.builds.findings import build_findings

    return build_findings(run, judged, scoped)


def _with_sources(judged: Iterable[UnitResult], found: Iterable[UnitFinding]) -> list[UnitFinding]:
    """Findings with the templates that their documents were rendered from."""
    sources = {
        (each.input_file.path, number): source
        for each in judged
        for number, source in each.result.sources.items()
    }
    if not sources:
        return [*found]
    return [
        one._replace(
            finding=one.finding._replace(source=sources.get((one.finding.path, one.finding.document), ""))
        )
        for one in found
    ]


def _summary(
    run: Run,
    judged: tuple[UnitResult, ...],
    hidden: int,
    failures: tuple[str, ...],
    dropped: tuple[str, ...],
) -> Report:
    files = [each for each in judged if each.first and not each.input_file.is_built]
    times: dict[str, float] = {}
    for code, seconds in chain(
        *(each.result.times for each in judged),
        *(each.rules.times() for each in run.workspace.settings),
    ):
        times[code] = times.get(code, 0.0) + seconds
    settings: tuple[Setting, ...] = run.workspace.settings
    return Report(
        (),
        len(run.workspace.input_files),
        sum(each.result.documents for each in files),
        tuple((each.input_file.path, each.result.skipped) for each in files if each.result.skipped),
        failures,
        hidden + sum(each.result.suppressed for each in files),
        max((setting.rules.skipped for setting in settings), default=0),
        _without_policy(run, judged),
        dropped,
        times=tuple(sorted(times.items())),
        not_judged=left_over(run, judged),
        unrecognized=_unrecognized(run, judged),
    )


def _unrecognized(run: Run, judged: Iterable[UnitResult]) -> tuple[tuple[str, str], ...]:
    """Objects without a workload kind where one is needed, each once; built ones with what is built."""
    whole = [each for each in judged if each.input_file.only != TEXT and each.result.unrecognized]
    shown = {
        build.input_file.path: build.names[build.file].path if build.file in build.names else build.shown
        for build in (run.workspace.builds if whole else ())
    }
    found = {
        (shown.get(each.input_file.path, each.input_file.path), name)
        for each in whole
        for name in each.result.unrecognized
    }
    return tuple(sorted(found))


def merge(run: Run, found: Iterable[UnitFinding]) -> tuple[Finding, ...]:
    """Merges findings that agree in code, location, message and severity; sorted, each with its clusters.

    Findings at aliases of one YAML anchor are merged too, with their fix.
    """
    names = [setting.cluster.name if setting.cluster else "" for setting in run.workspace.settings]
    ordered = sorted(found, key=lambda one: (one.finding.sort_key(), one.build, one.setting))
    return tuple(_joined(group, run.workspace, names) for group in _alike(ordered))


def _alike(ordered: Iterable[UnitFinding]) -> Iterator[Sequence[UnitFinding]]:
    """Groups of findings to merge, which are near each other: there may be many findings."""
    for _, found in groupby(ordered, key=_SAID):
        near = [*found]
        if len(near) == 1:
            yield near  # nearly always
            continue
        groups: dict[tuple[object, ...], list[UnitFinding]] = {}
        for one in near:
            groups.setdefault((one.finding.document, one.finding.severity), []).append(one)
        yield from groups.values()


_SAID = attrgetter("finding.path", "finding.span", "finding.code", "finding.message")
"""The beginning of the key by which findings are sorted."""


def _joined(group: Sequence[UnitFinding], workspace: Workspace, names: Sequence[str]) -> Finding:
    first = next((one for one in group if one.finding.fix), group[0]).finding
    if len(group) > 1:
        clusters = tuple(sorted({names[one.setting] for one in group} - {""}))
    else:
        name = names[group[0].setting]
        clusters = (name,) if name else ()
    if group[0].build < 0:
        return first if first.clusters == clusters else Finding(*first[:-1], clusters)  # nearly always
    help_text = _help(group, names)
    seen = dict.fromkeys(workspace.builds[one.build].shown for one in group if one.build >= 0)
    if any(one.outside_kustomization for one in group):
        help_text = f"{help_text}\nseen in {listed([*seen])}, as kustomize builds it".lstrip("\n")
    return first._replace(help=help_text, clusters=clusters)


def _help(group: Sequence[UnitFinding], names: Sequence[str]) -> str:
    """The help; if clusters need different things, the help for each."""
    helps: dict[str, set[str]] = {}
    for one in group:
        helps.setdefault(one.finding.help, set()).add(names[one.setting])
    if len(helps) == 1 or len(set[str]().union(*helps.values())) == 1:
        return group[0].finding.help
    return "\n".join(f"{listed(sorted(of))}: {each}" for each, of in helps.items() if each)
