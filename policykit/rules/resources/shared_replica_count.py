"""A container requests several replicas of shared cards.

In a shared pool one unit of the resource is a replica of a card, not a card. Two replicas may be on
the same card and give neither more time nor more memory. With MPS, and with failRequestsGreaterThanOne,
the device plugin refuses them. So does that of GKE on nodes that share cards by time, and with MPS where a
node has several cards.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policykit.kube.node_label_values import GKE_SHARING
from policykit.kube.requests import containers, requested
from policykit.linter.rule import Context, Rule, Violation
from policykit.model.severity import Severity
from policykit.placement.recognition import selected_values
from policykit.placement.review import Review

if TYPE_CHECKING:
    from policykit.model.pool import Pool

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: serve
spec:
  containers:
  - name: main
    image: registry.example/serve:1
    resources:
      limits:
        nvidia.com/gpu.shared: 2
"""

GOOD = BAD.replace("gpu.shared: 2", "gpu.shared: 1")

_PLUGIN, _CARD = "nvidia.com/", "nvidia.com/gpu"
_RENAMED = ".shared"
_REFUSING = "mps"
"""Sources: `sharing.mps` in `internal/rm` of NVIDIA's device plugin (0.15 to 0.19), and `ValidateRequest` of
GKE's: the pod fails with UnexpectedAdmissionError."""
_MODES = frozenset({"time-slicing", _REFUSING})
_SAME_CARD = "several may be on the same card"


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Checks names that end in .shared, and with a policy also pods whose pools are all shared."""
    for field, position, container in containers(review.pod_set.spec):
        for name, amount in requested(container).items():
            if amount <= 1 or not name.startswith(_PLUGIN):
                continue
            pools = _shared_pools(review, name)
            strategies = selected_values(review.affinity, GKE_SHARING) if name == _CARD else ()
            if not pools and not strategies and not name.endswith(_RENAMED):
                continue
            limits = container["resources"].get("limits")
            side = "limits" if isinstance(limits, dict) and name in limits else "requests"
            if strategies:
                yield Violation(
                    review.pod_set.place(field, position, "resources", side, name),
                    f"requests {amount} {name} of nodes with {GKE_SHARING} {', '.join(strategies)}, whose "
                    "device plugin gives a container at most 1: the pod is refused on its node",
                    "request 1, or nodes that do not share their cards",
                )
                continue
            refused = bool(pools) and all(pool.sharing.mode == _REFUSING for pool in pools)
            effect = "with MPS the device plugin refuses more than 1" if refused else _SAME_CARD
            yield Violation(
                review.pod_set.place(field, position, "resources", side, name),
                f"requests {amount} {name}, which are replicas of shared cards{_where(pools)}: {effect}",
                "request 1, or whole cards of a pool that is not shared",
                Severity.ERROR if refused else None,
            )


def _shared_pools(review: Review, name: str) -> list[Pool]:
    """The eligible pools, if all of them share their cards under this name."""
    offering = [pool for pool in review.eligible_pools or () if name in pool.resources]
    return offering if all(p.sharing.mode in _MODES and p.sharing.replicas > 1 for p in offering) else []


def _where(pools: list[Pool]) -> str:
    if not pools:
        return ""
    return f" (pool {pools[0].name}: {pools[0].sharing.replicas} per card)"


RULE = Rule(
    code="PK214",
    name="shared-replica-count",
    severity=Severity.WARNING,
    subject=Review,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=("nvidia.com/",),
)
