"""Slinky: clusters of Slurm."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.durations import exact_seconds
from policykit.kube.names import dns_subdomain_problem
from policykit.kube.placeholders import is_filled_in
from policykit.kube.structure.admission.checks import Data, alternatives, name_of, one_of, refused
from policykit.kube.structure.problem import INCONSISTENT
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping
from policykit.model.severity import Severity

_API = "the API server refuses it"
_WHO = "Slinky's webhook refuses it"
_LONGEST = 40
_SHORTEST = 60
"""Seconds of a scheduled update."""
_STRATEGIES = ("RollingUpdate", "OnDelete", "ScheduledUpdate")
_JWT = ("jwtKeyRef", "jwtHs256KeyRef")


def controller(data: Data) -> Iterator[Problem]:
    """Sources: the rules of the CRD Controller and the webhook (1.0 to 1.2)."""
    if not str(data.get("apiVersion")).endswith("/v1beta1"):
        return
    spec = mapping(data.get("spec"))
    name = name_of(spec, "clusterName")
    if len(name) > _LONGEST:
        what = f"has {len(name)} characters, more than {_LONGEST}"
        yield refused(("spec", "clusterName"), what, f"shorten it: {_WHO}")
    external = spec.get("external")
    if external is True:
        yield from alternatives(spec, ("spec",), ("externalConfig",), _API, needed=True)
    elif spec and not external:
        yield from alternatives(spec, ("spec",), ("slurmKeyRef",), _API, needed=True)
        yield from alternatives(spec, ("spec",), _JWT, _API, needed=not any(spec.get(key) for key in _JWT))


def login_set(data: Data) -> Iterator[Problem]:
    """Source: `validateLoginSet` (1.2)."""
    for field in ("controllerRef", "sssdConfRef"):
        yield from _unnamed(data, ("spec", field))


def node_set(data: Data) -> Iterator[Problem]:
    """Sources: the rules of the CRD NodeSet and `validateNodeSet` (1.0 to 1.2, most of them since 1.2)."""
    yield from _unnamed(data, ("spec", "controllerRef"))
    spec = mapping(data.get("spec"))
    if lookup(spec, ("ssh", "enabled")) is True:
        yield from _unnamed(data, ("spec", "ssh", "sssdConfRef"))
    base: Path = ("spec", "updateStrategy")
    strategy = mapping(lookup(data, base))
    yield from one_of(strategy, ("type",), _STRATEGIES, _WHO, base)
    least = lookup(strategy, ("rollingUpdate", "maxUnavailable"))
    if least == "0%" or (least == 0 and not isinstance(least, bool)):
        at = (*base, "rollingUpdate", "maxUnavailable")
        yield refused(at, f"is {least}: no pod is ever updated", f"write 1 or more: {_WHO}", Severity.WARNING)
    if strategy.get("type") == "ScheduledUpdate":
        yield from _scheduled(mapping(strategy.get("scheduledUpdate")), (*base, "scheduledUpdate"))
    host = lookup(spec, ("template", "spec", "hostname"))
    if isinstance(host, str) and host and not is_filled_in(host):
        fault = dns_subdomain_problem(host.rstrip("-") + "0")
        if fault:
            at = ("spec", "template", "spec", "hostname")
            yield refused(at, f"is {host}, which {fault}", f"write another name: {_WHO}")
    yield from _extra(name_of(spec, "extraConf"))


def _scheduled(update: Data, path: Path) -> Iterator[Problem]:
    for field in ("startTime", "duration"):
        if update.get(field) is None:
            what = f"has no {field}"
            yield refused(path, what, f"add {field}: {_API}", Severity.WARNING, kind=INCONSISTENT)
    stated = update.get("duration")
    took = exact_seconds(stated) if isinstance(stated, str) else None
    if took is not None and 0 < took < _SHORTEST:
        at = (*path, "duration")
        yield refused(at, f"is {stated}", f"write 1m or more: {_WHO}", Severity.WARNING)


def _extra(written: str) -> Iterator[Problem]:
    """Settings of a Slurm node, `Name=Value` with spaces between."""
    for word in written.split():
        if "=" not in word and "'" not in written and '"' not in written:
            what = f"has {word}, which is not Name=Value"
            at = ("spec", "extraConf")
            yield refused(at, what, f"write a value after `=`: {_WHO}", Severity.WARNING)
            return


def _unnamed(data: Data, path: Path) -> Iterator[Problem]:
    """A reference without a name, which the schema does not require."""
    has, reference = isinstance(lookup(data, path), dict), mapping(lookup(data, path))
    if isinstance(lookup(data, path[:-1]), dict) and not reference.get("name"):
        where = (*path, "name") if has and "name" in reference else path if has else path[:-1]
        what = "is empty" if where == (*path, "name") else "has no name" if has else f"has no {path[-1]}"
        yield refused(where, what, f"write the name: {_WHO}", Severity.WARNING, kind=INCONSISTENT)
