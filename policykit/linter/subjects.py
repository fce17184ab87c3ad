"""Subjects of rules besides manifests: texts, structures, baselines, policies and generated files."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from policykit.kube.structure import Problem
from policykit.manifests.document import Manifest
from policykit.manifests.node import Span
from policykit.manifests.parser import ParsedDocument
from policykit.manifests.path import Path
from policykit.namedtuple import NamedTuple

if TYPE_CHECKING:
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
