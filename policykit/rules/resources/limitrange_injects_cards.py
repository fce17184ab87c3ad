"""A LimitRange sets amounts of an extended resource.

Defaults apply to every container of the namespace without an amount, so each helper, sidecar and
web server gets cards. `max` alone has the same effect, because it is also the default; `min` adds
requests without limits, which are invalid. For type Pod, `min` and `max` refuse every pod without
cards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from policykit.kube.names import is_extended
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.patch import Patch
from policykit.manifests.path import lookup
from policykit.model.severity import Applicability, Severity

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

BAD = """\
apiVersion: v1
kind: LimitRange
metadata:
  name: defaults
spec:
  limits:
  - type: Container
    default:
      cpu: "4"
      nvidia.com/gpu: "1"
"""

GOOD = """\
apiVersion: v1
kind: LimitRange
metadata:
  name: defaults
spec:
  limits:
  - type: Container
    default:
      cpu: "4"
"""

_EFFECTS = {
    "Container": {
        "default": "gives {amount} {resource} to every container without an amount",
        "defaultRequest": "requests {amount} {resource} for every container without an amount",
        "min": "makes every container without an amount request {amount} {resource} without a limit",
        "max": "is also the default: it gives {amount} {resource} to every container without an amount",
    },
    "Pod": {
        "min": "refuses every pod that requests less than {amount} {resource}",
        "max": "refuses every pod without a limit on {resource}",
    },
}


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Reports every extended resource, in the order in which defaults are applied (v1.36)."""
    limits = lookup(manifest.data, ("spec", "limits"))
    severity = _severity(context.cluster, manifest.namespace or context.namespace)
    items = limits if isinstance(limits, list) else []
    for position, item in enumerate(items):
        for block, resource in _entries(item):
            does = _EFFECTS[item["type"]][block].format(amount=item[block][resource], resource=resource)
            yield Violation(
                ("spec", "limits", position, block, resource),
                f"{block} {does}",
                f"delete the entry, and cap cards with a ResourceQuota on requests.{resource}",
                severity,
                key=True,
                fix=partial(_fix, items),
            )


def _entries(item: Any) -> list[tuple[str, str]]:
    """(block, extended resource) of every amount that affects pods."""
    blocks = _EFFECTS.get(str(item.get("type")), {}) if isinstance(item, dict) else {}
    return [
        (block, resource)
        for block in blocks
        for resource in (item[block] if isinstance(item.get(block), dict) else ())
        if isinstance(resource, str) and is_extended(resource)
    ]


def _fix(items: Sequence[Any]) -> Fix | None:
    """Deletes all of them together: a remaining request without its limit would be worse.

    Empty parents are deleted too; None if nothing of the object would remain.
    """
    patches: list[Patch] = []
    left = len(items)
    for position in reversed(range(len(items))):
        item, entries = items[position], _entries(items[position])
        place = ("spec", "limits", position)
        amounts = Counter(block for block, _ in entries)
        emptied = [block for block, many in amounts.items() if many == len(item[block])]
        if entries and set(item) == {"type", *emptied}:
            patches.append(Patch("remove", place))
            left -= 1
            continue
        patches += [Patch("remove", (*place, block)) for block in emptied]
        patches += [Patch("remove", (*place, *entry)) for entry in entries if entry[0] not in emptied]
    if not left:
        return None
    return Fix("delete every amount of an extended resource", tuple(patches), Applicability.UNSAFE)


def _severity(cluster: Cluster | None, namespace: str) -> Severity | None:
    """An error if the policy has workloads without cards in this namespace."""
    kinds = cluster.workloads.values() if cluster else ()
    if any(kind.cards == () and namespace in kind.namespaces for kind in kinds):
        return Severity.ERROR
    return None


RULE = Rule(
    code="PK207",
    name="limitrange-injects-cards",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"LimitRange"}),
    fix=Applicability.UNSAFE,
)
