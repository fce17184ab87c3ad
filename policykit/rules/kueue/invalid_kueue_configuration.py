"""Kueue's manager does not start with its configuration.

It refuses an integration that it does not have, each of which is named by API group and kind in lower case,
and the integration of plain pods in kube-system. Until it starts nothing is admitted, and its webhooks refuse
new jobs.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube import selectors
from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, pairs
from policykit.model.severity import Severity
from policykit.nearest import nearest
from policykit.targets.kueue.names import CONFIGURATION, CONFIGURATION_GROUP, FRAMEWORKS, NAMESPACE_NAME

BAD = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: kueue-manager-config
  namespace: kueue-system
data:
  controller_manager_config.yaml: |
    apiVersion: config.kueue.x-k8s.io/v1beta1
    kind: Configuration
    integrations:
      frameworks:
      - batch/job
      - kubeflow.org/PyTorchJob
"""

GOOD = BAD.replace("PyTorchJob", "pytorchjob")

_FRAMEWORKS: Path = ("integrations", "frameworks")
_SELECTOR: Path = ("managedJobsNamespaceSelector",)
_POD = "pod"
_SYSTEM = "kube-system"


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Source: `validateIntegrations` and `validatePodIntegrationOptions` in `pkg/config` (0.9 to 0.19)."""
    if manifest.group != CONFIGURATION_GROUP:
        return
    listed = lookup(manifest.data, _FRAMEWORKS)
    for position, name in enumerate(listed if isinstance(listed, list) else ()):
        if not isinstance(name, str) or name in FRAMEWORKS or is_placeholder(name):
            continue
        near = nearest(name.lower(), FRAMEWORKS)
        yield Violation(
            (*_FRAMEWORKS, position),
            f"Kueue has no integration {name}: it does not start",
            f"did you mean {near}?" if near else "list other kinds under externalFrameworks",
        )
    stated = lookup(manifest.data, _SELECTOR)
    if isinstance(listed, list) and _POD in listed and isinstance(stated, dict) and _selects(stated):
        yield Violation(
            _SELECTOR,
            f"selects {_SYSTEM}, where Kueue may not manage pods: it does not start",
            f"add {{key: {NAMESPACE_NAME}, operator: NotIn, values: [{_SYSTEM}, kueue-system]}}",
        )


def _selects(selector: dict[str, object]) -> bool:
    """Whether it selects the namespace kube-system by the label that every namespace has."""
    labels = {NAMESPACE_NAME: _SYSTEM}
    wanted = pairs(mapping(selector).get("matchLabels"))
    return wanted.items() <= labels.items() and all(
        not selectors.problem(each) and selectors.matches(each, labels)
        for each in selectors.read_all(selector.get("matchExpressions"))
    )


RULE = Rule(
    code="PK933",
    name="invalid-kueue-configuration",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({CONFIGURATION}),
    substrings=(CONFIGURATION_GROUP,),
)
