"""A container requests a card by a resource name that no device plugin offers.

No node has such a resource, so the pod stays pending. Common mistakes are a node label instead of a
resource, a name without the vendor's domain, a card model instead of the resource, the wrong case,
and `+` instead of `.` in the name of a MIG profile. A MIG profile that no known card has, a domain that is
nearly a vendor's, `gpu` under the domain of a vendor whose cards have another name, and a name that newer
plugins no longer offer are told as warnings.

The API server refuses every other name without a domain but cpu, memory, ephemeral-storage and hugepages-*:
`storage` too, which only a claim of a volume has.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from policykit.catalogue.resources import resource
from policykit.kube.placeholders import is_placeholder
from policykit.kube.requests import containers
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.manifests.memoize import memoize_beside
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping
from policykit.model.severity import Applicability, Severity
from policykit.placement.card_requests import rename_resource
from policykit.placement.review import Review

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

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
      limits:
        nvidia.com/a100: 1
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
      limits:
        nvidia.com/gpu: 1
"""

_COMPUTE = frozenset({"cpu", "memory", "ephemeral-storage"})


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Reports each name once per container, but no names with unknown domains."""
    for path, name in _requested(review):
        if _offered(review.cluster, name):
            continue
        known = resource(name)
        if known is None:
            yield from _misspelt(review, path, name)
        elif known.role == "partition" and name.startswith(_SLICES):
            yield from _unlikely(path, name)
        elif known.gone:
            yield from _gone(review, path, name, known.gone)
        elif known.role == "accounting" and not review.is_system_pod:
            yield Violation(
                path,
                f"{name} is for the device plugin's accounting, and pods must not request it",
                "request the card itself",
                Severity.WARNING,
                key=True,
            )


_SLICES = "nvidia.com/mig-"


def _gone(review: Review, path: Path, name: str, release: str) -> Iterator[Violation]:
    from policykit.catalogue.suggestions import main_resource

    meant = main_resource(name)
    yield Violation(
        path,
        f"{name} is offered by no device plugin from {release} on",
        _advice(meant),
        Severity.WARNING,
        key=True,
        fix=partial(_fix, review, path, name, meant[0]) if meant else None,
    )


def _unlikely(path: Path, name: str) -> Iterator[Violation]:
    from policykit.catalogue.suggestions import unlikely

    problem = unlikely(name)
    if problem:
        message, meant = problem
        yield Violation(path, f"{name} {message}", _advice(meant), Severity.WARNING, key=True)


def _misspelt(review: Review, path: Path, name: str) -> Iterator[Violation]:
    from policykit.catalogue.suggestions import may_be_renamed, resource_problem

    problem = resource_problem(name)
    if problem:
        message, meant = problem
        beside = [key for key in mapping(lookup(review.manifest.data, path[:-1])) if isinstance(key, str)]
        if may_be_renamed(name, beside):
            message += " unless HAMi is configured with the name"
            yield Violation(path, f"{name} {message}", _advice(meant), Severity.WARNING, key=True)
            return
        fix = partial(_fix, review, path, name, meant[0]) if len(meant) == 1 else None
        yield Violation(path, f"{name} {message}", _advice(meant), key=True, fix=fix)
    elif "/" in name:
        yield from _unlikely(path, name)
    elif path[-3:-2] == ("resources",) and not name.startswith(_PAGES) and not is_placeholder(name):
        yield from _bare(path, name)


_PAGES = "hugepages-"


def _bare(path: Path, name: str) -> Iterator[Violation]:
    """Source: `validateContainerResourceName` (v1.36)."""
    from policykit.nearest import Names

    near = Names(_COMPUTE).nearest(name.lower())
    advice = f"did you mean {near}?" if near else "write the domain of the resource before it, or delete it"
    if name == "storage":
        advice = "write ephemeral-storage for the disk of the node, or the size into the claim of a volume"
    yield Violation(
        path, f"{name} is not a resource of a container: the API server refuses the pod", advice, key=True
    )


def _fix(review: Review, path: Path, name: str, meant: str) -> Fix | None:
    patches = rename_resource(review.manifest.data, path[:-2], name, meant)
    return Fix(f"request {meant}", patches, Applicability.UNSAFE) if patches else None


def _requested(review: Review) -> Iterator[tuple[Path, str]]:
    pod_set = review.pod_set
    for field, position, container in containers(pod_set.spec):
        resources = container.get("resources")
        places: dict[str, Path] = {}
        for side in ("limits", "requests"):
            amounts = resources.get(side) if isinstance(resources, dict) else None
            for name in amounts if isinstance(amounts, dict) else ():
                if isinstance(name, str) and not _is_usual(name):
                    places.setdefault(name, pod_set.place(field, position, "resources", side, name))
        yield from ((path, name) for name, path in places.items())
    for device in pod_set.devices:
        if not _is_usual(device.resource):
            yield device.path, device.resource


@lru_cache(maxsize=1024)  # a tree has few names
def _is_usual(name: str) -> bool:
    """Whether there is nothing to say of it under any policy."""
    known = resource(name)
    if known is None:
        return name in _COMPUTE
    return known.role != "accounting" and not known.gone and not name.startswith(_SLICES)


@memoize_beside
def _offered(cluster: Cluster | None, name: str) -> bool:
    """Whether the policy lists the resource, even if the catalogue does not."""
    pools = cluster.pools if cluster else ()
    return any(name in pool.resources or any(name in s.allocatable for s in pool.shapes) for pool in pools)


def _advice(meant: tuple[str, ...]) -> str:
    if not meant:
        return "request a resource that `kubectl describe node` lists under Allocatable"
    return f"did you mean {' or '.join(meant)}?"


RULE = Rule(
    code="PK211",
    name="unknown-card-resource",
    severity=Severity.ERROR,
    subject=Review,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    fix=Applicability.UNSAFE,
)
