"""Built-in kinds: rollouts, disruption budgets, schedules, LimitRanges, and the file of a kubelet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.kube import cron
from policykit.kube.names import is_extended, is_hugepages
from policykit.kube.placeholders import is_filled_in
from policykit.kube.structure.admission.checks import Data, mappings, refused
from policykit.kube.structure.conflicts import fractions
from policykit.kube.structure.problem import BAD_VALUE, located
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import digits
from policykit.model.quantity import parse
from policykit.nearest import nearest


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
        "allows neither an extra pod nor a missing one, so the pods can never be replaced",
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


_HELP = "write minute, hour, day of the month, month and day of the week, as in `0 2 * * *`"


def cron_job(data: Data) -> Iterator[Problem]:
    """Source: `validateScheduleFormat` (Kubernetes v1.36): a time zone has a field of its own."""
    schedule = lookup(data, ("spec", "schedule"))
    if not isinstance(schedule, str) or not schedule or is_filled_in(schedule):
        return
    if schedule.startswith(("TZ=", "CRON_TZ=")):
        zone, _, rest = schedule.partition(" ")
        advice = f"write schedule: {rest!r} and timeZone: {zone.partition('=')[2]}"
        yield refused(("spec", "schedule"), "states a time zone, which belongs to timeZone", advice)
    elif wrong := cron.problem(schedule):
        yield refused(("spec", "schedule"), wrong, _HELP)


_PAIRS = (
    ("min", "max"),
    ("min", "defaultRequest"),
    ("min", "default"),
    ("defaultRequest", "max"),
    ("defaultRequest", "default"),
    ("default", "max"),
)
"""The first must not be above the second."""
_FIELDS = ("default", "defaultRequest", "max", "min")


def limit_range(data: Data) -> Iterator[Problem]:
    """Source: `ValidateLimitRange` (Kubernetes v1.36)."""
    seen: dict[object, int] = {}
    for position, item in mappings(lookup(data, ("spec", "limits"))):
        base: Path = ("spec", "limits", position)
        kind = item.get("type")
        if isinstance(kind, str) and seen.setdefault(kind, position) != position:
            yield refused(
                (*base, "type"), f"is {kind}, which spec.limits[{seen[kind]}] has too", "merge the two"
            )
        if kind == "Pod":
            for field in ("default", "defaultRequest"):
                if item.get(field):
                    advice = "set defaults of containers: type: Container"
                    yield refused((*base, field), "may not be set for type Pod", advice, key=True)
            continue
        yield from _amounts(item, base)
        for field in _FIELDS:
            for problem in fractions(item.get(field), (field,)):
                yield located(problem, base)


def resource_quota(data: Data) -> Iterator[Problem]:
    """Source: as of pods, although the API server warns only there."""
    for problem in fractions(lookup(data, ("spec", "hard")), ("hard",)):
        yield located(problem, ("spec",))


def _amounts(item: Data, base: Path) -> Iterator[Problem]:
    said: set[str] = set()
    for low, high in _PAIRS:
        lower, upper = item.get(low), item.get(high)
        if not isinstance(lower, dict) or not isinstance(upper, dict):
            continue
        for name in lower:
            least, most = parse(lower[name]), parse(upper.get(name))
            if name in said or least is None or most is None or least.nanos <= most.nanos:
                continue
            said.add(name)
            yield refused(
                (*base, low, name),
                f"is {lower[name]}, above {high} {upper[name]}",
                f"raise {high} or lower {low}",
            )
    yield from _whole(item, base, said)


def _whole(item: Data, base: Path, said: set[str]) -> Iterator[Problem]:
    """Resources that cannot be overcommitted are requested as they are limited."""
    requested, limit = item.get("defaultRequest"), item.get("default")
    if not isinstance(requested, dict) or not isinstance(limit, dict):
        return
    for name in requested:
        if name in said or not isinstance(name, str) or not (is_extended(name) or is_hugepages(name)):
            continue
        asked, most = parse(requested[name]), parse(limit.get(name))
        if asked is not None and most is not None and asked.nanos != most.nanos:
            yield refused(
                (*base, "defaultRequest", name),
                f"is {requested[name]}, but default is {limit[name]}: {name} cannot be overcommitted",
                "write the same amount in both",
            )


_KNOWN: Mapping[str, tuple[str, ...]] = {
    "cpuManagerPolicy": ("none", "static"),
    "memoryManagerPolicy": ("None", "Static", "BestEffort"),
    "topologyManagerPolicy": ("none", "best-effort", "restricted", "single-numa-node"),
    "topologyManagerScope": ("container", "pod"),
}


def kubelet_configuration(data: Data) -> Iterator[Problem]:
    """Source: `ValidateKubeletConfiguration` and the managers it starts (Kubernetes v1.36)."""
    for field, known in _KNOWN.items():
        value = data.get(field)
        if isinstance(value, str) and value and value not in known and not is_filled_in(value):
            close = nearest(value, known)
            advice = f"did you mean {close}?" if close else f"known: {', '.join(known)}"
            yield refused((field,), f"is {value}: the kubelet does not start", advice, kind=BAD_VALUE)
