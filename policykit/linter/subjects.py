"""What rules look at beside manifests: texts, shapes, suppressions, and the policy with what it generates."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from policykit.kube.structure import Problem
from policykit.manifests.document import Manifest
from policykit.manifests.node import Span
from policykit.manifests.parser import Parsed
from policykit.manifests.path import Path

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster


class Reading(NamedTuple):
    """One document as it was read, with the text of its whole file."""

    text: str
    parsed: Parsed


class Structure(NamedTuple):
    """An object and the faults of its shape."""

    manifest: Manifest
    problems: tuple[Problem, ...]


class StaleEntry(NamedTuple):
    """An entry of a baseline that accepts more than a run has found."""

    finding: str
    """What it accepts, as people say it."""
    accepted: int
    found: int
    span: Span
    """Its place in the baseline."""


class DeclaredPolicy(NamedTuple):
    """A policy as people wrote it, with what it extends. Paths of violations start at its root."""

    cluster: Cluster
    at: Callable[[Path, bool], tuple[str, Span]]
    """File and place of what it says at a path (of the key, where that is True), or nearest above."""
    own: Callable[[Path], bool] = lambda path: True
    """Whether its own file says what stands at a path, and not one that it extends."""
    base: Callable[[], bool] = lambda: False
    """Whether other policies extend it: what it declares may be theirs to use."""


class GeneratedFile(NamedTuple):
    """A generated file on disk that is not as its policy gives it. Violations are at spans of it."""

    path: str
    """As reported."""
    policy: str
    """The policy's file, as people read it."""
    there: str
    wanted: str | None
    """None: the policy does not give this file."""
