"""A kustomize component of a workload kind leaves an object of that kind alone.

Generated components patch the objects that have the label policykit.io/workload, since a
kustomization may include log agents and web applications too. The label must be on the object
itself: kustomize selects by that, not by the labels of its pods. Without it the pods get neither
affinity nor tolerations.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from policykit.linter.rule import ComponentObject, Context, Fix, Rule, Violation
from policykit.manifests.patch import Patch
from policykit.manifests.path import Path
from policykit.model.severity import Applicability, Severity
from policykit.placement.recognition import WORKLOAD_KEY
from policykit.targets.workloads.components import has_component

BAD = """\
# In the resources of a kustomization with components: [../generated/workloads/training-h20]
apiVersion: batch/v1
kind: Job
metadata:
  name: train
spec:
  template:
    metadata:
      labels:
        policykit.io/workload: training
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
    policykit.io/workload: training
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: registry.example/train:1
"""

_LABEL: Path = ("metadata", "labels", WORKLOAD_KEY)


def check(of: ComponentObject, context: Context) -> Iterator[Violation]:
    manifest, kind = of.manifest, of.workload
    stated = manifest.labels.get(WORKLOAD_KEY)
    if stated == kind or not has_component(manifest.data):
        return
    has = f"has the label {WORKLOAD_KEY}: {stated}" if stated else f"lacks the label {WORKLOAD_KEY}"
    yield Violation(
        _LABEL if stated else ("metadata",),
        f"the component of workload kind {kind} does not patch this {manifest.kind}, which {has}",
        f"add {WORKLOAD_KEY}: {kind} to metadata.labels",
        key=not stated,
        fix=partial(_fix, kind),
    )


def _fix(kind: str) -> Fix:
    return Fix(f"label it {WORKLOAD_KEY}: {kind}", (Patch("add", _LABEL, kind),))


RULE = Rule(
    code="PK140",
    name="component-label-missing",
    severity=Severity.WARNING,
    subject=ComponentObject,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    needs_policy=True,
    fix=Applicability.UNSAFE,
)
