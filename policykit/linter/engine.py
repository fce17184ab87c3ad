"""One file through all rules that look at one file: pure, from bytes to findings and facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from policykit.kube import podsets
from policykit.kube import structure as structures
from policykit.kube.podsets.podset import PodSet
from policykit.kube.structure.served import NOTHING, Served
from policykit.linter import rendered
from policykit.linter.configurations import Held, bare, held, hinted
from policykit.linter.finding import Finding
from policykit.linter.ground import Ground
from policykit.linter.member import BUILT
from policykit.linter.mentions import unmentioned
from policykit.linter.partial import has_directives, is_partial, says_partial
from policykit.linter.precedence import Said, causes
from policykit.linter.reader import BOM, Text, decode, documents, is_template
from policykit.linter.registry import MANIFEST, PODS, READING, STRUCTURE, RuleSet
from policykit.linter.rule import AnyRule, Context, Violation
from policykit.linter.scope import Fact, facts_of
from policykit.linter.systems import Systems
from policykit.manifests.document import Manifest, manifests
from policykit.manifests.parser import Parsed
from policykit.placement.review import Review, review

if TYPE_CHECKING:
    from policykit.linter.fixes import Fixes
    from policykit.linter.hiding import Hiding
    from policykit.linter.suppression import Suppressed
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
    served: Served = NOTHING
    """What the API server serves, as far as it is stated."""
    look: str = ""
    """READ or BUILT of a member, where it is not looked at as a whole."""


_HIDING = "policykit"
"""No suppression is written without this word."""


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
    times: tuple[tuple[str, float], ...] = ()
    """Code of each rule and the seconds it took, where they are measured."""
    sources: Mapping[int, str] = {}
    """Templates that documents were rendered from, by the documents' indices."""


def lint_file(job: Job, raw: bytes, rules: RuleSet, systems: Systems) -> FileResult:
    """Reads one file and applies every rule but those about whole scopes."""
    if job.path.endswith(".json") and b'"apiVersion"' not in raw:
        return FileResult(skipped="no Kubernetes object")
    text = decode(raw)
    absent = unmentioned(text.text, rules.words | systems.words | {_HIDING})
    rules, systems = rules.without(absent), systems.without(absent)
    template = is_template(text.text)
    found: list[Finding] = []
    facts: list[Fact] = []
    hiding = None if _HIDING in absent else _hiding(text, job.today)
    whole_file_partial = job.partial or says_partial(text.text)
    directives = has_directives(text.text)
    objects = 0
    skipped = ""
    unfinished: set[int] = set()
    fixes = fixes_of(job.path, text.text, raw) if job.fixes else None
    known = hinted(text.text, systems.configurations)
    templates = rendered.comments(text.text)
    sources: dict[int, str] = {}
    context = Context(job.cluster, job.path, job.namespace, job.served)
    for index, (document, last_line) in enumerate(_with_last_line(text)):
        if template and document.problem:
            skipped = "a template, YAML only once rendered"
            continue
        found.extend(_reading(job, text, document, index, rules))
        if document.root is None or document.problem:
            continue
        if templates:
            first_line = document.start_line if index else 0
            sources[index] = rendered.source(templates, first_line, document.root.start.line)
        if hiding:
            hiding.document(document.root, (document.start_line if index else 0, last_line), index)
        for manifest in manifests(document.root, index):
            inner = list(held(manifest, text.text, known))
            manifest = bare(manifest, known) or manifest
            ground = Ground(manifest, text.text)
            for each in inner:
                found.extend(_held(job, each, rules, context, fixes))
                facts.extend(_facts_of_held(each, systems, context))
            if manifest.read_as:
                objects += 1
                found.extend(_by_kind(ground, rules, context, fixes))
                facts.extend(facts_of(ground, (), (), systems.readers, context))
                continue
            if not manifest.kind or not manifest.api_version:
                skipped = skipped or ("" if inner else _without(manifest))
                continue
            objects += 1
            pod_sets = podsets.pod_sets(manifest.data)
            partial = whole_file_partial or is_partial(manifest, pod_sets, directives)
            ground = ground._replace(manifest=manifest._replace(partial=partial))
            if hiding and job.look != BUILT:
                hiding.object(ground)
            if partial:
                unfinished.add(index)
            found.extend(_object(job, ground, pod_sets, rules, context, fixes))
            facts.extend(facts_of(ground, pod_sets, systems.dialects, systems.readers, context))
    kept, asked = hiding.sift(found, template, unfinished) if hiding else (found, ())
    if sources:
        kept = [finding._replace(source=sources.get(finding.document, "")) for finding in kept]
    return FileResult(
        tuple(kept),
        tuple(facts),
        asked,
        objects,
        skipped,
        len(found) - len(kept),
        tuple(fixes.dropped) if fixes else (),
        rules.times(),
        sources,
    )


def _hiding(text: Text, today: str) -> Hiding:
    from policykit.linter.hiding import Hiding

    return Hiding(text.text, today)


def fixes_of(path: str, text: str, raw: bytes) -> Fixes:
    """What makes the fixes of a file; loaded only where they are wanted."""
    from policykit.linter.fixes import Fixes, Source

    return Fixes(path, Source(text, len(BOM) if raw.startswith(BOM) else 0))


def _object(
    job: Job,
    ground: Ground,
    pod_sets: tuple[PodSet, ...],
    rules: RuleSet,
    context: Context,
    fixes: Fixes | None,
) -> Iterator[Finding]:
    manifest = ground.manifest
    if problems := structures.check(manifest.data, manifest.api_version, manifest.kind, job.served):
        from policykit.linter.subjects import Structure

        structure = Structure(manifest, problems)
        for rule in rules.of(STRUCTURE):
            yield from _place(ground, rule, rules.check(rule, structure, context), context, fixes)
    yield from _by_kind(ground, rules, context, fixes)
    for pod_set in pod_sets:
        looked = review(manifest, pod_set, job.cluster, job.namespace)
        for said in causes(_said(looked, context, rules)):
            yield from _place(ground, said.rule, (said.violation,), context, fixes, looked)


def _by_kind(ground: Ground, rules: RuleSet, context: Context, fixes: Fixes | None) -> Iterator[Finding]:
    for rule in rules.of(MANIFEST, ground.manifest.kind):
        yield from _place(ground, rule, rules.check(rule, ground.manifest, context), context, fixes)


def _held(job: Job, inner: Held, rules: RuleSet, context: Context, fixes: Fixes | None) -> Iterator[Finding]:
    """A configuration in a string: its text, where it is broken, and what it says."""
    ground = Ground(inner.manifest, inner.text, inner.relocate)
    for finding in _reading(job, Text(inner.text), inner.parsed, ground.document, rules):
        place = ground.place(())
        yield finding._replace(
            span=inner.relocate(finding.span),
            resource=ground.resource,
            pointer=place.pointer,
            field=place.field,
        )
    if inner.parsed.root is None or inner.parsed.problem:
        return
    holder = inner.manifest.holder
    inside = fixes.inside(holder, inner.manifest.held_at) if fixes and holder and not inner.nested else None
    yield from _by_kind(ground, rules, context, inside)


def _without(manifest: Manifest) -> str:
    """Why a document is no object."""
    lacking = [field for field in ("apiVersion", "kind") if manifest.data.get(field) is None]
    return f"without {' and '.join(lacking)}" if lacking else "without a text as apiVersion or kind"


def _facts_of_held(inner: Held, systems: Systems, context: Context) -> list[Fact]:
    ground = Ground(inner.manifest, inner.text, inner.relocate)
    return facts_of(ground, (), (), systems.readers, context) if inner.manifest.data else []


def _said(looked: Review, context: Context, rules: RuleSet) -> Iterator[Said]:
    for rule in rules.of(PODS):
        for violation in rules.check(rule, looked, context):
            yield Said(rule, violation)


def _place(
    ground: Ground,
    rule: AnyRule,
    violations: Iterable[Violation],
    context: Context,
    fixes: Fixes | None,
    looked: Review | None = None,
) -> Iterator[Finding]:
    """Violations with the rule, the place, the object and, where asked for, the fix."""
    for violation in violations:
        place = ground.place(violation.path, key=violation.key, inside=violation.inside, part=violation.part)
        yield Finding(
            context.path,
            place.span,
            rule.code,
            rule.name,
            violation.severity or rule.severity,
            violation.message,
            violation.help,
            ground.document,
            ground.resource,
            place.pointer,
            fixes.of(rule.code, place.span, ground.manifest, violation.fix, looked) if fixes else None,
            place.field,
        )


def _reading(job: Job, text: Text, parsed: Parsed, index: int, rules: RuleSet) -> Iterator[Finding]:
    if not parsed.problem and not parsed.duplicates:
        return
    from policykit.linter.subjects import Reading

    context = Context(job.cluster, job.path, job.namespace, job.served)
    for rule in rules.of(READING):
        for violation in rules.check(rule, Reading(text.text, parsed), context):
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
