"""What Koordinator's quota webhook refuses of one ElasticQuota, and what it takes without effect."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.structure.naming import name_fault
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping
from policykit.model.quantity import parse
from policykit.model.severity import Severity
from policykit.targets.koordinator.checks import quota_metadata
from policykit.targets.koordinator.checks.quota_metadata import OLD_PARENT, PREFIX
from policykit.targets.koordinator.objects.quotas import ROOT
from policykit.targets.koordinator.objects.resources import PARTS, PERCENT, REWRITTEN
from policykit.targets.release import Version

_LABELS, _ANNOTATIONS = ("metadata", "labels"), ("metadata", "annotations")
_FLAGS = ("is-parent", "allow-lent-resource", "is-root", "ignore-default-tree", "allow-force-update")
_KEPT = frozenset({ROOT, "koordinator-system-quota"})
"""Koordinator makes them itself, and refuses to let them be changed."""
_AMOUNTS = ("shared-weight", "guaranteed")
_LISTS = ("namespaces", "max-strict-check-resource-keys")


def faults(manifest: Manifest, stated: Version | None) -> Iterator[Violation]:
    """Source: koordinator `pkg/webhook/elasticquota/quota_topology_check.go` (1.8)."""
    if manifest.name in _KEPT:
        yield Violation(
            ("metadata", "name"),
            f"{manifest.name} is Koordinator's own quota, which its webhook lets nobody change",
            "give the quota another name",
        )
    yield from _amounts(manifest.data, manifest.partial)
    yield from _labels(manifest)
    yield from _annotations(manifest)
    yield from quota_metadata.unread(manifest)
    yield from _never_counted(manifest.data, stated)


def profile(manifest: Manifest) -> Iterator[Violation]:
    """Of an ElasticQuotaProfile: a name that no quota can have, a ratio that is not used."""
    named = ("spec", "quotaName")
    fault = name_fault(lookup(manifest.data, named), "scheduling.sigs.k8s.io/v1alpha1", "ElasticQuota")
    if fault:
        yield Violation(
            named, f"quotaName {fault.predicate}: no quota is made", fault.help or "write the name of a quota"
        )
    place = ("spec", "resourceRatio")
    ratio = lookup(manifest.data, place)
    if not isinstance(ratio, str) or is_placeholder(ratio):
        return
    try:
        number = float(ratio)
    except ValueError:
        number = -1.0
    if not 0 < number <= 1:
        yield Violation(
            place,
            f"resourceRatio is {ratio!r}, and only a number above 0 and up to 1 is used",
            'write a part of one, such as "0.9", or delete the line',
        )


def _amounts(data: Mapping[str, Any], partial: bool) -> Iterator[Violation]:
    spec = mapping(data.get("spec"))
    for field in ("min", "max"):
        for resource, value in mapping(spec.get(field)).items():
            if _negative(value):
                yield Violation(
                    ("spec", field, resource),
                    f"{field} of {resource} is {value}, below 0: Koordinator refuses the quota",
                    "write 0 or more",
                )
    least, most = mapping(spec.get("min")), mapping(spec.get("max"))
    for resource in least if not partial else ():
        if isinstance(resource, str) and resource not in most and not is_placeholder(resource):
            yield Violation(
                ("spec", "min", resource),
                f"min names {resource}, but max does not: Koordinator refuses the quota",
                f"add {resource} to max, or delete it from min",
                key=True,
            )


def _labels(manifest: Manifest) -> Iterator[Violation]:
    labels = manifest.labels
    if OLD_PARENT in labels:
        yield Violation(
            (*_LABELS, OLD_PARENT),
            f"{OLD_PARENT} is not read: the quota stands below {labels.get(PREFIX + 'parent') or ROOT}",
            f"rename it to {PREFIX}parent",
            key=True,
        )
    for name in _FLAGS:
        key = PREFIX + name
        value = labels.get(key)
        if value is not None and value not in ("true", "false", "") and not is_placeholder(value):
            counts = "true" if name == "allow-lent-resource" else "false"
            yield Violation(
                (*_LABELS, key), f'{key} is {value!r}: it counts as "{counts}"', 'write "true" or "false"'
            )


def _annotations(manifest: Manifest) -> Iterator[Violation]:
    annotations = manifest.annotations
    for name in (*_AMOUNTS, *_LISTS):
        key = PREFIX + name
        written = annotations.get(key)
        if not written or is_placeholder(written):
            continue
        path: Path = (*_ANNOTATIONS, key)
        try:
            value: Any = json.loads(written)
        except (ValueError, RecursionError):
            value = None
        if name in _LISTS:
            if not (isinstance(value, list) and all(isinstance(one, str) for one in value)):
                yield Violation(
                    path, f"{key} is not a JSON list of texts", """write it as '["first", "second"]'"""
                )
        elif not isinstance(value, dict):
            yield Violation(
                path,
                f"{key} is not JSON of resources and amounts: Koordinator refuses the quota",
                """write it as '{"cpu": "40", "memory": "40Gi"}'""",
            )
        else:
            for resource, amount in value.items():
                if parse(amount) is None or _negative(amount):
                    yield Violation(
                        path,
                        f"{resource} in {key} is {amount!r}, no amount of 0 or more: "
                        "Koordinator refuses the quota",
                        "write an amount of 0 or more",
                        inside=(resource,),
                    )


def _never_counted(data: Mapping[str, Any], stated: Version | None) -> Iterator[Violation]:
    """Pods that ask for koordinator.sh/gpu ask for its parts once they are admitted (1.6)."""
    most = mapping(lookup(data, ("spec", "max")))
    if (
        PERCENT in most
        and not any(part in most for part in PARTS)
        and (stated is None or stated >= REWRITTEN)
    ):
        yield Violation(
            ("spec", "max", PERCENT),
            f"max names {PERCENT}, which is never counted from Koordinator 1.6 on: pods ask for "
            f"{' and '.join(PARTS)} once they are admitted",
            f"write {' and '.join(PARTS)} with the same amount",
            Severity.WARNING if stated is None else None,
            key=True,
        )


def _negative(value: object) -> bool:
    found = parse(value)
    return found is not None and found.nanos < 0
