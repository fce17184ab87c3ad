"""A workload nearly names an object that is here.

Nothing runs in a runtime, on a Ray cluster or with a device claim that does not exist, and an autoscaler
scales nothing. Other repositories may have objects that these files do not, so only a name that is nearly
that of an object here is reported. What an object that is here consists of is known: the requests of a
device claim, the model formats of a runtime of KServe, the keys of a ConfigMap that a scheduler reads as
files, and the feature gates of NVIDIA's DRA driver, which TimeSlicing and MPS need. So are the jobs of a
runtime of Kubeflow Trainer, which a TrainJob patches, the resources that the configuration of a device
plugin for network adapters offers, and how many parts Node Feature Discovery's deviceLabelFields gives the
labels of devices. Jobs of KAI-Scheduler wait for a Topology that does not exist, and for a level that theirs
does not have, and the API server refuses claims with `adminAccess` in a namespace without the label for it.
The card of a claim that no container of the pod uses is taken, and no container sees it; a container that
requests a card of a device plugin too takes both. A runtime is chosen for a model that names none only by
its formats with `autoSelect`. A template for device claims is not a claim, and a TrainingRuntime is not the
ClusterTrainingRuntime that a TrainJob without a kind means; an autoscaler of a Deployment scales no
StatefulSet. An Ingress or a route sends to ports that its Service has, by number or name, and a Service to
ports that the pods have which it selects. Variables take keys that the ConfigMap or Secret has; a task of
Tekton takes no workspace that it does not declare; a policy of networks selects a namespace by its labels,
and its name is the label kubernetes.io/metadata.name. Multus looks for a network in the namespace of the
pod, unless another is named, and a pod finds claims for devices and volumes only there. A template that a
workflow of Argo borrows mounts the volumes of that workflow, not those of its own object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policykit.kube.autoscaling import POD_PER_REPLICA
from policykit.kube.placeholders import UnfilledNames, is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import Scope
from policykit.model.gang import Autoscaler
from policykit.model.queue import Demand
from policykit.model.references import (
    BorrowedTemplate,
    LentTemplate,
    NamedObject,
    NamedParts,
    NamedTarget,
    ObjectReference,
    PartReference,
    ServedFormat,
    UnassignedModel,
)
from policykit.model.severity import Severity
from policykit.namedtuple import NamedTuple
from policykit.nearest import Names, some
from policykit.rules.resources.service_targets import named_targets

BAD = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata:
  name: one-gpu
spec:
  spec:
    devices:
      requests:
      - name: gpu
        exactly: {deviceClassName: gpu.nvidia.com}
---
apiVersion: v1
kind: Pod
metadata:
  name: train
spec:
  resourceClaims:
  - {name: gpu, resourceClaimTemplateName: one-gpus}
  containers:
  - name: main
    image: registry.example/train:1
    resources:
      requests: {cpu: 2, memory: 8Gi}
      claims: [{name: gpu}]
"""

GOOD = BAD.replace("one-gpus", "one-gpu")


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """In any namespace: files seldom say to which one they are applied."""
    if not scope.complete:
        return
    objects: dict[tuple[str, ...], _Known] = {}
    spaces: dict[tuple[str, str], set[str]] = {}
    for each in scope.of(ObjectReference):
        kinds, name = each.value.kinds, each.value.name
        if each.partial:
            continue
        message = f"no file here defines {' or '.join(kinds[: 1 if len(kinds) > _FEW else None])} {name}"
        if likely := _likely(scope, name, _objects(scope, kinds, objects)):
            yield Violation(each.at("name"), message, f"did you mean {likely}?")
        elif each.value.namespace and (elsewhere := _elsewhere(scope, each.value, spaces)):
            yield Violation(
                each.at("name"),
                f"{kinds[0]} {name} is in namespace {elsewhere}, but is looked for in {each.value.namespace}",
                f"write {elsewhere}/{name}, or move it to {each.value.namespace}"
                if kinds[0] == _NETWORK
                else "move one of the two: pods find those of their own namespace",
            )
        elif kinds in _OTHERS and name not in _objects(scope, kinds, objects).names:
            other, advice = _OTHERS[kinds]
            if name in _objects(scope, (other,), objects).names:
                yield Violation(each.at("name"), f"{message}, but {other} {name}", advice.format(name=name))
    yield from _parts(scope)
    yield from named_targets(scope)
    yield from _unassigned(scope)
    yield from _borrowed(scope)
    scaled: dict[str, _Known] = {}
    others: dict[tuple[str, str], str] = {}
    for scaler in scope.autoscalers:
        kind, name = scaler.value.kind, scaler.value.name
        if kind not in POD_PER_REPLICA or scaler.partial:
            continue
        if kind not in scaled:
            there = (demand.resource for demand in scope.of(Demand))
            scaled[kind] = _known(each.name for each in there if each.kind == kind)
        message = f"no file here defines {kind} {name}, which is to be scaled"
        if likely := _likely(scope, name, scaled[kind]):
            yield Violation(scaler.at("name"), message, f"did you mean {likely}?")
        elif other := _of_another_kind(scope, scaler.value, scaled[kind], others):
            yield Violation(scaler.at("name"), f"{message}, but {other} {name}", f"write kind: {other}")


def _of_another_kind(
    scope: Scope, scaler: Autoscaler, known: _Known, others: dict[tuple[str, str], str]
) -> str:
    """What else that can be scaled has the name, in the same namespace; empty: nothing, or it is here.

    `others`: namespaces and names of all of them, which are filled in here.
    """
    name = scaler.name
    if not name or name in known.names or is_placeholder(name) or scope.may_hold(name):
        return ""
    if not others:
        for each in scope.of(Demand):
            if each.resource.kind in _SCALED:
                others.setdefault((each.value.namespace, each.resource.name or ""), each.resource.kind)
    other = others.get((scaler.namespace, name), "")
    return "" if known.unfilled.may_be(name) or other == scaler.kind else other


_SCALED = ("Deployment", "StatefulSet")
_FEW = 2


def _elsewhere(scope: Scope, reference: ObjectReference, spaces: dict[tuple[str, str], set[str]]) -> str:
    """The namespaces of all objects of the name, where each is stated and another one.

    `spaces`: those of each kind and name, which are filled in here.
    """
    if not spaces:
        for each in scope.of(NamedObject):
            spaces.setdefault((each.value.kind, each.value.name), set()).add(each.value.namespace)
    others = sorted({one for kind in reference.kinds for one in spaces.get((kind, reference.name), ())})
    return "" if not all(others) or reference.namespace in others else ", ".join(others)


_NETWORK = "NetworkAttachmentDefinition"
_OTHERS = {
    ("ResourceClaim",): ("ResourceClaimTemplate", "write resourceClaimTemplateName: {name}"),
    ("ResourceClaimTemplate",): ("ResourceClaim", "write resourceClaimName: {name}"),
    ("ClusterTrainingRuntime",): (
        "TrainingRuntime",
        "add kind: TrainingRuntime to runtimeRef: without a kind it names a ClusterTrainingRuntime",
    ),
    ("TrainingRuntime",): ("ClusterTrainingRuntime", "write kind: ClusterTrainingRuntime"),
}
"""Kinds that are taken for each other, and how the other one is named."""


def _objects(scope: Scope, kinds: tuple[str, ...], objects: dict[tuple[str, ...], _Known]) -> _Known:
    """What is here of these kinds; `objects`: those that were asked for."""
    if kinds not in objects:
        named = (one.value for one in scope.of(NamedObject))
        objects[kinds] = _known(one.name for one in named if one.kind in kinds)
    return objects[kinds]


def _parts(scope: Scope) -> Iterator[Violation]:
    """What no object of the name has; there may be several for several clusters."""
    there: dict[tuple[str, str, str], set[str]] = {}
    for owner in scope.of(NamedParts):
        key = (owner.value.owner, owner.value.namespace, owner.value.part)
        there.setdefault(key, set()).update(owner.value.names)
    for each in scope.of(PartReference):
        value = each.value
        names = there.get((value.owner, value.namespace, value.part))
        if names is not None and value.name not in names and not each.partial:
            message = value.message or f"{value.owner} has no {value.part} {value.name}"
            there_is = f"it has {some(sorted(names))}" if names else "add it"
            yield Violation(each.at("name"), message, value.advice or there_is)


def _unassigned(scope: Scope) -> Iterator[Violation]:
    """Models in a format that runtimes here serve, but only for models that name them."""
    models = scope.of(UnassignedModel)
    served = {each.value for each in scope.of(ServedFormat)} if models else set()
    for each in models:
        name = each.value.format
        if each.partial or ServedFormat(name, False) not in served or ServedFormat(name, True) in served:
            continue
        own = each.value.common
        end = "only one of KServe's own may serve it" if own else "none serves it"
        yield Violation(
            each.at("format"),
            f"the runtimes here serve {name} only for models that name them (no autoSelect), and this one "
            f"names none: {end}",
            "write runtime beside modelFormat, or autoSelect: true in the format of the runtime",
            Severity.INFO if own else Severity.WARNING,
        )


def _borrowed(scope: Scope) -> Iterator[Violation]:
    """Volumes that a template needs in every object here of the name."""
    borrowed = scope.of(BorrowedTemplate)
    lent: dict[tuple[str, str, str], frozenset[str]] = {}
    for one in scope.of(LentTemplate) if borrowed else ():
        key = one.value[:3]
        lent[key] = lent.get(key, one.value.mounts) & one.value.mounts
    for each in borrowed:
        wanted = lent.get(each.value[:3], frozenset()) - each.value.volumes
        if wanted and not each.partial:
            several = "volumes" if len(wanted) > 1 else "a volume"
            yield Violation(
                each.at("name"),
                f"template {each.value.name} of {each.value.owner} mounts {', '.join(sorted(wanted))}, "
                f"{several} that this workflow does not have: those of {each.value.owner} are not used",
                "add it to volumes or volumeClaimTemplates of this workflow, or to volumes of the template",
            )


class _Known(NamedTuple):
    names: Names
    unfilled: UnfilledNames


def _known(names: Iterable[str]) -> _Known:
    listed = tuple(names)
    return _Known(Names(listed), UnfilledNames(listed))


def _likely(scope: Scope, name: str, known: _Known) -> str:
    """The object that is meant; empty: the named one is here or may be, or nothing is nearly called so."""
    if not name or name in known.names or is_placeholder(name) or scope.may_hold(name):
        return ""
    return "" if known.unfilled.may_be(name) else known.names.misspelt(name)


RULE = Rule(
    code="PK224",
    name="unknown-reference",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(Autoscaler, BorrowedTemplate, NamedTarget, ObjectReference, PartReference, UnassignedModel),
)
