"""How pods of controllers are replaced, and how many may be absent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.kube.structure.admission.values import Data, refused
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import digits


def deployment(data: Data) -> Iterator[Problem]:
    """Source: `ValidateDeploymentStrategy` (Kubernetes v1.36)."""
    base: Path = ("spec", "strategy")
    strategy = lookup(data, base)
    if not isinstance(strategy, Mapping):
        return
    update = strategy.get("rollingUpdate")
    if strategy.get("type") == "Recreate" and update is not None:
        yield refused(
            (*base, "rollingUpdate"), "conflicts with type Recreate", "delete one of the two", key=True
        )
    elif (
        isinstance(update, Mapping) and _none(update.get("maxSurge")) and _none(update.get("maxUnavailable"))
    ):
        yield _stuck((*base, "rollingUpdate"), "maxSurge")


def daemon_set(data: Data) -> Iterator[Problem]:
    """Source: `ValidateRollingUpdateDaemonSet` (Kubernetes v1.36): without a value it is 1 and 0."""
    base: Path = ("spec", "updateStrategy", "rollingUpdate")
    update = lookup(data, base)
    if not isinstance(update, Mapping):
        return
    surge, absent = update.get("maxSurge"), update.get("maxUnavailable")
    if _none(absent) and (surge is None or _none(surge)):
        yield _stuck(base, "maxSurge")
    elif _some(surge) and (absent is None or _some(absent)):
        yield refused(
            (*base, "maxSurge"),
            f"is {surge}, but a DaemonSet that adds pods must not remove any first",
            "write maxUnavailable: 0, or delete maxSurge",
        )


def disruption_budget(data: Data) -> Iterator[Problem]:
    """Source: `ValidatePodDisruptionBudgetSpec` (Kubernetes v1.36)."""
    spec = data.get("spec")
    if not isinstance(spec, Mapping):
        return
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        yield refused(
            ("spec", "maxUnavailable"),
            "conflicts with minAvailable: a budget takes only one of them",
            "delete one of the two",
            key=True,
        )
    for field in ("minAvailable", "maxUnavailable"):
        share = spec.get(field)
        percent = _percent(share)
        if percent is not None and percent > 100:
            yield refused(("spec", field), f"is {share}, above 100%", "write at most 100%")


def _stuck(path: Path, field: str) -> Problem:
    return refused(
        path,
        "allows neither a pod more nor one less: the pods could never be replaced",
        f"raise {field} or maxUnavailable",
    )


def _none(value: object) -> bool:
    return (isinstance(value, int) and not isinstance(value, bool) and value == 0) or value == "0%"


def _some(value: object) -> bool:
    percent = _percent(value)
    if percent is not None:
        return percent > 0
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _percent(value: object) -> int | None:
    return digits(value[:-1]) if isinstance(value, str) and value[-1:] == "%" else None
