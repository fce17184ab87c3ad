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
from policykit.manifests.path import Path, lookup
from policykit.model.severity import Applicability, Severity
from policykit.nearest import nearest
from policykit.placement.owner import owner
from policykit.placement.recognition import WORKLOAD_KEY, StatedKind, stated_kind
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
    stated = stated_kind(owner(review.manifest, review.pod_set), review.pod_set)
    if stated is None or stated.name in kinds or is_placeholder(stated.name):
        return
    if meant := nearest(stated.name, sorted(kinds), _LIKENESS):
        path = _place(review, stated)
        yield Violation(
            path,
            f"{WORKLOAD_KEY} is {stated.name}, but the policy has no such workload kind: "
            "rules about it do not run",
            f"did you mean {meant}?",
            fix=partial(_fix, path, meant),
        )


def _place(review: Review, stated: StatedKind) -> Path:
    if stated.on_pods:
        return review.pod_set.place(stated.field, WORKLOAD_KEY)
    own: Path = ("metadata", stated.field, WORKLOAD_KEY)
    inner = (*review.pod_set.owner, *own)
    return own if lookup(review.manifest.data, inner) is None else inner


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
