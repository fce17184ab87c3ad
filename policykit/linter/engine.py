"""Lints one file: from bytes to findings and facts, without I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from policykit.kube import podsets
from policykit.kube.structure.schema import NOTHING, ServedApis
from policykit.linter.apply_rules import FileRules, facts_of, unreadable
from policykit.linter.configurations import (
    CHART_VALUES,
    Configuration,
    EmbeddedConfiguration,
    bare,
    embedded_configurations,
    hinted,
    may_hold,
)
from policykit.linter.file_documents import FileDocument, file_documents, only_document
from policykit.linter.finding import Finding
from policykit.linter.input_file import KUSTOMIZATIONS, OBJECTS, origin_of
from policykit.linter.large_files import document_by_item, is_large
from policykit.linter.location import LocatedObject
from policykit.linter.not_judged import NOT_YAML, obstacle
from policykit.linter.reader import (
    BOM,
    Text,
    decode,
    has_directives,
    has_expressions,
    has_signs,
    is_assertion,
    is_json_stream,
    is_marked_partial,
    is_of_another_program,
    is_of_ytt,
    is_partial,
    is_prose,
    is_template,
    no_text,
    source_comments,
    source_of,
    stops_at_placeholder,
)
from policykit.linter.registry import RuleSet
from policykit.linter.rule import Context
from policykit.linter.scope import AnyFact, LargeFileFacts, StoredFacts
from policykit.linter.substrings import absent_substrings
from policykit.linter.target import Targets
from policykit.manifests.document import Manifest, manifests
from policykit.manifests.memoize import computed_once
from policykit.manifests.parsed_document import UnreadError
from policykit.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policykit.linter.interning import Interned
    from policykit.linter.suppressions import FileSuppressions, SuppressionUse
    from policykit.linter.text_fixes import Fixes
    from policykit.model.cluster import Cluster

_KUSTOMIZATION = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}


class Job(NamedTuple):
    """A file to lint and what is known about it beforehand."""

    path: str
    cluster: Cluster | None = None
    partial: bool = False
    """Whether a kustomization lists it as a patch."""
    namespace: str = "default"
    fixes: bool = False
    """Whether fixes of findings are computed."""
    today: str = ""
    """YYYY-MM-DD, to tell which suppressions have expired; empty: none has."""
    served: ServedApis = NOTHING
    """What the API server serves, as far as it is configured."""
    only: str = ""
    """TEXT or OBJECTS: the part that is linted; empty: both."""
    plugins: tuple[str, ...] = ()
    """Names of out-of-tree scheduler plugins, from the settings."""
    components: tuple[str, ...] = ()
    """Workload kinds whose generated components a kustomization applies to the file."""
    origins: tuple[str, ...] = ()
    """Origins of the built objects that are linted: of others only facts are read; empty: all are."""
    literal: bool = False
    """Whether nothing replaces `${NAME}` in it before it is applied."""
    inlined: bool = False
    """Whether Pipelines-as-Code reads it."""


_SUPPRESSION_WORD = "policykit"
"""Every suppression contains this word."""


class FileResult(NamedTuple):
    """The result of one file: findings in document order, and facts for rules about scopes.

    Suppressions have been applied to the findings, except those of built objects.
    """

    findings: tuple[Finding, ...] = ()
    facts: tuple[AnyFact | StoredFacts, ...] = ()
    suppressions: tuple[SuppressionUse, ...] = ()
    documents: int = 0
    skipped: str = ""
    """Why the file, or part of it, was skipped."""
    suppressed: int = 0
    dropped: tuple[str, ...] = ()
    """Fixes left out because the edited text would not have the intended data, each with its location."""
    times: tuple[tuple[str, float], ...] = ()
    """Code of each rule and the seconds it took, if measured."""
    sources: Mapping[int, str] = {}
    """Templates that documents were rendered from, by index of the document."""
    obstacle: str = ""
    """Reason why the file, or part of it, was not judged, by its name in `policykit.linter.not_judged`."""
    unrecognized: tuple[str, ...] = ()
    """Objects whose pods request a card and have no workload kind of the policy, by kind and name."""


def lint_file(
    job: Job,
    raw: bytes,
    rules: RuleSet,
    targets: Targets,
    large_file_facts: Callable[[str], LargeFileFacts] | None = None,
) -> FileResult:
    """Reads one file and applies all rules except those about whole scopes; `large_file_facts`: as in
    `Workspace`."""
    if job.path.endswith(".json") and b'"apiVersion"' not in raw:
        return FileResult(skipped="no Kubernetes object")
    if what := no_text(raw):
        return FileResult(skipped=what)
    text = decode(raw)
    absent = absent_substrings(text.text, _words(rules.substrings, targets.substrings))
    only_facts = not rules
    rules, targets = rules.without(absent), targets.without(absent)
    beginning, large = raw[: len(BOM)], is_large(text.text)
    del raw

    def linted(found: Iterable[FileDocument]) -> FileResult:
        fixes = fixes_of(job.path, text.text, beginning) if job.fixes else None
        suppressions = None if _SUPPRESSION_WORD in absent else _suppressions(text, job.today)
        facts = large_file_facts(job.path) if large_file_facts and large else None
        linter = _FileLinter(job, text.text, rules, targets, fixes, suppressions, facts, only_facts)
        for document in found:
            linter.document(document)
        return linter.result()

    if large and (found := document_by_item(text)):
        try:
            return linted([only_document(text, found)])
        except UnreadError:
            pass  # some item can only be read with the others
    return linted(file_documents(text))


@lru_cache(maxsize=8)
def _words(of_rules: frozenset[str], of_targets: frozenset[str]) -> frozenset[str]:
    return of_rules | of_targets | {_SUPPRESSION_WORD}


class _FileLinter:
    """Lints one file, document by document."""

    def __init__(
        self,
        job: Job,
        text: str,
        rules: RuleSet,
        targets: Targets,
        fixes: Fixes | None,
        suppressions: FileSuppressions | None,
        stored: LargeFileFacts | None,
        only_facts: bool,
    ) -> None:
        self._job = job
        self._text = text
        self._rules = rules
        self._targets = targets
        self._fixes = fixes
        self._suppressions = suppressions
        literal = job.literal and "${" in text
        marked = suppressions is not None and is_marked_partial(text)
        self._partial = job.partial or marked or is_of_ytt(text)
        self._context = Context(
            *(job.cluster, job.path, job.namespace, job.served, job.plugins),
            *(literal, self._partial, job.inlined),
        )
        self._file_rules = FileRules(rules, self._context, fixes, frozenset(job.components))
        self._only_facts = only_facts
        """Whether rules are left out for the present document."""
        self._template = is_template(text)
        self._directives = has_directives(text)
        self._expressions = has_expressions(text)
        self._signs = not self._partial and has_signs(text)
        self._rendered_from = source_comments(text)
        self._found: list[Finding] = []
        self._stored = stored
        self._facts: list[AnyFact] = []
        self._objects = 0
        self._skipped = ""
        self._obstacle = ""
        self._unfinished: set[int] = set()
        self._interned = _interned() if is_large(text) else None
        self._sources: dict[int, str] = {}

    def document(self, one: FileDocument) -> None:
        """Lints a document and every object in it."""
        parsed = one.parsed
        if parsed.problem:
            self._facts.append(unreadable(one.lines(self._text)))
            self._template = self._template or stops_at_placeholder(self._text, parsed.problem)
        if self._template and parsed.problem:
            self._skipped = "a template, YAML only once rendered"
            self._obstacle = NOT_YAML
            return
        if parsed.problem and is_prose(one.lines(self._text), parsed.problem):
            self._skipped, self._obstacle = self._skipped or "text without keys", NOT_YAML
            return
        if parsed.problem and is_of_another_program(one.lines(self._text), parsed.problem):
            self._skipped = self._skipped or "without apiVersion and kind"
            return
        if parsed.problem and is_json_stream(one.lines(self._text)):
            self._skipped = self._skipped or "several values of JSON, one after another"
            return
        if self._expressions and parsed.root is not None and is_assertion(parsed.root.data):
            self._skipped = self._skipped or "an assertion of a test"
            return
        if self._job.origins and parsed.root is not None:
            self._only_facts = origin_of(parsed.root.data).get("path", "") not in self._job.origins
        if not self._only_facts:
            self._found.extend(self._file_rules.reading(self._text, parsed, one.number))
        if parsed.root is None or parsed.problem:
            return
        self._obstacle = self._obstacle or obstacle(parsed.root)
        if self._rendered_from:
            self._sources[one.number] = source_of(self._rendered_from, one.first, parsed.root.start.line)
        if self._suppressions and self._job.only != OBJECTS:
            self._suppressions.document(parsed.root, (one.first, one.end), one.number)
        partial = self._partial or (self._signs and one.is_abridged(self._text, parsed.root))
        for manifest in manifests(parsed.root, one.number, parsed.items):
            self._manifest(manifest, partial)

    def result(self) -> FileResult:
        """The result, without suppressed findings."""
        kept: Sequence[Finding] = self._found
        uses: tuple[SuppressionUse, ...] = ()
        if self._suppressions:
            hidden = () if self._job.only == OBJECTS else self._found
            kept, uses = self._suppressions.apply(hidden, self._template, self._unfinished)
            kept = self._found if self._job.only == OBJECTS else kept
        if self._sources:
            kept = [finding._replace(source=self._sources.get(finding.document, "")) for finding in kept]
        return FileResult(
            tuple(kept),
            self._all_facts(),
            uses,
            self._objects,
            self._skipped,
            len(self._found) - len(kept),
            tuple(self._fixes.dropped) if self._fixes else (),
            self._rules.times(),
            self._sources,
            self._obstacle,
            tuple(dict.fromkeys(self._file_rules.unrecognized)),
        )

    def _all_facts(self) -> tuple[AnyFact | StoredFacts, ...]:
        if self._stored is None:
            return tuple(self._facts)
        self._store(self._stored)
        return (self._stored,) if [*self._stored.names] else ()

    def _store(self, stored: LargeFileFacts) -> None:
        """Stores the facts that are not stored yet."""
        for fact in self._facts:
            stored.add(fact)
        self._facts.clear()

    def _manifest(self, manifest: Manifest, partial: bool) -> None:
        inner: list[EmbeddedConfiguration] = []
        if may_hold(manifest):
            manifest = manifest._replace(partial=True) if partial else manifest
            inner += embedded_configurations(manifest, self._text, self._configurations)
            for each in inner:
                self._embedded(each)
            manifest = bare(manifest, self._configurations) or manifest
        if manifest.read_as:
            self._configuration(LocatedObject(manifest, self._text))
        elif manifest.kind and manifest.api_version:
            self._object(manifest, partial)
        elif (meant := _kustomization(manifest, self._job.path)).kind and meant.api_version:
            self._object(meant, partial)
        elif not inner:
            self._skipped = self._skipped or _without(manifest)

    @computed_once
    def _configurations(self) -> tuple[Configuration, ...]:
        """The types of configuration that the file may contain; most files hold none in any case."""
        return hinted(self._text, self._targets.configurations)

    def _embedded(self, inner: EmbeddedConfiguration) -> None:
        """Lints a configuration in a string."""
        if not self._only_facts:
            self._found.extend(self._file_rules.embedded(inner))
        if inner.parsed.problem:
            self._facts.append(unreadable(inner.text))
        if inner.manifest.data:
            self._state(LocatedObject(inner.manifest, inner.text, inner.relocate))

    def _configuration(self, located: LocatedObject) -> None:
        """Lints a configuration that is a document of its own."""
        before = len(self._found)
        if not self._only_facts:
            self._found.extend(self._file_rules.configuration(located))
        if located.manifest.read_as == CHART_VALUES.name and len(self._found) == before:
            self._skipped = self._skipped or _without(located.manifest)  # whatever else it may be
        else:
            self._objects += 1
        self._state(located)

    def _object(self, manifest: Manifest, partial: bool) -> None:
        self._objects += 1
        pod_sets = podsets.pod_sets(manifest.data)
        partial = partial or is_partial(manifest, pod_sets, self._directives)
        located = LocatedObject(manifest._replace(partial=True) if partial else manifest, self._text)
        if self._suppressions:
            self._suppressions.object(located)
        if partial:
            self._unfinished.add(manifest.document)
        found = [] if self._only_facts else self._file_rules.object(located, pod_sets)
        self._found.extend(map(self._interned, found) if self._interned else found)
        self._state(located, pod_sets)

    def _state(self, located: LocatedObject, pod_sets: Sequence[podsets.PodSet] = ()) -> None:
        """Collects the facts of an object or a configuration."""
        self._facts.extend(facts_of(located, pod_sets, self._targets, self._context))
        if self._stored is not None:
            self._store(self._stored)


def _kustomization(manifest: Manifest, path: str) -> Manifest:
    """With what kustomize takes for granted in a file of that name: `FixKustomizationPostUnmarshal` (5.8)."""
    if path.rpartition("/")[2] not in KUSTOMIZATIONS:
        return manifest
    absent = {field: value for field, value in _KUSTOMIZATION.items() if manifest.data.get(field) is None}
    return manifest._replace(data={**manifest.data, **absent})


def _without(manifest: Manifest) -> str:
    """Why a document is not an object, for the list of skipped documents."""
    lacking = [field for field in ("apiVersion", "kind") if manifest.data.get(field) is None]
    return f"without {' and '.join(lacking)}" if lacking else "without a text as apiVersion or kind"


def _suppressions(text: Text, today: str) -> FileSuppressions:
    from policykit.linter.suppressions import FileSuppressions

    return FileSuppressions(text.text, today)


def _interned() -> Interned:
    from policykit.linter.interning import Interned

    return Interned()


def fixes_of(path: str, text: str, raw: bytes) -> Fixes:
    """The object that computes fixes of a file, whose module is imported only if needed."""
    from policykit.linter.text_fixes import FileText, Fixes

    return Fixes(path, FileText(text, len(BOM) if raw.startswith(BOM) else 0))
