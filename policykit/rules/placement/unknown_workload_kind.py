"""The label policykit.io/workload names a workload kind that the policy does not have.

The name is that of a kind under `workloads` in the policy. Pods that name another have no kind: `patch`
leaves them as they are, and rules about their kind skip them. Only a name that is nearly one of the
policy's is reported, since another cluster of the repository may have other kinds.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.manifests.patch import Patch
from policykit.manifests.path import Path
from policykit.model.severity import Applicability, Severity
from policykit.nearest import nearest
from policykit.placement.recognition import WORKLOAD_KEY
from policykit.placement.review import Review

BAD = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
  labels:
    policykit.io/workload: trainin
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: registry.example/train:1
"""

GOOD = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
  labels:
    policykit.io/workload: nightly-export
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: registry.example/export:1
"""

_LIKENESS = 0.75


def check(review: Review, context: Context) -> Iterator[Violation]:
    kinds = review.cluster.workloads if review.cluster else {}
    found = _stated(review)
    if not found or found[1] in kinds or is_placeholder(found[1]):
        return
    path, name = found
    meant = nearest(name, sorted(kinds), _LIKENESS)
    if meant:
        yield Violation(
            path,
            f"{WORKLOAD_KEY} is {name}, but the policy has no such workload kind: rules about it do not run",
            f"did you mean {meant}?",
            fix=partial(_fix, path, meant),
        )


def _stated(review: Review) -> tuple[Path, str] | None:
    """Where the name is read first, and the name: on the pods, else on their object."""
    pods, own = review.pod_set, review.manifest
    if name := pods.labels.get(WORKLOAD_KEY):
        return pods.place("labels", WORKLOAD_KEY), name
    if name := pods.annotations.get(WORKLOAD_KEY):
        return pods.place("annotations", WORKLOAD_KEY), name
    for field, entries in (("labels", own.labels), ("annotations", own.annotations)):
        if name := entries.get(WORKLOAD_KEY):
            return ("metadata", field, WORKLOAD_KEY), name
    return None


def _fix(path: Path, meant: str) -> Fix:
    return Fix(f"write {meant}", (Patch("replace", path, meant),))


RULE = Rule(
    code="PK142",
    name="unknown-workload-kind",
    severity=Severity.WARNING,
    subject=Review,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=("policykit.io/workload",),
    needs_policy=True,
    fix=Applicability.UNSAFE,
)
