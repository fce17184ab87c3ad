"""A value has the wrong type, is not allowed, or is missing.

The API server refuses the object: a string instead of a number, a value outside an enum, a container
without an image, two containers with the same name, a selector that does not match the object's own
pods, a label both in matchLabelKeys and in the labelSelector beside it. Operators and their webhooks
refuse more: a worker group whose minimum is above its maximum, a JobSet that waits for a job it does
not have, fields that exclude each other, a name too long for the Services and pods made from it. What
only later releases of an operator refuse is a warning. null counts as absent, and placeholders of other
tools are never reported. Partial documents may omit any field: excerpts with `...`, files named as a
patch or a pod template, and Spark's pod templates. A controller without selector and labels is a patch,
or a base that a kustomization labels; if only the selector is missing, it is a warning, since a
kustomization may add it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from policykit.kube.placeholders import is_capitals, stands_for_field
from policykit.kube.structure.problem import (
    BAD_VALUE,
    CONFLICTING,
    INCONSISTENT,
    MISSING_FIELD,
    MISSING_REFERENCE,
    WRONG_TYPE,
)
from policykit.linter.rule import Context, Rule, Structure, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping
from policykit.model.severity import Severity
from policykit.targets import GANG_ANNOTATIONS

BAD = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: infer
spec:
  replicas: "2"
  selector:
    matchLabels: {app: infer}
  template:
    metadata:
      labels: {app: infer}
    spec:
      containers:
      - name: main
        image: registry.example.com/infer:1.0
"""
GOOD = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: infer
spec:
  replicas: 2
  selector:
    matchLabels: {app: infer}
  template:
    metadata:
      labels: {app: infer}
    spec:
      containers:
      - name: main
        image: registry.example.com/infer:1.0
"""

_PIPELINES = "pipelinesascode.tekton.dev/"
_INLINED = r"(?:\A|/)\.tekton/"
_NAMED_AS_PART = r"(?:\A|[/._-])(?:patch(?:es)?|(?:pod[-_]?)?template)(?:[._-][^/]*)?\Z"
_OF_SPARK = ("spark-kubernetes-driver", "spark-kubernetes-executor")
_KINDS = frozenset({BAD_VALUE, CONFLICTING, INCONSISTENT, MISSING_FIELD, MISSING_REFERENCE, WRONG_TYPE})
_EMPTY: tuple[object, ...] = ("", [], {})
_OF_WHOLE_OBJECTS = frozenset({INCONSISTENT, MISSING_FIELD, MISSING_REFERENCE})


def check(structure: Structure, context: Context) -> Iterator[Violation]:
    manifest = structure.manifest
    is_part = _is_named_as_part(context.path)
    incomplete = manifest.partial or _labelled_elsewhere(manifest) or _completed_by_spark(manifest) or is_part
    fragment = "metadata" not in manifest.data and any(map(_is_name, structure.problems))
    for problem in structure.problems:
        if _of_a_gang(problem):
            continue  # invalid-gang-metadata reports and fixes it
        if manifest.partial and problem.path[:1] == ("metadata",) and problem.kind in (BAD_VALUE, WRONG_TYPE):
            continue  # a patch may identify its object by other means than its name
        if manifest.partial and problem.kind == BAD_VALUE and lookup(manifest.data, problem.path) in _EMPTY:
            continue  # as good as left out
        if problem.path[-1:] == ("nodeName",) and is_capitals(lookup(manifest.data, problem.path)):
            continue  # HOSTNAME, which a script replaces
        if is_part and problem.kind == BAD_VALUE and _stands_for_field(manifest, problem.path):
            continue  # service_name, which a script replaces
        if problem.kind == CONFLICTING and _is_inlined(manifest, context):
            continue  # its run may declare the parameters and workspaces that it uses
        if problem.kind in _KINDS and not (incomplete and problem.kind in _OF_WHOLE_OBJECTS):
            severity = (
                Severity.WARNING
                if _is_selector(problem) or problem.kind == MISSING_REFERENCE
                else problem.severity
            )
            advice = problem.help
            if fragment and problem.kind == MISSING_FIELD:
                if not _is_name(problem) or manifest.encrypted:
                    continue  # one cause: this is an excerpt of an object
                advice += ", or add `# policykit: partial` if it is only part of an object"
            yield Violation(problem.path, problem.message, advice, severity, problem.key)


def _is_named_as_part(path: str) -> bool:
    """Whether a file has patches or templates by its name, which need not be complete objects."""
    return ("patch" in path or "template" in path) and re.search(_NAMED_AS_PART, path) is not None


def _stands_for_field(manifest: Manifest, path: Path) -> bool:
    return bool(path) and stands_for_field(lookup(manifest.data, path), path[-1])


def _is_inlined(manifest: Manifest, context: Context) -> bool:
    """Whether Pipelines-as-Code puts a task or pipeline into its run, which no webhook sees alone.

    Source: `Pipeline.Validate` of Tekton (v1.15): what is inline may use what its run propagates.
    """
    if manifest.group != "tekton.dev":
        return False
    if context.inlined or re.search(_INLINED, context.path):
        return True
    return any(str(key).startswith(_PIPELINES) for key in mapping(manifest.metadata.get("annotations")))


def _of_a_gang(problem: Problem) -> bool:
    path = problem.path
    return len(path) > 1 and path[-2] == "annotations" and path[-1] in GANG_ANNOTATIONS


def _is_name(problem: Problem) -> bool:
    return problem.intended == ("metadata", "name")


def _is_selector(problem: Problem) -> bool:
    return problem.intended == ("spec", "selector")


def _labelled_elsewhere(manifest: Manifest) -> bool:
    """Whether it is a controller such as a Deployment without selector and pod labels."""
    if manifest.group != "apps" or lookup(manifest.data, ("spec", "selector")) is not None:
        return False
    return not lookup(manifest.data, ("spec", "template", "metadata", "labels"))


def _completed_by_spark(manifest: Manifest) -> bool:
    """Whether it is a Pod without name and containers, or with containers whose image Spark sets."""
    if manifest.kind != "Pod" or manifest.group:
        return False
    containers = lookup(manifest.data, ("spec", "containers"))
    if not containers:
        metadata = manifest.data.get("metadata")
        return isinstance(metadata, dict) and not (metadata.get("name") or metadata.get("generateName"))
    return isinstance(containers, list) and any(
        isinstance(c, dict) and c.get("name") in _OF_SPARK and not c.get("image") for c in containers
    )


RULE = Rule(
    code="PK004",
    name="invalid-field",
    severity=Severity.ERROR,
    subject=Structure,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
