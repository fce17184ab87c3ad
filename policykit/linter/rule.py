"""Rules and their subjects: what a rule checks, in which context, and what violations it reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from policykit.kube.structure.schema import NOTHING, ServedApis
from policykit.manifests.document import Manifest
from policykit.manifests.extents import Edit
from policykit.manifests.node import Span
from policykit.manifests.parser import ParsedDocument
from policykit.manifests.patch import Patch
from policykit.manifests.path import Path
from policykit.manifests.problem import Problem
from policykit.model.severity import Applicability, Severity
from policykit.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policykit.linter.scope import FactField
    from policykit.model.cluster import Cluster


class SourceDocument(NamedTuple):
    """A parsed document, with the text of its whole file."""

    text: str
    parsed: ParsedDocument


class Structure(NamedTuple):
    """An object and its schema problems."""

    manifest: Manifest
    problems: tuple[Problem, ...]


class StaleEntry(NamedTuple):
    """A baseline entry that accepts more findings than a run has."""

    finding: str
    """Description of the accepted findings."""
    accepted: int
    found: int
    span: Span
    """Its location in the baseline."""


class DeclaredPolicy(NamedTuple):
    """A policy as written, with the policies it extends. Paths of violations start at its root."""

    cluster: Cluster
    at: Callable[[Path, bool], tuple[str, Span]]
    """File and span of a path (of its key if True), or of the nearest parent."""
    own: Callable[[Path], bool] = lambda path: True
    """Whether a path is set in its own file, not in a policy that it extends."""
    base: Callable[[], bool] = lambda: False
    """Whether other policies extend it and may use its declarations."""


class ComponentObject(NamedTuple):
    """An object in a kustomization that includes a generated component of its workload kind."""

    manifest: Manifest
    workload: str
    """The workload kind it was recognized as, else the only one of the components."""


class FailedBuild(NamedTuple):
    """A mistake in a kustomization: wherever it is built, the build fails."""

    path: str
    """The kustomization, as reported."""
    span: Span
    message: str
    help: str = ""


class GeneratedFile(NamedTuple):
    """A generated file, on disk or applied to a cluster, that differs from what its policy generates.
    Violations are at spans of it."""

    path: str
    """As reported."""
    policy: str
    """The policy's file, as shown to the user."""
    there: str
    wanted: str | None
    """None: the policy does not generate this file."""
    live: bool = False
    """It is an object of a cluster, with what the policy states of it; `there` is empty if it is missing."""


S = TypeVar("S")


class Fix(NamedTuple):
    """Changes that fix a violation: made together, or not at all."""

    description: str
    """What it does, in the imperative: `quote the value`."""
    patches: tuple[Patch, ...] = ()
    """Relative to the subject's manifest, applied in order."""
    applicability: Applicability = Applicability.UNSAFE
    """As declared by the rule. A safe fix of a pod set becomes unsafe if placement cannot prove it."""
    edits: tuple[Edit, ...] = ()
    """Changes outside the data, such as comments, in code points of the whole file."""


MakeFix = Callable[[], Fix | None]
"""Called only if fixes are wanted; returns None if there is no correct fix."""


class Violation(NamedTuple):
    """What every rule yields: where its subject is wrong, and how. The engine adds the rest."""

    at: Path | Span | FactField
    """A path in the subject's manifest (one that does not exist points at its nearest parent), a span of
    the file for subjects that are text, or a field of a fact for rules about a scope."""
    message: str
    """What is wrong, with the two values that disagree."""
    help: str = ""
    """What to do, one line or a few."""
    severity: Severity | None = None
    """None: the severity of the rule."""
    key: bool = False
    """Point at the key at a path instead of its value."""
    fix: MakeFix | None = None
    inside: Path | None = None
    """Path in the JSON or YAML text that the string at `at` holds; () is its root."""
    part: tuple[int, int] | None = None
    """Start and end of some characters of the string at `at`, counted from 0."""
    follows: frozenset[str] = frozenset()
    """Codes of rules that cover this: not reported if the same pod set has a finding of one of them."""

    @property
    def path(self) -> Path:
        """The path of the violation. Raises TypeError if its location is not a path."""
        if isinstance(self.at, Span) or not isinstance(self.at, tuple):
            raise TypeError(f"the location of the violation {self.message!r} is not a path")
        return self.at


def violation_of(problem: Problem, base: Path = (), fix: Applicability | None = None) -> Violation:
    """The violation for a validator's problem; `base`: path of that part; `fix`: applicability of its
    repair."""
    repair = problem.below(base).repair if fix else None
    make = partial(Fix, repair.description, repair.patches, fix) if repair and fix else None
    path = (*base, *problem.path)
    return Violation(path, problem.message, problem.help, problem.severity, problem.key, make)


class Context(NamedTuple):
    """What a rule knows besides its subject."""

    cluster: Cluster | None = None
    """The compiled policy; None: there is none. Rules with `needs_policy` never get None."""
    path: str = ""
    """The file, as reported."""
    namespace: str = "default"
    """Namespace of objects that do not set one."""
    served: ServedApis = NOTHING
    """What the API server serves, as far as it is configured."""
    plugins: tuple[str, ...] = ()
    """Names of out-of-tree scheduler plugins, from the settings."""
    literal: bool = False
    """Whether nothing replaces `${NAME}` in the file before it is applied."""
    patch: bool = False
    """Whether every document of the file is a part of an object that is elsewhere."""
    inlined: bool = False
    """Whether Pipelines-as-Code reads the file, which puts tasks and pipelines into runs."""


class Rule(NamedTuple, Generic[S]):
    """A rule of the catalogue.

    `subject` is the type that `check` takes: SourceDocument, Manifest, Structure, Review, Scope,
    SuppressionUse, StaleEntry, DeclaredPolicy, ComponentObject, FailedBuild or GeneratedFile. The engine
    calls `check` once per subject and turns violations into findings.
    """

    code: str
    name: str
    severity: Severity
    subject: type[S]
    doc: str
    """The module's docstring: first line what the manifest has, then why it hurts."""
    bad: str
    """A complete, minimal manifest that has it."""
    good: str
    """The same manifest without the problem."""
    check: Callable[[S, Context], Iterable[Violation]]
    kinds: frozenset[str] = frozenset()
    """API kinds (`Job`) or names of configurations (`queues.yaml`) that it checks; empty: all."""
    substrings: tuple[str, ...] = ()
    """A file whose text contains none of these has no finding of it; empty: any file may. They lack a first
    letter that may be upper or lower case: `odeSelector` is in `nodeSelector` and `NodeSelector`."""
    needs_policy: bool = False
    reports_at: tuple[type, ...] = ()
    """Types of the facts that a rule about a scope reports at: where the judged files state none of them, it
    has no finding."""
    fix: Applicability | None = None
    """The least safe applicability of its fixes; None: it has no fix."""
    silences: frozenset[str] = frozenset()
    """Codes that follow from this rule: not reported for a pod set that has a finding of it."""
    silences_as_error: frozenset[str] = frozenset()
    """Further codes silenced where the violation is an error."""
    changed_at_admission: bool = False
    """What it misses may be added to pods at admission: no error where something in the cluster does that."""
    only_alone: bool = False
    """Reported only for pod sets without another error of its family."""
    since: str = "0.1"
    preview: bool = False
    on_request: bool = False
    """Off except in preset strict, unless its code or name is selected."""
    options: tuple[str, ...] = ()
    """Its own options in a policy, besides those of every rule."""

    @property
    def family(self) -> str:
        """`PK1` of PK101."""
        return self.code[:3]


AnyRule = Rule[Any]
