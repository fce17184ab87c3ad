"""A ClusterColocationProfile selects pods by their label, but not their namespace.

Koordinator's webhook applies a profile only where its namespaceSelector selects the namespace of the pods
too. Where it does not, they run without the class, the priority and the scheduler of the profile, and nothing
says so. Labels are compared with those of Namespaces that are here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from policykit.kube.selectors import Requirement, matches, unmet
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.colocation import DeclaredProfile, ProfiledPods, Requirements
from policykit.model.kueue import DeclaredNamespace
from policykit.model.severity import Severity
from policykit.targets.koordinator.objects.colocation import NAMESPACE_NAME

BAD = """\
apiVersion: v1
kind: Namespace
metadata:
  name: research
---
apiVersion: config.koordinator.sh/v1alpha1
kind: ClusterColocationProfile
metadata:
  name: batch
spec:
  namespaceSelector:
    matchLabels: {koordinator.sh/enable-colocation: "true"}
  selector:
    matchLabels: {koordinator.sh/enable-colocation: "true"}
  qosClass: BE
  priorityClassName: koord-batch
---
apiVersion: v1
kind: Pod
metadata:
  name: train
  namespace: research
  labels: {koordinator.sh/enable-colocation: "true"}
spec:
  containers:
  - name: main
    image: registry.example/train:1
"""

GOOD = BAD.replace(
    "  name: research\n---", '  name: research\n  labels: {koordinator.sh/enable-colocation: "true"}\n---'
)

_DOMAIN = "koordinator.sh/"
_MOST = 4
"""Profiles for one label, and Namespaces of one name, that are compared; of more, nothing is reported."""


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Source: `pkg/webhook/pod/mutating/cluster_colocation_profile.go` of Koordinator (0.5 to 1.8)."""
    profiles: dict[tuple[Requirements, Requirements], DeclaredProfile] = {}
    for each in scope.of(DeclaredProfile):
        if not (each.partial or each.as_written):
            profiles.setdefault((each.value.namespaces, each.value.pods), each.value)
    by_label: dict[tuple[str, str], list[DeclaredProfile]] = {}
    for profile in profiles.values():
        for key, operator, values in profile.pods:
            if key.startswith(_DOMAIN) and operator == "In" and len(values) == 1:
                by_label.setdefault((key, values[0]), []).append(profile)
                break
    namespaces = _labels(scope.of(DeclaredNamespace)) if by_label else {}
    for pods in scope.of(ProfiledPods) if namespaces else ():
        here = namespaces.get(pods.value.namespace, ())
        if 0 < len(here) <= _MOST:
            yield from _missed(pods, here, by_label)


def _labels(declared: Sequence[LocatedFact[DeclaredNamespace]]) -> dict[str, list[Mapping[str, str]]]:
    """Namespace to its labels, of each object of the name; one that is not whole makes it unknown."""
    found: dict[str, list[Mapping[str, str]]] = {}
    for each in declared:
        name = each.value.name
        here = found.setdefault(name, [])
        here.append({**each.value.labels, NAMESPACE_NAME: name})
        if each.partial or each.as_written:
            here += [{}] * _MOST
    return found


def _missed(
    pods: LocatedFact[ProfiledPods],
    labels: Sequence[Mapping[str, str]],
    by_label: Mapping[tuple[str, str], list[DeclaredProfile]],
) -> Iterator[Violation]:
    """Where every profile that selects the pods leaves out each Namespace of the name."""
    asked = [item for item in pods.value.labels.items() if item in by_label]
    if not asked or any(len(by_label[item]) > _MOST for item in asked):
        return
    meant = [
        (key, profile)
        for key, value in asked
        for profile in by_label[key, value]
        if all(matches(Requirement(*each), pods.value.labels) for each in profile.pods)
    ]
    lacking = [unmet((Requirement(*each) for each in profile.namespaces), labels) for _, profile in meant]
    if not meant or not all(lacking):
        return
    key, profile = meant[0]
    yield Violation(
        pods.at(f"labels.{key}"),
        f"ClusterColocationProfile {profile.name} is for these pods, but in namespaces with {lacking[0]} "
        f"only, unlike {pods.value.namespace}: they get nothing from it",
        f"label Namespace {pods.value.namespace}, or let the namespaceSelector select it",
    )


RULE = Rule(
    code="PK617",
    name="profile-misses-namespace",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(ProfiledPods,),
)
