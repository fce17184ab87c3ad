"""A ResourceQuota limits a resource under a key that is never counted.

Of extended resources Kubernetes counts only `requests.<resource>`. The API server accepts
`<resource>` and `limits.<resource>` as well and then ignores them, so the namespace looks
limited and is not. Resources under kubernetes.io/ are never charged at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from policykit.kube.names import is_extended
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.patch import Patch
from policykit.manifests.path import lookup
from policykit.model.severity import Applicability, Severity

BAD = """\
apiVersion: v1
kind: ResourceQuota
metadata:
  name: team
spec:
  hard:
    requests.nvidia.com/gpu: "8"
    limits.nvidia.com/gpu: "8"
"""

GOOD = """\
apiVersion: v1
kind: ResourceQuota
metadata:
  name: team
spec:
  hard:
    requests.nvidia.com/gpu: "8"
"""

_HARD = ("spec", "hard")
_COUNTED_DOMAINS = (
    "deviceclass.resource.kubernetes.io/",
    ".storageclass.storage.k8s.io/",
    ".deviceclass.resource.k8s.io/",
)
_HAMI_ONLY = ("/gpumem", "/gpumem-percentage", "/gpucores")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Every key of spec.hard. Source: quota evaluator `pkg/quota/v1/evaluator/core/pods.go` (v1.36)."""
    hard = lookup(manifest.data, _HARD)
    keys = hard if isinstance(hard, Mapping) else {}
    for key in keys:
        if not isinstance(key, str) or "/" not in key or _counted(key):
            continue
        resource = key.removeprefix("limits.").removeprefix("requests.")
        if is_extended(resource):
            message, advice = _uncounted(key, resource, f"requests.{resource}" in keys)
            fix = partial(_fix, keys, key, resource)
            yield Violation((*_HARD, key), message, advice, key=True, fix=fix)
        elif "kubernetes.io/" in resource:
            yield Violation(
                (*_HARD, key),
                f"{key} is never counted: a ResourceQuota does not charge {resource}",
                "limit it in the scheduler's own quota (a queue, an ElasticQuota) and delete the key",
                Severity.WARNING,
                key=True,
            )


def _counted(key: str) -> bool:
    """Keys with a slash that some evaluator does charge, or that only HAMi's own accounting reads."""
    if key.startswith("count/") or any(domain in key for domain in _COUNTED_DOMAINS):
        return True
    if key.startswith("limits.") and key.endswith(_HAMI_ONLY):
        return True
    return key.startswith("requests.") and is_extended(key.removeprefix("requests."))


def _uncounted(key: str, resource: str, counted_too: bool) -> tuple[str, str]:
    message = f"{key} is accepted but never counted: only requests.{resource} is"
    if counted_too:
        return message, f"delete it: requests.{resource} stands beside it and does the work"
    return message, f"rename it to requests.{resource}; the quota then takes effect"


def _fix(hard: Mapping[str, object], key: str, resource: str) -> Fix | None:
    """Deletes what has no effect beside the key that counts, else gives it effect."""
    counted = f"requests.{resource}"
    if counted in hard:
        return Fix(f"delete {key}", (Patch("remove", (*_HARD, key)),), Applicability.UNSAFE)
    others = [hard[name] for name in (resource, f"limits.{resource}") if name in hard]
    if any(amount != hard[key] for amount in others):
        return None
    return Fix(f"rename {key} to {counted}", (Patch("rename", (*_HARD, key), counted),), Applicability.UNSAFE)


RULE = Rule(
    code="PK206",
    name="quota-key-never-counted",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"ResourceQuota"}),
    fix=Applicability.UNSAFE,
)
