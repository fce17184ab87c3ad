"""The spec of a Job wherever an object of Volcano carries it: its tasks, policies and topologies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.durations import is_signed_duration
from policykit.kube.names import dns_subdomain_problem
from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, text, texts, whole
from policykit.model.severity import Severity
from policykit.namedtuple import NamedTuple
from policykit.targets.volcano import versions
from policykit.targets.volcano.names import SPECS
from policykit.targets.volcano.versions import UPGRADE, Release, not_yet, suggestion

ANY = "*"
EVENTS: Mapping[str, Release] = {
    ANY: (),
    "PodFailed": (),
    "PodEvicted": (),
    "PodPending": versions.POD_PENDING[:2],
    "Unknown": (),
    "TaskCompleted": (),
    "TaskFailed": (),
    "JobUpdated": (),
}
_INTERNAL_EVENTS = frozenset({"PodRunning", "OutOfSync", "CommandIssued"})
"""Listed by the CRD, rejected by the webhook."""
ACTIONS: Mapping[str, Release] = {
    "AbortJob": (),
    "RestartJob": (),
    "RestartTask": (),
    "RestartPod": versions.POD_PENDING[:2],
    "RestartPartition": versions.RESTART_PARTITION[:2],
    "TerminateJob": (),
    "CompleteJob": (),
    "ResumeJob": (),
}


def policy_violations(
    listed: object, path: Path, have: Release | None, *, typed: bool = False
) -> Iterator[Violation]:
    """Of one list, by itself. Source: `webhooks/admission/jobs/validate/util.go` (1.8 to 1.15).

    `typed`: the kind's schema lists the events, so unknown ones are reported already.
    """
    seen: dict[str, int] = {}
    codes: set[int] = set()
    for number, policy in enumerate(listed if isinstance(listed, list) else ()):
        if not isinstance(policy, dict):
            continue
        place = (*path, number)
        events = _events(policy)
        yield from _form(policy, events, place)
        for event, where in events.items():
            yield from _event(event, (*place, *where), have, typed=typed)
        if events:
            yield from _action(policy.get("action"), place, have)
        else:
            yield from _exit_code(whole(policy.get("exitCode")), codes, (*place, "exitCode"))
        for event, where in events.items():
            if seen.setdefault(event, number) != number:
                yield Violation((*place, *where), f"event {event} has two policies", "keep one of them")
    if ANY in seen and len(seen) > 1:
        other = next(event for event in seen if event != ANY)
        message = f"event * covers all events, but {other} has a policy too"
        yield Violation(path, message, "keep * or the others")


def _exit_code(code: int | None, seen: set[int], path: Path) -> Iterator[Violation]:
    if code == 0:
        yield Violation(path, "exitCode is 0, which is not a failure", "write another code")
    elif code in seen:
        yield Violation(path, f"exitCode {code} has two policies", "keep one of them")
    if code is not None:
        seen.add(code)


def _events(policy: Mapping[str, Any]) -> dict[str, Path]:
    """Event to its place in the policy."""
    found: dict[str, Path] = {}
    if text(policy.get("event")):
        found[text(policy.get("event"))] = ("event",)
    listed = policy.get("events")
    for position, event in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(event, str):
            found.setdefault(event, ("events", position))
    return found


def _form(policy: Mapping[str, Any], events: Mapping[str, Path], place: Path) -> Iterator[Violation]:
    if events and policy.get("exitCode") is not None:
        yield Violation(
            (*place, "exitCode"),
            f"the policy has event {', '.join(events)} and an exitCode: only one is allowed",
            "write two policies",
            key=True,
        )
    written = [key for key in ("event", "events", "exitCode") if policy.get(key) not in (None, "", [])]
    if not written:
        yield Violation(place, "the policy has neither an event nor an exitCode", "add one of them")
    timeout = policy.get("timeout")
    if isinstance(timeout, str) and not is_signed_duration(timeout) and not is_placeholder(timeout):
        yield Violation(
            (*place, "timeout"),
            f"timeout {timeout!r} is not a duration: Volcano rejects the job",
            "write a duration such as 30s, 10m or 1h30m",
        )


def _event(event: str, path: Path, have: Release | None, *, typed: bool) -> Iterator[Violation]:
    if event in _INTERNAL_EVENTS:
        message = f"event {event} is internal to Volcano: the webhook rejects it"
        yield Violation(path, message, f"events: {', '.join(EVENTS)}")
    elif event in EVENTS:
        if message := not_yet(f"event {event}", EVENTS[event], have):
            yield Violation(path, message, UPGRADE)
    elif not typed and not is_placeholder(event):
        yield Violation(path, f"Volcano has no event {event!r}", suggestion(event, EVENTS, "events", 0.75))


def _action(action: object, place: Path, have: Release | None) -> Iterator[Violation]:
    if action is None:
        yield Violation(place, "the policy has no action", f"actions: {', '.join(ACTIONS)}")
    elif not isinstance(action, str) or is_placeholder(action):
        return
    elif action not in ACTIONS:
        message = f"Volcano has no job action {action!r}"
        yield Violation((*place, "action"), message, suggestion(action, ACTIONS, "actions", 0.75))
    elif message := not_yet(f"job action {action}", ACTIONS[action], have):
        yield Violation((*place, "action"), message, "use another action, or upgrade Volcano")


def without_timeout(listed: object, path: Path) -> Iterator[Path]:
    """Places of policies for PodPending that never act: they have no timeout."""
    for number, policy in enumerate(listed if isinstance(listed, list) else ()):
        each = mapping(policy)
        events = (text(each.get("event")), *texts(each.get("events")))
        if "PodPending" in events and each.get("timeout") in (None, ""):
            yield (*path, number)


TRAINING_GROUP = "training.volcano.sh"
_SUFFIX = "-0000000000"
"""What a CronJob appends to its name: the time."""


class Spec(NamedTuple):
    """The spec of a Job."""

    path: Path
    data: Mapping[str, Any]
    name: str = ""
    """Of the Job made from it, as long as it will be; empty: unknown."""


class Task(NamedTuple):
    """A task of a Job."""

    path: Path
    data: Mapping[str, Any]
    name: str
    """As the webhook fills it in."""


def specs(manifest: Manifest) -> Iterator[Spec]:
    """All of an object; none where it carries no Job."""
    if manifest.group == TRAINING_GROUP and manifest.kind == "HyperJob":
        listed = lookup(manifest.data, ("spec", "replicatedJobs"))
        for number, item in enumerate(listed if isinstance(listed, list) else ()):
            if found := mapping(mapping(item).get("templateSpec")):
                yield Spec(("spec", "replicatedJobs", number, "templateSpec"), found)
        return
    path = SPECS.get((manifest.group, manifest.kind))
    found = mapping(lookup(manifest.data, path)) if path else {}
    if path and found:
        yield Spec(path, found, _name(manifest))


def _name(manifest: Manifest) -> str:
    if not manifest.name or manifest.kind == "JobTemplate":
        return ""
    return manifest.name + (_SUFFIX if manifest.kind == "CronJob" else "")


def tasks(spec: Spec) -> list[Task]:
    """Items that are maps, with the names they get."""
    listed = spec.data.get("tasks")
    return [
        Task((*spec.path, "tasks", number), item, text(item.get("name")) or f"default{number}")
        for number, item in enumerate(listed if isinstance(listed, list) else ())
        if isinstance(item, dict)
    ]


def policy_lists(spec: Spec) -> Iterator[tuple[object, Path]]:
    """The policies of the job and of each of its tasks, with their paths."""
    yield spec.data.get("policies"), (*spec.path, "policies")
    for task in tasks(spec):
        yield task.data.get("policies"), (*task.path, "policies")


def both_tiers(topology: object, path: Path) -> Iterator[Violation]:
    """Rejected by the webhooks of Jobs and PodGroups (1.14 and 1.15)."""
    if not isinstance(topology, dict):
        return
    allowed, name = topology.get("highestTierAllowed"), topology.get("highestTierName")
    if allowed is not None and name not in (None, ""):
        yield Violation(
            (*path, "highestTierName"),
            f"networkTopology has both highestTierAllowed {allowed} and highestTierName {name}: only one is "
            "allowed",
            "remove one of them",
            key=True,
        )


_NAMES_OF_DNS = (1, 14)
"""The only release whose CRD of Jobs allows no other names of tiers, as volcano.sh/hypernode."""


def tier_name(spec: Spec, have: Release | None) -> Iterator[Violation]:
    """Source: `config/crd/volcano/bases/batch.volcano.sh_jobs.yaml` (1.14.0 to 1.14.4; not 1.15)."""
    if have is None or have[:2] != _NAMES_OF_DNS:
        return
    own = ((*spec.path, "networkTopology"), spec.data.get("networkTopology"))
    for path, topology in (own, *partition_topologies(spec)):
        name = text(mapping(topology).get("highestTierName"))
        if name and not is_placeholder(name) and (problem := dns_subdomain_problem(name)):
            message = f"highestTierName {name!r} {problem}, as Volcano 1.14 requires"
            yield Violation(
                (*path, "highestTierName"), message, "install 1.15, or give the tier another name"
            )


def never_succeeds(spec: Spec) -> Iterator[Violation]:
    """More pods must succeed than there are. Source: `controllers/job/state/running.go` (1.8 to 1.15)."""
    least = whole(spec.data.get("minSuccess"))
    numbers = [whole(task.data.get("replicas")) for task in tasks(spec)]
    total = sum(number or 0 for number in numbers)
    if least is not None and numbers and None not in numbers and least > total:
        message = f"minSuccess is {least}, but the tasks have {total} pods: the job always ends as Failed"
        yield Violation((*spec.path, "minSuccess"), message, f"write {total} or less", Severity.WARNING)


def lacks_tier(topology: object) -> bool:
    """Whether it is hard but names no tier, so that it holds nothing together."""
    if not isinstance(topology, dict):
        return False
    tier = topology.get("highestTierAllowed"), topology.get("highestTierName")
    return topology.get("mode") in (None, "", "hard") and all(each in (None, "") for each in tier)


Topologies = Iterator[tuple[Path, object]]
"""Paths of `networkTopology`, with their values."""


def partition_topologies(spec: Spec) -> Topologies:
    """Those of the partitions of a Job's tasks."""
    for task in tasks(spec):
        policy = task.data.get("partitionPolicy")
        if isinstance(policy, dict):
            yield (*task.path, "partitionPolicy", "networkTopology"), policy.get("networkTopology")


def sub_group_topologies(data: Mapping[str, Any]) -> Topologies:
    """Those of the sub-groups of a PodGroup."""
    listed = mapping(data.get("spec")).get("subGroupPolicy")
    for number, policy in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(policy, dict):
            yield ("spec", "subGroupPolicy", number, "networkTopology"), policy.get("networkTopology")
