"""Values in a scheduler configuration and in the args of its plugins that the scheduler refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from policykit.durations import exact_seconds
from policykit.kube.names import is_extended, label_key_problem
from policykit.kube.placeholders import is_placeholder
from policykit.kube.structure.validator import check_part
from policykit.linter.rule import Violation, violation_of
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, mappings, text, whole
from policykit.model.severity import Severity
from policykit.nearest import nearest
from policykit.rules.kubernetes import plugin_arguments
from policykit.rules.kubernetes.scheduler_fields import misspelt
from policykit.targets.kubernetes.scheduler.configuration import RATIO, STRATEGIES

_RATIO_ARGS = "requestedToCapacityRatio"
_REFUSED_TOGETHER = 36
"""Minor release that first refuses a shape with another strategy; earlier ones ignore it."""


def argument_violations(data: Mapping[str, Any], minor: int) -> Iterator[Violation]:
    """`minor`: of the Kubernetes release. Source: `apis/config/validation` of 1.36."""
    yield from _numbers(data)
    yield from _election(data)
    yield from _extenders(data.get("extenders"))
    profiles = data.get("profiles")
    for position, profile in enumerate(profiles if isinstance(profiles, list) else ()):
        if not isinstance(profile, dict):
            continue
        yield from _between(profile, ("percentageOfNodesToScore",), 0, 100, ("profiles", position))
        configs = profile.get("pluginConfig")
        for number, each in enumerate(configs if isinstance(configs, list) else ()):
            if not isinstance(each, dict):
                continue
            base: Path = ("profiles", position, "pluginConfig", number, "args")
            args, name = mapping(each.get("args")), text(each.get("name"))
            if name == "NodeResourcesFit":
                yield from _fit(args, base, minor)
            elif name in _ARGS:
                yield from _ARGS[name](args, base)
            elif name in plugin_arguments.PLUGINS and args:
                yield from plugin_arguments.violations(name, args, base)


def _numbers(data: Mapping[str, Any]) -> Iterator[Violation]:
    yield from _between(data, ("percentageOfNodesToScore",), 0, 100)
    yield from _between(data, ("parallelism",), 1, None)
    yield from _between(data, ("podInitialBackoffSeconds",), 1, None)
    initial, longest = whole(data.get("podInitialBackoffSeconds")), whole(data.get("podMaxBackoffSeconds"))
    first = 1 if initial is None else initial
    last = 10 if longest is None else longest
    if last < first and (initial is not None or longest is not None):
        where = "podInitialBackoffSeconds" if longest is None else "podMaxBackoffSeconds"
        yield Violation(
            (where,),
            f"podMaxBackoffSeconds {last} is below podInitialBackoffSeconds {first}",
            "raise the maximum or lower the initial backoff",
        )


def _between(
    data: Mapping[str, Any], path: Path, least: int, most: int | None, base: Path = ()
) -> Iterator[Violation]:
    value = whole(lookup(data, path))
    if value is not None and (value < least or (most is not None and value > most)):
        wrong = f"above {most}" if most is not None and value > most else f"below {least}"
        bounds = f"at least {least}" if most is None else f"a number from {least} to {most}"
        yield Violation((*base, *path), f"{path[-1]} is {value}, {wrong}", f"write {bounds}")


def _election(data: Mapping[str, Any]) -> Iterator[Violation]:
    election = mapping(data.get("leaderElection"))
    lock = election.get("resourceLock")
    elects = election.get("leaderElect") is not False and not is_placeholder(lock)
    if elects and isinstance(lock, str) and lock not in ("", "leases"):
        yield Violation(
            ("leaderElection", "resourceLock"),
            f"resourceLock is {lock}, but only leases is supported",
            "write leases, or delete the line",
        )
    if election.get("leaderElect") is not False:
        yield from _periods(election)


_PERIODS: Mapping[str, str] = {"leaseDuration": "15s", "renewDeadline": "10s", "retryPeriod": "2s"}
"""And their defaults."""
_JITTER = 1.2


def _periods(election: Mapping[str, Any]) -> Iterator[Violation]:
    """Each must be shorter than the one before. Source: `NewLeaderElector` of client-go (v1.36)."""
    stated = {name: text(election.get(name)) for name in _PERIODS if name in election}
    if not stated:
        return
    lasting = {name: stated.get(name, default) for name, default in _PERIODS.items()}
    lease, renew, retry = (exact_seconds(each) for each in lasting.values())
    if lease and renew and lease <= renew:
        yield _too_long("renewDeadline", "leaseDuration", "longer than", lasting, stated)
    if renew and retry and renew <= _JITTER * retry:
        yield _too_long("retryPeriod", "renewDeadline", f"more than {_JITTER:g} times", lasting, stated)


def _too_long(
    short: str, long: str, bound: str, lasting: Mapping[str, str], stated: Mapping[str, str]
) -> Violation:
    """At the one that is stated."""
    usual = "" if {short, long} <= {*stated} else " by default"
    there, other = (short, long) if short in stated else (long, short)
    return Violation(
        ("leaderElection", there),
        f"{there} is {lasting[there]} and {other} {lasting[other]}{usual}, but {long} must be {bound} "
        f"{short}: the scheduler does not start",
        "the defaults are " + ", ".join(f"{name} {default}" for name, default in _PERIODS.items()),
    )


def _extenders(listed: object) -> Iterator[Violation]:
    binders = 0
    managed: set[str] = set()
    for position, each in enumerate(listed if isinstance(listed, list) else ()):
        extender = mapping(each)
        base: Path = ("extenders", position)
        weight = whole(extender.get("weight"))
        if (
            extender.get("prioritizeVerb")
            and (weight or 0) <= 0
            and not is_placeholder(extender.get("weight"))
        ):
            yield Violation(
                (*base, "weight"),
                f"the extender scores nodes (prioritizeVerb) with weight {weight or 0}",
                "write a weight above 0",
            )
        verbs = any(isinstance(key, str) and key.endswith("Verb") for key in extender)
        if verbs and not extender.get("urlPrefix") and extender.get("ignorable") is not True:
            yield Violation(
                base,
                "the extender has no urlPrefix: each call of it fails, and no pod is placed",
                "write the address of its service",
            )
        binders += bool(extender.get("bindVerb"))
        if extender.get("bindVerb") and binders == 2:
            yield Violation(
                (*base, "bindVerb"), "two extenders bind pods, but only one may", "remove it from one of them"
            )
        for number, resource in enumerate(mappings(extender.get("managedResources"))):
            name = text(resource.get("name"))
            path = (*base, "managedResources", number, "name")
            if name and not is_placeholder(name) and not is_extended(name):
                yield Violation(
                    path, f"{name} is not an extended resource", "write DOMAIN/NAME, such as nvidia.com/gpu"
                )
            elif name and name in managed:
                yield Violation(path, f"two extenders manage {name}", "remove it from one of them")
            managed.add(name)


def _balanced(args: Mapping[str, Any], base: Path) -> Iterator[Violation]:
    seen: set[str] = set()
    listed = args.get("resources")
    for position, each in enumerate(listed if isinstance(listed, list) else ()):
        name, weight = text(mapping(each).get("name")), whole(mapping(each).get("weight"))
        path = (*base, "resources", position)
        if name and name in seen:
            yield Violation((*path, "name"), f"{name} is listed twice", "list every resource once")
        seen.add(name)
        if weight not in (None, 0, 1):
            yield Violation(
                (*path, "weight"),
                f"weight of {name or 'a resource'} is {weight}, but NodeResourcesBalancedAllocation takes 1",
                "delete it; weigh resources in NodeResourcesFit",
            )


def _affinity(args: Mapping[str, Any], base: Path) -> Iterator[Violation]:
    yield from _between(args, ("hardPodAffinityWeight",), 0, 100, base)


def _added_affinity(args: Mapping[str, Any], base: Path) -> Iterator[Violation]:
    """Source: `ValidateNodeAffinityArgs` of kube-scheduler 1.36: as the node affinity of a pod."""
    added = args.get("addedAffinity")
    if not isinstance(added, dict):
        return
    for problem in check_part("NodeAffinity", dict(added)):
        yield violation_of(problem._replace(severity=None), (*base, "addedAffinity"))


def _spread(args: Mapping[str, Any], base: Path) -> Iterator[Violation]:
    constraints, kind = args.get("defaultConstraints"), args.get("defaultingType")
    if constraints and kind != "List" and not is_placeholder(kind):
        yield Violation(
            (*base, "defaultConstraints"),
            f"defaultConstraints need defaultingType List, but it is {kind or 'System (by default)'}",
            "write defaultingType: List",
            key=True,
        )
    seen: set[tuple[object, object]] = set()
    for position, each in enumerate(constraints if isinstance(constraints, list) else ()):
        constraint = mapping(each)
        path = (*base, "defaultConstraints", position)
        if constraint.get("labelSelector") is not None:
            yield Violation(
                (*path, "labelSelector"),
                "a default constraint has a labelSelector, but each pod's Service or controller gives it",
                "delete it",
                key=True,
            )
        yield from _between(constraint, ("maxSkew",), 1, None, path)
        pair = (text(constraint.get("topologyKey")), text(constraint.get("whenUnsatisfiable")))
        if pair in seen:
            yield Violation(path, f"two constraints have {pair[0]} with {pair[1]}", "keep one of them")
        seen.add(pair)


def _preemption(args: Mapping[str, Any], base: Path) -> Iterator[Violation]:
    share, number = "minCandidateNodesPercentage", "minCandidateNodesAbsolute"
    yield from _between(args, (share,), 0, 100, base)
    yield from _between(args, (number,), 0, None, base)
    if args.get(share) == 0 == args.get(number):
        yield Violation(
            (*base, share), f"{share} and {number} are both 0", "give one of them a number above 0"
        )


def _binding(args: Mapping[str, Any], base: Path) -> Iterator[Violation]:
    yield from _between(args, ("bindTimeoutSeconds",), 0, None, base)


def _fit(args: Mapping[str, Any], base: Path, minor: int) -> Iterator[Violation]:
    """Source: `ValidateNodeResourcesFitArgs` and `fitsRequest` of kube-scheduler 1.36."""
    for position, name in enumerate(_listed(args.get("ignoredResources"))):
        if not isinstance(name, str) or is_placeholder(name):
            continue
        path = (*base, "ignoredResources", position)
        if problem := label_key_problem(name):
            yield Violation(path, f"{name!r} {problem}", "write DOMAIN/NAME")
        elif not is_extended(name):
            what = f"{name} is not an extended resource: NodeResourcesFit does not ignore it"
            yield Violation(path, what, "delete it", Severity.WARNING)
    for position, name in enumerate(_listed(args.get("ignoredResourceGroups"))):
        if isinstance(name, str) and "/" in name:
            yield Violation(
                (*base, "ignoredResourceGroups", position),
                f"{name} has a '/', but a group is the part before it",
                f"write {name.partition('/')[0]}",
            )
    strategy = args.get("scoringStrategy")
    if isinstance(strategy, dict):
        yield from _strategy(strategy, (*base, "scoringStrategy"), minor)


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _strategy(strategy: Mapping[str, Any], base: Path, minor: int) -> Iterator[Violation]:
    kind = strategy.get("type")
    if kind is None or kind == "":
        if misspelt(strategy, "type"):
            return
        yield Violation(
            base,
            "scoringStrategy has no type, and there is no default",
            f"set type to one of {', '.join(STRATEGIES)}",
        )
    elif isinstance(kind, str) and kind not in STRATEGIES and not is_placeholder(kind):
        near = nearest(kind, STRATEGIES, 0.6)
        yield Violation(
            (*base, "type"),
            f"type is {kind}, not one of {', '.join(STRATEGIES)}",
            f"did you mean {near}?" if near else "use one of them",
        )
    for position, each in enumerate(_listed(strategy.get("resources"))):
        weight = whole(mapping(each).get("weight"))
        if weight is not None and not 0 <= weight <= 100:
            yield Violation(
                (*base, "resources", position, "weight"),
                f"weight of {text(mapping(each).get('name')) or 'a resource'} is {weight}, outside 1 to 100",
                "only the ratio of the weights matters: scale all of them down",
            )
    ratio = strategy.get(_RATIO_ARGS)
    if kind == RATIO:
        yield from _shape(mapping(ratio).get("shape"), base)
    elif kind in STRATEGIES and ratio is not None:
        refused = minor >= _REFUSED_TOGETHER
        yield Violation(
            (*base, _RATIO_ARGS),
            f"{_RATIO_ARGS} is set, but type is {kind}" + ("" if refused else ": it is ignored"),
            f"write type: {RATIO}, or delete it",
            None if refused else Severity.WARNING,
            key=True,
        )


def _shape(shape: object, base: Path) -> Iterator[Violation]:
    path = (*base, _RATIO_ARGS, "shape")
    if not isinstance(shape, list) or not shape:
        yield Violation(
            path, f"{RATIO} needs a shape of at least one point", "add points with utilization and score"
        )
        return
    before: int | None = None
    for position, each in enumerate(shape):
        point = mapping(each)
        used, score = whole(point.get("utilization")), whole(point.get("score"))
        used = 0 if used is None and "utilization" not in point else used
        if used is not None and not 0 <= used <= 100:
            yield Violation(
                (*path, position, "utilization"),
                f"utilization is {used}, outside 0 to 100",
                "write a percentage",
            )
        elif used is not None and before is not None and used <= before:
            yield Violation(
                (*path, position, "utilization"),
                f"utilization {used} comes after {before}, but must increase",
                "sort the points by utilization, each value once",
            )
        if score is not None and not 0 <= score <= 10:
            yield Violation((*path, position, "score"), f"score is {score}, outside 0 to 10", "write 0 to 10")
        before = used if used is not None else before


_ARGS: Mapping[str, Callable[[Mapping[str, Any], Path], Iterator[Violation]]] = {
    "NodeResourcesBalancedAllocation": _balanced,
    "InterPodAffinity": _affinity,
    "NodeAffinity": _added_affinity,
    "PodTopologySpread": _spread,
    "DefaultPreemption": _preemption,
    "VolumeBinding": _binding,
}
