"""The reasons why something is not judged, by the names that users write, and those of a document."""

from __future__ import annotations

from policykit.manifests.document import words_of
from policykit.manifests.node import Node

NO_PROGRAM = "no-program"
REMOTE = "remote"
CHART = "chart"
PROGRAM = "program"
OUTSIDE = "outside"
GENERATED = "generated"
ENCRYPTED = "encrypted"
UNKNOWN_VARIABLE = "unknown-variable"
OVER_LIMITS = "over-limits"
BUILD_FAILED = "build-failed"
NO_POLICY = "no-policy"
EMPTY_INPUT = "empty-input"
NOT_YAML = "not-yaml"
SOURCE = "source"

REASONS = {
    NO_PROGRAM: "neither kustomize nor kubectl is on PATH, or it cannot be run",
    REMOTE: "it uses something that is not on this machine, and nothing is downloaded",
    CHART: "it renders a Helm chart",
    PROGRAM: "it runs a program",
    OUTSIDE: "it uses a path that policykit does not read: outside of the repository, or in .git",
    GENERATED: "it uses a file that is not in the repository until something generates or fetches it",
    ENCRYPTED: "its values are encrypted",
    UNKNOWN_VARIABLE: "it depends on a variable without a known value",
    OVER_LIMITS: "it takes too long, is too large or too deep",
    BUILD_FAILED: "kustomize fails for a reason that may lie in its version",
    NO_POLICY: "no policy applies to the file, while other files have one",
    EMPTY_INPUT: "standard input has no objects",
    NOT_YAML: "the text is YAML only once it is rendered, or not at all",
    SOURCE: "it is applied from another repository, or in a way that is not known here",
}
"""Name of each reason, and what it means."""


def obstacle(root: Node) -> str:
    """Why a valid document cannot be judged: a sentence, or encrypted; empty: it can be."""
    data = root.data
    if isinstance(data, str) and data:
        return NOT_YAML
    # The values of a Secret do not matter.
    if isinstance(data, dict) and "sops" in data and data.get("kind") != "Secret":
        values = words_of({key: value for key, value in data.items() if key != "sops"}).texts
        return ENCRYPTED if any(value.startswith("ENC[") for value in values) else ""
    return ""
