"""An object has a placement field that its kind does not accept.

Knative refuses placement fields unless an administrator has enabled their feature flags, and Grove
always refuses two of them. The object is rejected, or its controller creates no pods. A ModelServing of
kthena has them in the templates of its roles only: elsewhere the API server drops them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping
from policykit.model.severity import Severity
from policykit.placement.owner import owner
from policykit.placement.review import Review

BAD = """\
apiVersion: serving.knative.dev/v1
kind: Service
metadata:
  name: serve
spec:
  template:
    spec:
      nodeSelector:
        nvidia.com/gpu.product: NVIDIA-H20
      containers:
      - name: main
        image: registry.example/serve:1
"""

GOOD = """\
apiVersion: serving.knative.dev/v1
kind: Service
metadata:
  name: serve
spec:
  template:
    spec:
      containers:
      - name: main
        image: registry.example/serve:1
"""

_FLAGS: Mapping[str, str] = {
    "affinity": "kubernetes.podspec-affinity",
    "nodeSelector": "kubernetes.podspec-nodeselector",
    "priorityClassName": "kubernetes.podspec-priorityclassname",
    "runtimeClassName": "kubernetes.podspec-runtimeclassname",
    "schedulerName": "kubernetes.podspec-schedulername",
    "tolerations": "kubernetes.podspec-tolerations",
    "topologySpreadConstraints": "kubernetes.podspec-topologyspreadconstraints",
}
"""Off by default. Source: knative/serving pkg/apis/serving/fieldmask.go."""
_NEVER: Mapping[str, tuple[str, ...]] = {"PodCliqueSet": ("nodeName", "topologySpreadConstraints")}
"""Fields that no setting allows."""
_KTHENA = "workload.serving.volcano.sh"
_DROPPED = frozenset({"affinity", "nodeSelector", "tolerations", "topologySpreadConstraints"})
_MODE = "serving.kserve.io/deploymentMode"
_ON_KNATIVE = ("Knative", "Serverless")


def check(review: Review, context: Context) -> Iterator[Violation]:
    """An error if no setting allows the field; a warning if a Knative flag may allow it."""
    made_by = owner(review.manifest, review.pod_set)
    spec = review.pod_set.spec
    if made_by.group == "grove.io":
        for field in _NEVER.get(made_by.kind, ()):
            if spec.get(field):
                yield Violation(
                    review.pod_set.place(field),
                    f"{made_by.kind} refuses {field}",
                    f"delete {field}: Grove controls the placement of a clique's pods",
                    key=True,
                )
    elif made_by.group == _KTHENA and made_by.kind == "ModelServing":
        yield from _at_another_level(review)
    elif _knative(review.manifest):
        for field, flag in _FLAGS.items():
            if spec.get(field):
                yield Violation(
                    review.pod_set.place(field),
                    f"Knative refuses {field} unless its flag {flag} is enabled",
                    _advice(made_by.kind, flag),
                    Severity.WARNING,
                    key=True,
                )


def _at_another_level(review: Review) -> Iterator[Violation]:
    """The API server drops fields that kthena's CRD does not have there (1.0)."""
    template = review.pod_set.path
    role = template[:-1]
    levels: list[Path] = [role] if template[-1] == "entryTemplate" else []
    if levels and role[-1] == 0:
        levels = [("spec",), ("spec", "template"), *levels]
    for level in levels:
        written = mapping(lookup(review.manifest.data, level))
        for field in sorted(_DROPPED & written.keys()):
            yield Violation(
                (*level, field),
                f"{field} is not a field here and is dropped: ModelServing has it in the templates of a role",
                f"move {field} to the spec of entryTemplate, and of workerTemplate",
                Severity.WARNING,
                key=True,
            )


def _knative(manifest: Manifest) -> bool:
    """By kind, or by annotation of a KServe service; its default mode is not in the manifest."""
    if manifest.kind == "InferenceService":
        return manifest.annotations.get(_MODE) in _ON_KNATIVE
    return manifest.group == "serving.knative.dev"


def _advice(kind: str, flag: str) -> str:
    enable = f"set {flag}: enabled in ConfigMap config-features of namespace knative-serving"
    return f"{enable}, or annotate {_MODE}: Standard" if kind == "InferenceService" else enable


RULE = Rule(
    code="PK128",
    name="placement-field-refused",
    severity=Severity.ERROR,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=("grove", "knative", "InferenceService", "workload.serving"),
)
