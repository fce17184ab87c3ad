"""The key or value of a label or taint, or the key of an annotation, is invalid.

Values are strings of at most 63 characters. YAML reads an unquoted true, yes or 5 as a boolean or a
number, and the API server refuses the whole object. A key of an annotation has the form of a label key.

The API server accepts any text as a value in a preferred term of node affinity, but kube-scheduler cannot
read such a term: it places the pod nowhere as soon as it has to choose between two nodes. Volcano's
scheduler crashes if such a pod requests nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from policykit.kube.names import label_value_problem
from policykit.kube.structure.problem import INVALID_LABEL
from policykit.linter.rule import Context, Fix, Rule, Structure, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.patch import Patch
from policykit.manifests.path import Path, lookup
from policykit.model.severity import Applicability, Severity

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: infer
spec:
  nodeSelector:
    nvidia.com/gpu.present: true
  containers:
  - name: main
    image: registry.example.com/infer:1.0
"""
GOOD = """\
apiVersion: v1
kind: Pod
metadata:
  name: infer
spec:
  nodeSelector:
    nvidia.com/gpu.present: "true"
  containers:
  - name: main
    image: registry.example.com/infer:1.0
"""


_STORED = "kops.k8s.io"
"""Objects that kops keeps in its own store, where a label may be longer, such as the name of a cluster."""


def check(structure: Structure, context: Context) -> Iterator[Violation]:
    if structure.manifest.group == _STORED:
        return
    for problem in structure.problems:
        if problem.kind == INVALID_LABEL:
            quotable = not problem.key and not isinstance(lookup(structure.manifest.data, problem.path), str)
            fix = partial(_fix, structure.manifest, problem.path) if quotable else None
            yield Violation(problem.path, problem.message, problem.help, key=problem.key, fix=fix)


def _fix(manifest: Manifest, path: Path) -> Fix | None:
    """Quotes the original text: 1.10 becomes "1.10", yes becomes "yes"."""
    written = manifest.written(path)
    if not written or label_value_problem(written):
        return None
    return Fix("put the value in quotes", (Patch("replace", path, written),), Applicability.SAFE)


RULE = Rule(
    code="PK006",
    name="invalid-label",
    severity=Severity.ERROR,
    subject=Structure,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    fix=Applicability.SAFE,
)
