"""A value of the wrong type, outside what is allowed, or missing.

The API server refuses the object: text where a number belongs, a word no enum has, a
container without an image, two containers of one name, a selector that its own pods do not
meet. null is as good as absent; a placeholder that another tool
fills in is never accused, and nothing is missing from a partial document. A controller
without selector and labels is a patch, or a base that a kustomization labels; with labels
alone the missing selector is a warning, since a kustomization may add that too. Spark
completes a pod template of its own. An excerpt with `...` in it, and a file that is called a
patch or a pod template, may lack anything too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from policykit.kube.structure.problem import (
    BAD_VALUE,
    CONFLICTING,
    INCONSISTENT,
    MISSING_FIELD,
    MISSING_REFERENCE,
    WRONG_TYPE,
    Problem,
)
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.subjects import Structure
from policykit.manifests.document import Manifest
from policykit.manifests.path import lookup
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

_NAMED_AS_PART = re.compile(r"(?:\A|[/._-])(?:patch(?:es)?|pod[-_]?template)(?:[._-][^/]*)?\Z")
"""A file whose name says that no whole object is to be expected."""
_OF_SPARK = ("spark-kubernetes-driver", "spark-kubernetes-executor")
_KINDS = frozenset({BAD_VALUE, CONFLICTING, INCONSISTENT, MISSING_FIELD, MISSING_REFERENCE, WRONG_TYPE})
_OF_WHOLE_OBJECTS = frozenset({INCONSISTENT, MISSING_FIELD, MISSING_REFERENCE})


def check(structure: Structure, context: Context) -> Iterator[Violation]:
    manifest = structure.manifest
    incomplete = (
        manifest.partial
        or _labelled_elsewhere(manifest)
        or _completed_by_spark(manifest)
        or _NAMED_AS_PART.search(context.path) is not None
    )
    fragment = "metadata" not in manifest.data and any(map(_is_name, structure.problems))
    for problem in structure.problems:
        if _of_a_gang(problem):
            continue  # invalid-gang-metadata says it, and mends it
        if manifest.partial and problem.path[:1] == ("metadata",) and problem.kind == BAD_VALUE:
            continue  # a patch may say by itself which object it is for, whatever its own name
        if problem.kind in _KINDS and not (incomplete and problem.kind in _OF_WHOLE_OBJECTS):
            severity = (
                Severity.WARNING if _is_selector(problem) or problem.kind == MISSING_REFERENCE else None
            )
            advice = problem.help
            if fragment and problem.kind == MISSING_FIELD:
                if not _is_name(problem):
                    continue  # one cause: this is the middle of an object
                advice += ", or say `# policykit: partial` where it is a part of an object"
            yield Violation(problem.path, problem.message, advice, severity, problem.key)


def _of_a_gang(problem: Problem) -> bool:
    path = problem.path
    return len(path) > 1 and path[-2] == "annotations" and path[-1] in GANG_ANNOTATIONS


def _is_name(problem: Problem) -> bool:
    return problem.field == "name" and problem.path == ("metadata",)


def _is_selector(problem: Problem) -> bool:
    return problem.field == "selector" and problem.path == ("spec",)


def _labelled_elsewhere(manifest: Manifest) -> bool:
    """A Deployment or the like with neither a selector nor labels on its pods."""
    if manifest.group != "apps" or lookup(manifest.data, ("spec", "selector")) is not None:
        return False
    return not lookup(manifest.data, ("spec", "template", "metadata", "labels"))


def _completed_by_spark(manifest: Manifest) -> bool:
    """A Pod with neither name nor containers, or with the containers that Spark gives the image."""
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
