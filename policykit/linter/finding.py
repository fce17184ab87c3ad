"""What a run reports: findings with their places and fixes, failures, and files that were not judged."""

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
    """As written; None where the object states none."""
    name: str

    def __str__(self) -> str:
        name = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind} {name}".strip()


class TextFix(NamedTuple):
    """A fix as changes to the text of its file."""

    applicability: Applicability
    description: str
    edits: tuple[Edit, ...]
    """Sorted, apart from each other; offsets in bytes of the file as it was read."""
    patches: tuple[Patch, ...] = ()
    """What the edits say as data, from the document's root; nothing: only comments change."""


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
    """Computed only where somebody wants it."""
    field: str = ""
    """The place in its object, items of lists by their names: see `policykit.linter.location`."""
    source: str = ""
    """The template that its document was rendered from, as the document says; empty: it says none."""
    clusters: tuple[str, ...] = ()
    """Names of the policies that say so, sorted; empty: no policy does."""

    def sort_key(self) -> tuple[str, Span, str, str, str]:
        return (self.path, self.span, self.code, self.message, self.pointer)


def listed(names: Sequence[str]) -> str:
    """Up to three names as people list them, else the first and how many more."""
    if len(names) > 3:
        return f"{names[0]} and {len(names) - 1} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


class NotJudged(NamedTuple):
    """A file or kustomization that could not be judged: no pass, but no finding either."""

    path: str
    """As reported."""
    reason: str
    """Why, as one of `policykit.linter.not_judged.REASONS`."""
    detail: str
    """Why, in a few words."""
    setting: int = 0
    """Index into the run's settings: the policy that judges the rest of it."""


class Report(NamedTuple):
    """A whole run."""

    findings: tuple[Finding, ...]
    """Sorted by path, line, column, code."""
    files: int
    """Files read."""
    documents: int
    """Kubernetes objects looked at."""
    skipped: tuple[tuple[str, str], ...] = ()
    """(path, why) of what was passed over: templates, fragments, foreign documents."""
    failures: tuple[str, ...] = ()
    """Files that could not be read: the run failed, everything else is still reported."""
    suppressed: int = 0
    silent_rules: int = 0
    """Rules that need a policy and had none."""
    dropped: tuple[str, ...] = ()
    """Fixes left out because the text would not say what was intended, each with its place."""
    baselined: int = 0
    """Findings left out because a baseline accepts them."""
    unchanged: int = 0
    """Findings left out because an earlier revision had them."""
    times: tuple[tuple[str, float], ...] = ()
    """Code of each rule and the seconds it took in all processes, where they were measured."""
    refused: frozenset[Applicability] = frozenset()
    """How safe the fixes are that were left out because another policy applies to their file."""
    not_judged: tuple[NotJudged, ...] = ()
    """Sorted by path."""
    unrecognized: tuple[tuple[str, str], ...] = ()
    """(path, object) whose pods request a card and have no workload kind, sorted."""

    def worst(self) -> Severity | None:
        return min((f.severity for f in self.findings), key=lambda s: s.rank, default=None)
