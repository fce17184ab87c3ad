"""The RuntimeClass that pods name contradicts them, or does not exist.

A RuntimeClass adds a node selector, tolerations and an overhead to the pods that name it. The API server
refuses a pod that selects another value of the same label, that states another overhead, or that names a
RuntimeClass that does not exist. Pods name the object and not its handler.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.placeholders import is_placeholder
from policykit.kube.runtime_classes import PLAIN, by_name, conflicts
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import Scope
from policykit.model.pod_admission import RuntimeClass, RuntimeClassUse
from policykit.model.severity import Severity
from policykit.nearest import Names

BAD = """\
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata:
  name: kata
handler: kata
scheduling:
  nodeSelector: {runtime: kata}
---
apiVersion: v1
kind: Pod
metadata:
  name: serve
spec:
  runtimeClassName: kata
  nodeSelector: {runtime: runc}
  containers:
  - name: main
    image: registry.example/serve:1
"""

GOOD = BAD.replace("nodeSelector: {runtime: runc}", "nodeSelector: {disk: ssd}")


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """A class that no file defines is reported only where its name is nearly that of another, or a handler.

    Source: the admission plugin RuntimeClass (Kubernetes v1.36).
    """
    classes = by_name(each.value for each in scope.of(RuntimeClass))
    names = Names({*classes, *PLAIN})
    handled = {each.handler: each.name for each in classes.values() if each and each.handler}
    for use in scope.of(RuntimeClassUse):
        name, selector, overhead = use.value
        known = classes.get(name)
        if known is not None:
            for conflict in conflicts({"nodeSelector": selector, "overhead": overhead}, known):
                advice = "delete it from the pod, or name another RuntimeClass"
                yield Violation(use.at(".".join(map(str, conflict.field))), conflict.message, advice)
        elif not (name in classes or name in PLAIN or is_placeholder(name) or scope.may_hold(name)):
            near = handled.get(name, "") or (names.nearest(name, 0.75) if scope.complete else "")
            if near:
                message = (
                    f"no file here defines RuntimeClass {name}: without it the API server refuses the pods"
                )
                advice = f"did you mean {near}?"
                if name in handled:
                    advice = f"name the RuntimeClass, {near}: {name} is its handler"
                yield Violation(use.at("name"), message, advice, Severity.WARNING)


RULE = Rule(
    code="PK813",
    name="refused-runtime-class",
    severity=Severity.ERROR,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(RuntimeClassUse,),
)
