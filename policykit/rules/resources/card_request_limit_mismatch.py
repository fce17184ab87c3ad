"""A container requests an extended resource with invalid amounts.

Cards cannot be overcommitted or split: the amount must be an integer, the limit must be set, and a
request must equal the limit. The API server refuses such pods on creation, so a controller with
such a template creates none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from policykit.kube.names import is_extended
from policykit.kube.placeholders import is_placeholder
from policykit.kube.requests import containers
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.manifests.patch import Patch
from policykit.manifests.path import Path, lookup
from policykit.model.quantity import parse
from policykit.model.severity import Applicability, Severity
from policykit.placement.review import Review

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train
spec:
  containers:
  - name: main
    image: registry.example/train:1
    resources:
      requests:
        nvidia.com/gpu: 1
"""

GOOD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train
spec:
  containers:
  - name: main
    image: registry.example/train:1
    resources:
      requests:
        nvidia.com/gpu: 1
      limits:
        nvidia.com/gpu: 1
"""


_DEFAULTS = ("spec", "templateDefaults")
"""Defaults that Argo merges into every template of a workflow."""


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Reports the first problem per container and resource.

    Source: `validateResourceRequirements` (v1.36).
    """
    for base, resources, whole in _lists(review):
        requests, limits = _amounts(resources, "requests"), _amounts(resources, "limits")
        whole = whole and not any(map(is_placeholder, limits))
        for resource in dict.fromkeys((*limits, *requests)):
            if not isinstance(resource, str) or not is_extended(resource):
                continue
            if whole and _empty(resource, requests, limits):
                yield _no_amount((*base, "limits", resource))
            elif problem := _problem(resource, requests, limits, whole):
                side, message, advice = problem
                path = (*base, side, resource)
                yield Violation(path, message, advice, fix=partial(_fix, review, path))


def _lists(review: Review) -> Iterator[tuple[Path, Mapping[str, Any], bool]]:
    """Path and resources of each container, including Argo's templates, and whether they are complete."""
    data, pod_set, whole = review.manifest.data, review.pod_set, not review.manifest.partial
    for field, position, container in containers(pod_set.spec):
        resources = container.get("resources")
        if isinstance(resources, dict):
            yield pod_set.place(field, position, "resources"), resources, whole
    names = [device.resource for device in pod_set.devices]
    whole = whole and len(set(names)) == len(names) and lookup(data, _DEFAULTS) is None
    for base in dict.fromkeys(device.path[:-2] for device in pod_set.devices):
        resources = lookup(data, base)
        if base[-1:] == ("resources",) and isinstance(resources, dict):
            yield base, resources, whole


def _empty(resource: str, requests: Mapping[str, Any], limits: Mapping[str, Any]) -> bool:
    """Whether the limit has no amount, and neither has the request if there is one."""
    return resource in limits and limits[resource] is None and requests.get(resource) is None


def _no_amount(path: Path) -> Violation:
    """The API server reads null as 0. Source: apimachinery `resource.Quantity.UnmarshalJSON` (v0.36)."""
    return Violation(
        path,
        f"{path[-1]} has no amount, which means 0",
        "write the amount, or delete the line",
        Severity.WARNING,
        key=True,
    )


def _fix(review: Review, path: Path) -> Fix | None:
    """Adds a missing limit; other problems have no certain fix. An amount that the API server refuses as a
    request is not copied: it refuses it as a limit, too."""
    *_, side, resource = path
    resources = lookup(review.manifest.data, path[:-2])
    if side != "requests" or not isinstance(resources, dict):
        return None
    limits, amount = resources.get("limits"), lookup(resources, (side, resource))
    if isinstance(limits, dict) and resource in limits:
        return None
    if not _is_taken(amount) or not isinstance(limits, (dict, type(None))):
        return None
    patch = Patch("add", (*path[:-2], "limits", resource), amount)
    return Fix(f"write the same amount of {resource} under limits", (patch,), Applicability.SAFE)


def _is_taken(amount: object) -> bool:
    """Whether the API server takes it as an amount of cards, as far as it is filled in."""
    quantity = parse(amount)
    return is_placeholder(amount) if quantity is None else quantity.whole and quantity.nanos >= 0


def _amounts(resources: Mapping[str, Any], side: str) -> Mapping[str, Any]:
    amounts = resources.get(side)
    return amounts if isinstance(amounts, dict) else {}


def _problem(
    resource: str, requests: Mapping[str, Any], limits: Mapping[str, Any], whole: bool
) -> tuple[str, str, str] | None:
    """(requests or limits, message, help) of the first problem; invalid amounts are not checked."""
    for side, amounts in (("limits", limits), ("requests", requests)):
        quantity = parse(amounts.get(resource))
        if quantity is not None and not quantity.whole:
            return (
                side,
                f"{resource} is {amounts[resource]}, but extended resources require integers",
                "request whole cards, or the resource of a shared or partitioned card",
            )
    if resource not in limits:
        if not whole:
            return None
        return (
            "requests",
            f"{resource} is requested ({requests[resource]}) without a limit",
            f"write the same amount under limits: {resource}: {requests[resource]}"
            if _is_taken(requests[resource])
            else "write a whole number, and the same under limits",
        )
    requested, limit = parse(requests.get(resource)), parse(limits[resource])
    if requested is None or limit is None or requested.nanos == limit.nanos:
        return None
    return (
        "requests",
        f"{resource} has request {requests[resource]} but limit {limits[resource]}",
        "write the same amount for both, or only the limit, which is also used as the request",
    )


RULE = Rule(
    code="PK201",
    name="card-request-limit-mismatch",
    severity=Severity.ERROR,
    subject=Review,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    fix=Applicability.SAFE,
)
