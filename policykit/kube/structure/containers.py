"""Names and probes of the containers of one pod."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policykit.kube.structure.problem import CONFLICTING, INCONSISTENT
from policykit.kube.structure.scalars import is_filled_in, is_placeholder
from policykit.manifests.path import Path, dotted
from policykit.manifests.problem import Problem

_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_HANDLERS = ("exec", "grpc", "httpGet", "tcpSocket")


def named_once(listed: object, path: Path, what: str) -> Iterator[Problem]:
    """Names in a list must be unique. `what` describes an item."""
    first: dict[str, Path] = {}
    for position, item in enumerate(listed if isinstance(listed, list) else ()):
        name = item.get("name") if isinstance(item, dict) else None
        if not isinstance(name, str) or not name or is_filled_in(name):
            continue
        place = (*path, position)
        if first.setdefault(name, place) != place:
            at = (*place, "name")
            message = f'{dotted(at)} is "{name}", which is also the name of {dotted(first[name])}'
            yield Problem(at, message, f"give each {what} a unique name", kind=INCONSISTENT)


def probes(container: dict[str, Any], place: Path, *, initial: bool) -> Iterator[Problem]:
    """What the API server rejects in the probes of a container of a built-in kind.

    Source: `validateLivenessProbe` and its like (v1.36).
    """
    for field in _PROBES:
        probe = container.get(field)
        if not isinstance(probe, dict) or "..." in probe or any(map(is_placeholder, probe)):
            continue
        at = (*place, field)
        if initial and container.get("restartPolicy") is None:  # one that stays, a sidecar, may have them
            message = f"{dotted(at)} is on an init container, which cannot have probes"
            yield Problem(
                at, message, "delete it, or write restartPolicy: Always", key=True, kind=CONFLICTING
            )
            continue
        yield from _handlers(probe, at)
        threshold = probe.get("successThreshold")
        if field != "readinessProbe" and isinstance(threshold, int) and threshold > 1:
            message = f"{dotted((*at, 'successThreshold'))} is {threshold}, but must be 1 for this probe"
            yield Problem((*at, "successThreshold"), message, "delete it: 1 is the default", kind=CONFLICTING)


def _handlers(probe: dict[str, Any], at: Path) -> Iterator[Problem]:
    written = [field for field in _HANDLERS if probe.get(field) is not None]
    if not written:
        message = f"{dotted(at)} has no handler: none of {', '.join(_HANDLERS)}"
        yield Problem(at, message, "add one of them: the API server requires it", key=True, kind=INCONSISTENT)
    elif len(written) > 1:
        other = (*at, written[1])
        message = f"{dotted(other)} conflicts with {written[0]}: a probe takes only one of them"
        yield Problem(other, message, "delete one of the two", key=True, kind=CONFLICTING)
