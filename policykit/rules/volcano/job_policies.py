"""Policies of jobs and tasks: what is done about an event or an exit code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.catalogue.volcano.argument import Release, release_text
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, text, texts, whole
from policykit.nearest import nearest
from policykit.targets.volcano.checks.values import is_duration

ANY = "*"
EVENTS: Mapping[str, Release] = {
    ANY: (),
    "PodFailed": (),
    "PodEvicted": (),
    "PodPending": (1, 11),
    "Unknown": (),
    "TaskCompleted": (),
    "TaskFailed": (),
    "JobUpdated": (),
}
_INTERNAL_EVENTS = frozenset({"PodRunning", "OutOfSync", "CommandIssued"})
"""Listed by the CRD, refused by the webhook."""
ACTIONS: Mapping[str, Release] = {
    "AbortJob": (),
    "RestartJob": (),
    "RestartTask": (),
    "RestartPod": (1, 11),
    "RestartPartition": (1, 14),
    "TerminateJob": (),
    "CompleteJob": (),
    "ResumeJob": (),
}


def faults(listed: object, path: Path, have: Release | None, *, typed: bool = False) -> Iterator[Violation]:
    """Of one list, by itself. Source: `webhooks/admission/jobs/validate/util.go` (1.8 to 1.15).

    `typed`: the kind's schema lists the events, so unknown ones are told already.
    """
    seen: dict[str, int] = {}
    codes: set[int] = set()
    for number, policy in enumerate(listed if isinstance(listed, list) else ()):
        if not isinstance(policy, Mapping):
            continue
        place = (*path, number)
        events = _events(policy)
        code = whole(policy.get("exitCode"))
        yield from _form(policy, events, place)
        if events:
            yield from _names(policy, events, place, have, typed=typed)
        elif code is not None:
            if code == 0:
                yield Violation(
                    (*place, "exitCode"), "exitCode is 0, which is no failure", "write another code"
                )
            elif code in codes:
                yield Violation((*place, "exitCode"), f"exitCode {code} has two policies", "keep one of them")
            codes.add(code)
        for event, where in events.items():
            if event in seen and seen[event] != number:
                yield Violation((*place, *where), f"event {event} has two policies", "keep one of them")
            seen.setdefault(event, number)
    if ANY in seen and len(seen) > 1:
        other = next(event for event in seen if event != ANY)
        yield Violation(
            path, f"event * stands for all events, and {other} has a policy too", "keep * or the others"
        )


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
            f"the policy names event {', '.join(events)} and an exitCode: it may have one of them",
            "make two policies of it",
            key=True,
        )
    written = [key for key in ("event", "events", "exitCode") if policy.get(key) not in (None, "", [])]
    if not written:
        yield Violation(place, "the policy names no event and no exitCode", "say what it is about")
    timeout = policy.get("timeout")
    if isinstance(timeout, str) and not is_duration(timeout) and not is_placeholder(timeout):
        yield Violation(
            (*place, "timeout"),
            f"timeout {timeout!r} is no duration: Volcano refuses the job",
            "write a duration such as 30s, 10m or 1h30m",
        )


def _names(
    policy: Mapping[str, Any], events: Mapping[str, Path], place: Path, have: Release | None, *, typed: bool
) -> Iterator[Violation]:
    for event, where in events.items():
        since = EVENTS.get(event, ())
        if event in _INTERNAL_EVENTS:
            known = ", ".join(EVENTS)
            yield Violation(
                (*place, *where),
                f"event {event} is Volcano's own, the webhook refuses it",
                f"events are {known}",
            )
        elif event not in EVENTS and not typed and not is_placeholder(event):
            near = nearest(event, tuple(EVENTS), 0.75)
            yield Violation(
                (*place, *where),
                f"event {event!r} is none that Volcano knows",
                f"did you mean {near}?" if near else f"events are {', '.join(EVENTS)}",
            )
        elif have and since and have < since:
            yield Violation(
                (*place, *where),
                f"event {event} is known since Volcano {release_text(since)}, and the policy has "
                f"{release_text(have)}",
                "take it out, or install a newer release",
            )
    action = policy.get("action")
    if isinstance(action, str) and not is_placeholder(action) and action not in ACTIONS:
        near = nearest(action, tuple(ACTIONS), 0.75)
        yield Violation(
            (*place, "action"),
            f"action {action!r} is none that a job may ask for",
            f"did you mean {near}?" if near else f"actions are {', '.join(ACTIONS)}",
        )
    elif action is None:
        yield Violation(place, "the policy has no action", f"actions are {', '.join(ACTIONS)}")
    elif isinstance(action, str) and have and ACTIONS.get(action, ()) > have:
        yield Violation(
            (*place, "action"),
            f"action {action} is known since Volcano {release_text(ACTIONS[action])}, and the policy has "
            f"{release_text(have)}",
            "take another, or install a newer release",
        )


def pending(listed: object, path: Path) -> Iterator[Path]:
    """Places of policies for PodPending that never come to act: they have no timeout."""
    for number, policy in enumerate(listed if isinstance(listed, list) else ()):
        said = mapping(policy)
        events = (text(said.get("event")), *texts(said.get("events")))
        if "PodPending" in events and said.get("timeout") in (None, ""):
            yield (*path, number)
