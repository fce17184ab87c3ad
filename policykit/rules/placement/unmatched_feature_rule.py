"""A rule of Node Feature Discovery never matches, or sets a label that it may not set.

The rule names features by their source: pci.device, kernel.version. No node has another one, unless a
NodeFeature object of another program brings it. Devices have their numbers in small hexadecimal letters,
without 0x. An expression with too many or too few values is an error that only nfd-master's log has; another
operator, and a label that is not a string, the API server refuses. Labels, annotations, extended resources
and taints in the domain kubernetes.io are left out, but for NFD's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.placeholders import is_filled_in
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, numbered, text, texts
from policykit.model.severity import Severity
from policykit.nearest import nearest

BAD = """\
apiVersion: nfd.k8s-sigs.io/v1alpha1
kind: NodeFeatureRule
metadata: {name: cards}
spec:
  rules:
  - name: nvidia
    labels: {example.com/nvidia: "true"}
    matchFeatures:
    - feature: pci.devices
      matchExpressions:
        vendor: {op: In, value: [10de]}
"""

GOOD = BAD.replace("pci.devices", "pci.device")

_SOURCES: Mapping[str, tuple[str, ...]] = {
    "cpu": (
        "coprocessor",
        "cpuid",
        "cstate",
        "hardware_multithreading",
        "model",
        "pstate",
        "rdt",
        "se",
        "security",
        "sgx",
        "sst",
        "topology",
    ),
    "fake": ("attribute", "flag", "instance"),
    "kernel": ("config", "enabledmodule", "kvm", "loadedmodule", "selinux", "version"),
    "local": ("feature", "label"),
    "memory": ("hugepages", "numa", "nv", "swap"),
    "network": ("device", "virtual"),
    "pci": ("device",),
    "rule": ("matched",),
    "storage": ("block",),
    "system": ("dmiid", "name", "osrelease"),
    "usb": ("device",),
}
"""Source to its features. Source: `source/` of Node Feature Discovery (0.10 to 0.19)."""
_FEATURES = tuple(f"{source}.{name}" for source, names in _SOURCES.items() for name in names)
_ATTRIBUTES: Mapping[str, tuple[str, ...]] = {
    "pci.device": (
        "class",
        "device",
        "iommu/intel-iommu/version",
        "iommu_group/type",
        "sriov_totalvfs",
        "subsystem_device",
        "subsystem_vendor",
        "vendor",
    ),
    "usb.device": ("class", "device", "serial", "vendor"),
}
_HEXADECIMAL = ("class", "device", "subsystem_device", "subsystem_vendor", "vendor")
_NOTHING = ("DoesNotExist", "Exists", "IsFalse", "IsTrue")
_COMPARED, _BETWEEN = ("Ge", "Gt", "Le", "Lt"), ("GeLe", "GtLt")
_LISTED = ("In", "InRegexp", "NotIn")
_OPERATORS = (*_LISTED, *_COMPARED, *_BETWEEN, *_NOTHING)
_OPEN = ("feature.node.kubernetes.io", "profile.node.kubernetes.io")
_ASKED = "kubernetes.io"
_WRITTEN = {"labels": "label", "annotations": "annotation", "extendedResources": "extended resource"}
"""Field of a rule to what each of its keys is."""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Source: `pkg/apis/nfd/nodefeaturerule` and `validate` of Node Feature Discovery (0.10 to 0.19)."""
    for number, rule in numbered(mapping(manifest.data.get("spec")).get("rules")):
        base: Path = ("spec", "rules", number)
        for field, what in _WRITTEN.items():
            for key, value in mapping(rule.get(field)).items():
                yield from _key(key, what, (*base, field, key), key_itself=True)
                if isinstance(value, bool | int | float):
                    yield Violation(
                        (*base, field, key),
                        f"the {what} {key} is not a string: the API server refuses the rule",
                        "put the value in quotes",
                        Severity.ERROR,
                    )
        for at, taint in numbered(rule.get("taints")):
            yield from _key(taint.get("key"), "taint", (*base, "taints", at, "key"), key_itself=False)
        yield from _matchers(rule.get("matchFeatures"), (*base, "matchFeatures"))
        for at, each in numbered(rule.get("matchAny")):
            yield from _matchers(each.get("matchFeatures"), (*base, "matchAny", at, "matchFeatures"))


def _key(key: object, what: str, path: Path, *, key_itself: bool) -> Iterator[Violation]:
    """Source: `Label`, `Annotation`, `Taint` and `ExtendedResource` in `pkg/apis/nfd/validate`."""
    name = text(key)
    domain, slash, _ = name.partition("/")
    may = _OPEN if what == "label" else _OPEN[:1]
    if not slash or is_filled_in(name) or not _is_below(domain, (_ASKED,)) or _is_below(domain, may):
        return
    yield Violation(
        path,
        f"{name} is in the domain {domain}, in which a rule may set no {what}",
        f"use a domain of your own, or {_OPEN[0]}",
        key=key_itself,
    )


def _is_below(domain: str, known: tuple[str, ...]) -> bool:
    return any(domain == each or domain.endswith(f".{each}") for each in known)


def _matchers(listed: object, base: Path) -> Iterator[Violation]:
    for number, matcher in numbered(listed):
        name = text(matcher.get("feature"))
        if not name or is_filled_in(name):
            continue
        path: Path = (*base, number)
        if name not in _FEATURES:
            source, _, _ = name.partition(".")
            near = nearest(name, _FEATURES)
            known = ", ".join(f"{source}.{each}" for each in _SOURCES.get(source, ()))
            yield Violation(
                (*path, "feature"),
                f"Node Feature Discovery has no feature {name}: the rule never matches"
                + ("" if source in _SOURCES else ", unless a NodeFeature of another program has it"),
                f"did you mean {near}?" if near else f"write one of {known or 'its sources: pci.device'}",
            )
        for key, expression in mapping(matcher.get("matchExpressions")).items():
            if isinstance(key, str):
                at: Path = (*path, "matchExpressions", key)
                yield from _attribute(name, key, at)
                yield from _expression(name, key, mapping(expression), at)
        yield from _expression(name, "", mapping(matcher.get("matchName")), (*path, "matchName"))


def _attribute(feature: str, key: str, at: Path) -> Iterator[Violation]:
    known = _ATTRIBUTES.get(feature)
    if known is None or key in known or is_filled_in(key):
        return
    near = nearest(key, known)
    advice = f"did you mean {near}?" if near else f"it has {', '.join(known)}"
    yield Violation(at, f"{feature} has no attribute {key}: the rule never matches", advice, key=True)


def _expression(feature: str, key: str, expression: Mapping[str, Any], at: Path) -> Iterator[Violation]:
    operator, listed = text(expression.get("op")), expression.get("value")
    values = listed if isinstance(listed, list) else []
    if any(is_filled_in(each) for each in texts(listed)) or (listed is not None and values is not listed):
        return
    wanted = ""
    if operator and operator not in _OPERATORS:
        if not is_filled_in(operator):
            near = nearest(operator.lower().capitalize(), _OPERATORS) or "In"
            what = f"{operator} is not an operator: the API server refuses the rule"
            yield Violation((*at, "op"), what, f"did you mean {near}?", Severity.ERROR)
    elif operator in _NOTHING and values:
        wanted = "none"
    elif operator in _LISTED and not values:
        wanted = "one or more"
    elif operator in _COMPARED and len(values) != 1:
        wanted = "one"
    elif operator in _BETWEEN and len(values) != 2:
        wanted = "two"
    if wanted:
        there = f"has {len(values)} values" if len(values) != 1 else "has 1 value"
        yield Violation(
            (*at, "value") if "value" in expression else at,
            f"{operator} {there}, but takes {wanted}: the rule never matches",
            "delete the value" if wanted == "none" else f"write {wanted}",
            Severity.ERROR,
        )
    elif operator == "In" and feature in _ATTRIBUTES and key in _HEXADECIMAL:
        yield from _numbers(feature, key, texts(values), (*at, "value"))


def _numbers(feature: str, key: str, values: tuple[str, ...], at: Path) -> Iterator[Violation]:
    length = 4 if feature == "pci.device" or key != "class" else 2
    wrong = [each for each in values if not re.fullmatch(rf"[0-9a-f]{{{length}}}", each)]
    if wrong and len(wrong) == len(values):
        meant = wrong[0].lower().removeprefix("0x")[:length]
        yield Violation(
            at,
            f"{key} is {wrong[0]}, but a {feature} has {length} small hexadecimal digits: "
            "the rule never matches",
            f'write "{meant}"',
        )


RULE = Rule(
    code="PK148",
    name="unmatched-feature-rule",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"NodeFeatureRule"}),
)
