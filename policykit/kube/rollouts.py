"""How many pods a rolling update of a Deployment replaces at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.manifests.path import lookup
from policykit.manifests.shape import digits, mapping, text, whole
from policykit.namedtuple import NamedTuple

_DEFAULT = "25%"


class Rollout(NamedTuple):
    """Pods that may be there beyond the replicas, and replicas that may be missing meanwhile."""

    surge: int
    unavailable: int


def rolling(spec: Mapping[str, Any], replicas: int) -> Rollout | None:
    """Of a Deployment's spec; None: it recreates its pods, or the numbers cannot be read.

    Source: `ResolveFenceposts` in pkg/controller/deployment/util (v1.36).
    """
    strategy = mapping(spec.get("strategy"))
    if strategy.get("type") == "Recreate":
        return None
    update = mapping(lookup(strategy, ("rollingUpdate",)))
    surge = _pods(update.get("maxSurge", _DEFAULT), replicas, up=True)
    unavailable = _pods(update.get("maxUnavailable", _DEFAULT), replicas, up=False)
    if surge is None or unavailable is None:
        return None
    # Percentages may round to nothing; then one pod is removed first.
    return Rollout(surge, unavailable or int(surge == 0))


def adds_first(data: Mapping[str, Any], group: str, kind: str, replicas: int) -> bool:
    """Whether a rolling update of an object removes no pod before a new one is ready: where no room is free,
    it never ends. Only Deployments do so."""
    if (group, kind) != ("apps", "Deployment") or not replicas:
        return False
    rollout = rolling(mapping(data.get("spec")), replicas)
    return rollout is not None and rollout.unavailable == 0


def _pods(written: object, replicas: int, *, up: bool) -> int | None:
    """A number or a percentage of the replicas; None: neither."""
    if (number := whole(written)) is not None:
        return number
    percent = digits(text(written).removesuffix("%"))
    if percent is None or not text(written).endswith("%"):
        return None
    return -(-replicas * percent // 100) if up else replicas * percent // 100
