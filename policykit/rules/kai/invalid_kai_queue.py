"""KAI-Scheduler's webhook or the API server refuses a queue, or a field of it is unknown.

A queue states its resources by the names gpu, cpu and memory, as plain numbers: cards, thousandths of a core,
and units of 10^6 bytes; -1 means no limit. The API server drops other fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping
from policykit.model.severity import Severity
from policykit.nearest import nearest
from policykit.targets.kai.facts import GROUP, KIND

BAD = """\
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata:
  name: research
spec:
  resources:
    memory: {quota: 64Gi, limit: -1}
"""

GOOD = BAD.replace("64Gi", "64000")

_SPEC = (
    "displayName",
    "parentQueue",
    "resources",
    "priority",
    "preemptMinRuntime",
    "reclaimMinRuntime",
)
_RESOURCES = ("gpu", "cpu", "memory")
_AMOUNTS = ("quota", "limit", "overQuotaWeight")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Source: `queue_types.go` and `queue_webhook.go` of KAI-Scheduler (0.6 to 0.13)."""
    if manifest.group != GROUP:
        return
    spec = mapping(manifest.data.get("spec"))
    if spec.get("resources") is None and not manifest.partial:
        yield Violation(
            ("spec",),
            "the queue states no resources: KAI-Scheduler's webhook refuses it",
            "add resources with quota and limit of gpu, cpu and memory; -1 means no limit",
        )
    yield from _unknown(spec, ("spec",), _SPEC)
    resources = mapping(spec.get("resources"))
    yield from _unknown(resources, ("spec", "resources"), _RESOURCES)
    for name in _RESOURCES:
        amounts, path = mapping(resources.get(name)), ("spec", "resources", name)
        yield from _unknown(amounts, path, _AMOUNTS)
        for field in _AMOUNTS:
            written = amounts.get(field)
            if isinstance(written, str) and not is_placeholder(written):
                yield Violation(
                    (*path, field),
                    f"{field} is the string {written!r}, but must be a number",
                    "write a plain number: cards, thousandths of a core, or units of 10^6 bytes",
                )


def _unknown(written: Mapping[str, Any], path: Path, known: tuple[str, ...]) -> Iterator[Violation]:
    for key in written:
        if isinstance(key, str) and key not in known:
            likely = "parentQueue" if key == "parent" else nearest(key, known)
            yield Violation(
                (*path, key),
                f"a queue of KAI-Scheduler has no field {key} here",
                f"did you mean {likely}?" if likely else f"fields: {', '.join(known)}",
                Severity.WARNING,
                key=True,
            )


RULE = Rule(
    code="PK414",
    name="invalid-kai-queue",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({KIND}),
    substrings=(GROUP,),
)
