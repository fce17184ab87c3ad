"""What a run reports: findings with their locations and fixes, failures, and files that were not judged."""

from __future__ import annotations

from collections.abc import Sequence

from policykit.manifests.extents import Edit
from policykit.manifests.node import Span
from policykit.manifests.patch import Patch
from policykit.model.severity import Applicability, Severity
from policykit.namedtuple import NamedTuple


class Resource(NamedTuple):
    """The Kubernetes object a finding is about."""

    api_version: str
    kind: str
    namespace: str | None
    """As written; None: the object has none."""
    name: str

    def __str__(self) -> str:
        name = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind} {name}".strip()


class TextFix(NamedTuple):
    """A fix as changes to the text of its file."""

    applicability: Applicability
    description: str
    edits: tuple[Edit, ...]
    """Sorted, without overlap; offsets in bytes of the file as it was read."""
    patches: tuple[Patch, ...] = ()
    """The edits as changes of the data, from the document's root; empty: only comments change."""


class Finding(NamedTuple):
    """One report of one rule. Lines and columns from 1, the end exclusive."""

    path: str
    span: Span
    code: str
    name: str
    severity: Severity
    message: str
    help: str = ""
    document: int = 0
    resource: Resource | None = None
    pointer: str = ""
    fix: TextFix | None = None
    """Computed only if fixes are requested."""
    field: str = ""
    """The field in its object, with items of lists by name: see `policykit.linter.location`."""
    source: str = ""
    """The template that its document was rendered from, according to a comment; empty: unknown."""
    clusters: tuple[str, ...] = ()
    """Names of the clusters that have the finding, sorted; empty: it does not depend on a policy."""

    def sort_key(self) -> tuple[str, Span, str, str, str]:
        return (self.path, self.span, self.code, self.message, self.pointer)


def listed(names: Sequence[str], most: int = 3) -> str:
    """Names in a sentence; of more than `most` the first and the number of others."""
    if len(names) > most:
        return f"{names[0]} and {len(names) - 1} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


class NotJudged(NamedTuple):
    """A file or kustomization that could not be judged: it has not passed, but there is no finding either."""

    path: str
    """As reported."""
    reason: str
    """The reason, one of `policykit.linter.not_judged.REASONS`."""
    detail: str
    """The reason in this case, as a phrase."""
    setting: int = 0
    """Index of its setting in the run."""


class Report(NamedTuple):
    """The result of a run."""

    findings: tuple[Finding, ...]
    """Sorted by path, line, column, code."""
    files: int
    """Number of files read."""
    documents: int
    """Number of Kubernetes objects linted."""
    skipped: tuple[tuple[str, str], ...] = ()
    """(path, why) of what was skipped: templates, fragments, other documents."""
    failures: tuple[str, ...] = ()
    """Files that could not be read: the run failed, but everything else is reported."""
    suppressed: int = 0
    silent_rules: int = 0
    """Number of rules skipped because they need a policy."""
    without_policy: int = 0
    """Number of files with objects that no policy applies to."""
    dropped: tuple[str, ...] = ()
    """Fixes left out because the text would not say what was intended, each with its place."""
    baselined: int = 0
    """Number of findings that a baseline accepts."""
    unchanged: int = 0
    """Number of findings that an earlier revision had."""
    times: tuple[tuple[str, float], ...] = ()
    """Code of each rule and the seconds it took in all processes, if measured."""
    refused: frozenset[Applicability] = frozenset()
    """Applicability of the fixes left out because another policy applies to their file."""
    not_judged: tuple[NotJudged, ...] = ()
    """Sorted by path."""
    unrecognized: tuple[tuple[str, str], ...] = ()
    """(path, object) whose pods request a card and have no workload kind, sorted."""

    def worst(self) -> Severity | None:
        return min({f.severity for f in self.findings}, key=lambda s: s.rank, default=None)
