"""Koordinator refuses an ElasticQuota, or the quota does not count what it names.

The webhook refuses inconsistent amounts and annotations that are not JSON. It accepts other
mistakes, which then have no effect: under a label's old name the quota stays below the root, and
a quota of koordinator.sh/gpu never counts a pod, since pods request its parts instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any

from policykit.kube.placeholders import is_placeholder
from policykit.kube.structure.values import name_problem
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping
from policykit.model.quantity import parse
from policykit.model.release import Version
from policykit.model.severity import Severity
from policykit.nearest import nearest
from policykit.targets.koordinator import versions
from policykit.targets.koordinator.objects.quotas import BUILT_IN, KIND, PREFIX, ROOT
from policykit.targets.koordinator.objects.values import GPU, GPU_PARTS, parsed

BAD = """\
apiVersion: scheduling.sigs.k8s.io/v1alpha1
kind: ElasticQuota
metadata:
  name: team-a
  namespace: default
spec:
  min:
    cpu: "10"
    nvidia.com/gpu: "4"
  max:
    cpu: "40"
"""

GOOD = BAD + '    nvidia.com/gpu: "8"\n'

_LABELS, _ANNOTATIONS = ("metadata", "labels"), ("metadata", "annotations")
_FLAGS = ("is-parent", "allow-lent-resource", "is-root", "ignore-default-tree", "allow-force-update")
_PROTECTED = frozenset(BUILT_IN) - {"koordinator-default-quota"}
_LISTS = ("namespaces", "max-strict-check-resource-keys")
_KNOWN: Mapping[str, frozenset[str]] = {
    "labels": frozenset(
        {
            *("allow-force-update", "allow-lent-resource", "ignore-default-tree", "is-parent", "is-root"),
            *("name", "parent", "preemptible", "profile", "tree-id"),
        }
    ),
    "annotations": frozenset(
        {
            *("admission", "allocated", "child-request", "guaranteed", "max-strict-check-resource-keys"),
            *("namespaces", "non-preemptible-request", "non-preemptible-used", "request", "resource-keys"),
            *("runtime", "shared-weight", "total-resource", "unschedulable-resource"),
        }
    ),
}
"""Names below `PREFIX`. Source: koordinator `apis/extension/elastic_quota.go` (1.8)."""
_OLD_PARENT = f"{PREFIX}parent-quota-name"
_SIMILARITY = 0.7
_DOMAINS = ("koordinator.sh", "k8s.io")
_REFUSED = "Koordinator refuses the quota"
_WEIGHTS = "shared-weight"
_OUTCOME: Mapping[str, str] = {_WEIGHTS: _REFUSED, "guaranteed": "Koordinator ignores it"}
"""Of an annotation with amounts. Source: `NewQuotaInfoFromQuota` (1.4 to 1.8)."""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """One object by itself; PK403 to PK406 check trees of quotas.

    Source: koordinator `pkg/webhook/elasticquota/quota_topology_check.go` (1.8).
    """
    if manifest.kind == "ElasticQuotaProfile":
        if manifest.group == "quota.koordinator.sh":
            yield from _profile(manifest)
        return
    if manifest.group != "scheduling.sigs.k8s.io":
        return
    if manifest.name in _PROTECTED:
        yield Violation(
            ("metadata", "name"),
            f"{manifest.name} is built into Koordinator, whose webhook refuses changes to it",
            "give the quota another name",
        )
    yield from _amounts(manifest.data, manifest.partial)
    yield from _labels(manifest)
    yield from _annotations(manifest)
    yield from _unread_keys(manifest, "labels", "annotations")
    yield from _unread_keys(manifest, "annotations", "labels")
    yield from _never_counted(manifest.data, versions.release_of(context.cluster))


def _profile(manifest: Manifest) -> Iterator[Violation]:
    name_path, ratio_path = ("spec", "quotaName"), ("spec", "resourceRatio")
    problem = name_problem(lookup(manifest.data, name_path), "scheduling.sigs.k8s.io/v1alpha1", KIND)
    if problem:
        help_ = problem.help or "write the name of a quota"
        yield Violation(name_path, f"quotaName {problem.message}: no quota is created", help_)
    ratio = lookup(manifest.data, ratio_path)
    if not isinstance(ratio, str) or is_placeholder(ratio):
        return
    try:
        number = float(ratio)
    except ValueError:
        number = -1.0
    if not 0 < number <= 1:
        yield Violation(
            ratio_path,
            f"resourceRatio is {ratio!r}, not a number above 0 and up to 1: it is ignored",
            'write a fraction such as "0.9", or delete the line',
        )


def _amounts(data: Mapping[str, Any], partial: bool) -> Iterator[Violation]:
    spec = mapping(data.get("spec"))
    least, most = mapping(spec.get("min")), mapping(spec.get("max"))
    for field, amounts in (("min", least), ("max", most)):
        for resource, value in amounts.items():
            if _negative(value):
                message = f"{field} of {resource} is {value}, below 0: {_REFUSED}"
                yield Violation(("spec", field, resource), message, "write 0 or more")
    for resource in least if not partial else ():
        if isinstance(resource, str) and resource not in most and not is_placeholder(resource):
            yield Violation(
                ("spec", "min", resource),
                f"min has {resource}, but max does not: {_REFUSED}",
                f"add {resource} to max, or delete it from min",
                key=True,
            )


def _labels(manifest: Manifest) -> Iterator[Violation]:
    labels = manifest.labels
    if _OLD_PARENT in labels:
        parent = labels.get(f"{PREFIX}parent") or ROOT
        yield Violation(
            (*_LABELS, _OLD_PARENT),
            f"{_OLD_PARENT} is ignored: the parent of the quota is {parent}",
            f"rename it to {PREFIX}parent",
            key=True,
        )
    for name in _FLAGS:
        key = PREFIX + name
        value = labels.get(key)
        if value is not None and value not in ("true", "false", "") and not is_placeholder(value):
            default = "true" if name == "allow-lent-resource" else "false"
            message = f'{key} is {value!r}, which is read as "{default}"'
            yield Violation((*_LABELS, key), message, 'write "true" or "false"')


def _annotations(manifest: Manifest) -> Iterator[Violation]:
    for name in (*_OUTCOME, *_LISTS):
        key = PREFIX + name
        written = manifest.annotations.get(key)
        if not written or is_placeholder(written):
            continue
        path: Path = (*_ANNOTATIONS, key)
        value = parsed(written)
        if name in _LISTS:
            if not (isinstance(value, list) and all(isinstance(each, str) for each in value)):
                message = f"{key} is not a JSON list of strings"
                yield Violation(path, message, """write it as '["first", "second"]'""")
        elif not isinstance(value, dict):
            yield Violation(
                path,
                f"{key} is not a JSON object of resources and amounts: {_OUTCOME[name]}",
                """write it as '{"cpu": "40", "memory": "40Gi"}'""",
            )
        else:
            # The webhook deletes weights of resources that max does not have before it looks at the others.
            most = mapping(lookup(manifest.data, ("spec", "max")))
            for resource, amount in value.items():
                if parse(amount) is None or (_negative(amount) and (name != _WEIGHTS or resource in most)):
                    yield Violation(
                        path,
                        f"{resource} in {key} is {amount!r}, not an amount of 0 or more: {_OUTCOME[name]}",
                        "write an amount of 0 or more",
                        inside=(resource,),
                    )


def _unread_keys(manifest: Manifest, field: str, other: str) -> Iterator[Violation]:
    """Keys that belong among labels instead of annotations, or the other way round, and misspelt ones."""
    written = manifest.labels if field == "labels" else manifest.annotations
    opposite = manifest.annotations if field == "labels" else manifest.labels
    for key in written:
        name = key.removeprefix(PREFIX)
        if name == key and (meant := _of_another_domain(key, _KNOWN[field])):
            message, help_ = f"Koordinator does not read {key}", f"did you mean {meant}?"
            yield Violation(("metadata", field, key), message, help_, Severity.WARNING, key=True)
        if name == key or name in _KNOWN[field] or key in opposite or key == _OLD_PARENT:
            continue
        path = ("metadata", field, key)
        if name in _KNOWN[other]:
            message = f"{key} is among the {field}, but Koordinator reads it from the {other}"
            yield Violation(path, message, f"move it to the {other}", key=True)
            continue
        near = nearest(name, tuple(sorted(_KNOWN[field] | _KNOWN[other])), _SIMILARITY)
        if near:
            message, help_ = f"Koordinator does not read {key}", f"did you mean {PREFIX}{near}?"
            yield Violation(path, message, help_, Severity.WARNING, key=True)


def _of_another_domain(key: str, known: Set[str]) -> str:
    """The same name under a domain of schedulers or quotas: scheduling.koordinator.sh/is-parent."""
    domain, _, name = key.rpartition("/")
    own = domain.endswith(_DOMAINS) and ("quota" in domain or "scheduling" in domain)
    return f"{PREFIX}{name}" if own and name in known and name != "name" else ""


def _never_counted(data: Mapping[str, Any], stated: Version | None) -> Iterator[Violation]:
    """From 1.6 on, admission replaces koordinator.sh/gpu in pods by its parts."""
    most = mapping(lookup(data, ("spec", "max")))
    if GPU not in most or any(part in most for part in GPU_PARTS) or (stated and stated < versions.GPU_SPLIT):
        return
    parts = " and ".join(GPU_PARTS)
    yield Violation(
        ("spec", "max", GPU),
        f"max has {GPU}, never counted by Koordinator 1.6 and newer: admission replaces it in pods "
        f"by {parts}",
        f"replace it with {parts} of the same amount",
        Severity.WARNING if stated is None else None,
        key=True,
    )


def _negative(value: object) -> bool:
    found = parse(value)
    return found is not None and found.nanos < 0


RULE = Rule(
    code="PK610",
    name="invalid-elastic-quota",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({KIND, "ElasticQuotaProfile"}),
)
