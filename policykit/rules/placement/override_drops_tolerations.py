"""A list of tolerations replaces an inherited list and drops some of its entries.

Lists of tolerations are never merged: the list of a service, a job, a workflow template or a role
patch replaces the list of its runtime, workflow or role. The pods then lack the inherited
tolerations of the card pools. A patch of a policy of Kyverno replaces the list of each pod likewise, with
the tolerations that each pod is given by default; `+(tolerations)` adds a list only where there is none.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.placeholders import is_placeholder
from policykit.kube.tolerations import covers, to_dict
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import Scope
from policykit.manifests.writer import scalar
from policykit.model.list_overrides import TolerationOverride, TolerationTemplate
from policykit.model.pool import Toleration
from policykit.model.severity import Severity

BAD = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata:
  name: train
spec:
  entrypoint: train
  tolerations:
  - {key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}
  templates:
  - name: train
    tolerations:
    - {key: spot, operator: Exists, effect: NoSchedule}
    container:
      image: registry.example/train:1
"""

GOOD = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata:
  name: train
spec:
  entrypoint: train
  tolerations:
  - {key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}
  templates:
  - name: train
    tolerations:
    - {key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}
    - {key: spot, operator: Exists, effect: NoSchedule}
    container:
      image: registry.example/train:1
"""


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Tolerations inherited from another object are known only if the scope contains that object."""
    templates = {
        (t.value.kind, t.value.namespace, t.value.name, t.value.part): t.value.tolerations
        for t in scope.of(TolerationTemplate)
    }
    for located in scope.of(TolerationOverride):
        value = located.value
        inherited, where = _inherited(value, templates)
        lost = [one for one in inherited if not _kept(one, value.tolerations)]
        if lost:
            yield Violation(
                located.at("tolerations"),
                f"these tolerations replace those of {where} and drop {_description(lost[0])}",
                "include the inherited tolerations:\n" + "\n".join(_item(one) for one in lost),
            )


def _inherited(
    value: TolerationOverride, templates: dict[tuple[str, str, str, str], tuple[Toleration, ...]]
) -> tuple[tuple[Toleration, ...], str]:
    """The replaced list and its location; empty if its object is unknown."""
    if not value.kinds:
        return value.inherited, value.inherited_from
    for kind in value.kinds:
        namespace = "" if kind.startswith("Cluster") else value.namespace
        found = templates.get((kind, namespace, value.name, value.part))
        if found is not None:
            return found, f"{kind} {value.name}"
    return (), ""


def _kept(inherited: Toleration, mine: tuple[Toleration, ...]) -> bool:
    if any(is_placeholder(text) for one in (inherited, *mine) for text in one[:4]):
        return True
    return any(covers(one, inherited) for one in mine)


def _description(lost: Toleration) -> str:
    value = f"={lost.value}" if lost.value else ""
    return f"the toleration of {lost.key or 'every key'}{value}" + (f":{lost.effect}" if lost.effect else "")


def _item(lost: Toleration) -> str:
    entries = ", ".join(f"{name}: {scalar(value)}" for name, value in to_dict(lost).items())
    return f"- {{{entries}}}"


RULE = Rule(
    code="PK127",
    name="override-drops-tolerations",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(TolerationOverride,),
)
