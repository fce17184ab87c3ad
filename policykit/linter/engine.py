"""One file through all rules that look at one file: pure, from bytes to findings and facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from policykit.kube import podsets
from policykit.kube import structure as structures
from policykit.kube.podsets.podset import PodSet
from policykit.linter.dialect import Dialect
from policykit.linter.field import field
from policykit.linter.finding import Finding, Resource
from policykit.linter.inner import inner_manifests
from policykit.linter.partial import has_directives, is_partial, says_partial
from policykit.linter.precedence import Said, causes
from policykit.linter.reader import BOM, Text, decode, documents, is_template
from policykit.linter.registry import RuleSet
from policykit.linter.rule import AnyRule, Context, Violation
from policykit.linter.scope import Fact, facts_of
from policykit.linter.subjects import Reading, Structure
from policykit.linter.suppression import Suppressed, Suppression, annotated, bind, comments, sift
from policykit.manifests.document import Manifest, manifests
from policykit.manifests.parser import Parsed
from policykit.manifests.path import pointer
from policykit.placement.review import Review, review

if TYPE_CHECKING:
    from policykit.linter.fixes import Fixes
    from policykit.model.cluster import Cluster


class Job(NamedTuple):
    """A file to lint and what is known about it beforehand."""

    path: str
    cluster: Cluster | None = None
    partial: bool = False
    """A kustomization lists it as a patch."""
    namespace: str = "default"
    fixes: bool = False
    """Compute the fixes of findings."""
    today: str = ""
    """YYYY-MM-DD, what suppressions with an end are held against; empty: none has ended."""


class FileResult(NamedTuple):
    """What one file gives: findings in document order, and facts for cross-document rules."""

    findings: tuple[Finding, ...] = ()
    facts: tuple[Fact, ...] = ()
    suppressions: tuple[Suppressed, ...] = ()
    documents: int = 0
    skipped: str = ""
    """Why the file, or part of it, was passed over."""
    suppressed: int = 0
    dropped: tuple[str, ...] = ()
    """Fixes left out because the text would not say what was intended, each with its place."""


def lint_file(job: Job, raw: bytes, rules: RuleSet, dialects: Sequence[Dialect]) -> FileResult:
    """Reads one file and applies every rule but those about whole scopes."""
    if job.path.endswith(".json") and b'"apiVersion"' not in raw:
        return FileResult(skipped="no Kubernetes object")
    text = decode(raw)
    template = is_template(text.text)
    found: list[Finding] = []
    facts: list[Fact] = []
    suppressions: list[Suppression] = []
    asked_to_ignore = comments(text.text)
    whole_file_partial = job.partial or says_partial(text.text)
    directives = has_directives(text.text)
    objects = 0
    skipped = ""
    unfinished: set[int] = set()
    fixes = fixes_of(job.path, text.text, raw) if job.fixes else None
    for index, (document, last_line) in enumerate(_with_last_line(text)):
        if template and document.problem:
            skipped = "a template, YAML only once rendered"
            continue
        found.extend(_reading(job, text, document, index, rules))
        if document.root is None or document.problem:
            continue
        if asked_to_ignore:
            lines = (document.start_line if index else 0, last_line)
            suppressions.extend(bind(asked_to_ignore, document.root, lines, index, job.today))
        for manifest in manifests(document.root, index):
            if not manifest.kind or not manifest.api_version:
                skipped = skipped or "without apiVersion and kind"
                continue
            objects += 1
            pod_sets = podsets.pod_sets(manifest.data)
            partial = whole_file_partial or is_partial(manifest, pod_sets, directives)
            manifest = manifest._replace(partial=partial)
            suppressions.extend(annotated(manifest, _lines(manifest), resource(manifest), job.today))
            if partial:
                unfinished.add(index)
            found.extend(_object(job, text.text, manifest, pod_sets, rules, fixes))
            facts.extend(facts_of(manifest, pod_sets, dialects, job.path, job.namespace))
    asked = tuple(Suppressed(s._replace(judged=_whole(s, template, unfinished))) for s in suppressions)
    kept, asked = sift(found, asked) if asked else (found, ())
    return FileResult(
        tuple(kept),
        tuple(facts),
        asked,
        objects,
        skipped,
        len(found) - len(kept),
        tuple(fixes.dropped) if fixes else (),
    )


def _whole(suppression: Suppression, template: bool, unfinished: set[int]) -> bool:
    """Whether what the suppression could hide shows here, and not only once rendered or merged."""
    return suppression.judged and not template and suppression.document not in unfinished


def fixes_of(path: str, text: str, raw: bytes) -> Fixes:
    """What makes the fixes of a file; loaded only where they are wanted."""
    from policykit.linter.fixes import Fixes, Source

    return Fixes(path, Source(text, len(BOM) if raw.startswith(BOM) else 0))


def _object(
    job: Job,
    text: str,
    manifest: Manifest,
    pod_sets: tuple[PodSet, ...],
    rules: RuleSet,
    fixes: Fixes | None,
) -> Iterator[Finding]:
    context = Context(job.cluster, job.path, job.namespace)
    problems = structures.check(manifest.data, manifest.api_version, manifest.kind)
    structure = Structure(manifest, problems)
    for rule in rules.structure:
        yield from _place(job.path, manifest, rule, rule.check(structure, context), fixes)
    for rule in rules.for_kind(manifest.kind):
        yield from _place(job.path, manifest, rule, rule.check(manifest, context), fixes)
    for inner, path, relocate in inner_manifests(manifest, text):
        for rule in rules.for_kind(inner.kind):
            inside = fixes.inside(manifest, path) if fixes else None
            for found in _place(job.path, inner, rule, rule.check(inner, context), inside):
                yield found._replace(
                    field=field(manifest.data, path) + found.field,
                    span=relocate(found.span),
                    document=manifest.document,
                    resource=resource(manifest),
                    pointer=pointer((*manifest.base, *path)),
                )
    for pod_set in pod_sets:
        looked = review(manifest, pod_set, job.cluster, job.namespace)
        for said in causes(_said(looked, context, rules)):
            yield from _place(job.path, manifest, said.rule, (said.violation,), fixes, looked)


def _said(looked: Review, context: Context, rules: RuleSet) -> Iterator[Said]:
    for rule in rules.pod_set:
        for violation in rule.check(looked, context):
            yield Said(rule, violation)


def _place(
    path: str,
    manifest: Manifest,
    rule: AnyRule,
    violations: Iterable[Violation],
    fixes: Fixes | None,
    looked: Review | None = None,
) -> Iterator[Finding]:
    """Violations with the rule, the place, the object and, where asked for, the fix."""
    for violation in violations:
        span = manifest.span(violation.path, key=violation.key)
        yield Finding(
            path,
            span,
            rule.code,
            rule.name,
            violation.severity or rule.severity,
            violation.message,
            violation.help,
            manifest.document,
            resource(manifest),
            pointer((*manifest.base, *violation.path)),
            fixes.of(rule.code, span, manifest, violation.fix, looked) if fixes else None,
            field(manifest.data, violation.path),
        )


def _reading(job: Job, text: Text, parsed: Parsed, index: int, rules: RuleSet) -> Iterator[Finding]:
    if not parsed.problem and not parsed.duplicates:
        return
    context = Context(job.cluster, job.path, job.namespace)
    for rule in rules.reading:
        for violation in rule.check(Reading(text.text, parsed), context):
            yield Finding(
                job.path,
                violation.span,
                rule.code,
                rule.name,
                rule.severity,
                violation.message,
                violation.help,
                index,
            )


def _with_last_line(text: Text) -> Iterator[tuple[Parsed, int]]:
    """Each document with the line it ends before, from 0; only two are in memory at a time."""
    held: Parsed | None = None
    for document in documents(text):
        if held:
            yield held, document.start_line
        held = document
    if held:
        yield held, text.text.count("\n") + 1


def _lines(manifest: Manifest) -> tuple[int, int]:
    node = manifest.node
    return node.start.line + 1, node.end.line + 1


def resource(manifest: Manifest) -> Resource:
    """The object a finding is about, as written."""
    return Resource(manifest.api_version, manifest.kind, manifest.namespace or None, manifest.name)
