"""The cluster's release does not support a form of Kubernetes' own gangs.

The Workload and PodGroup API changed in each release: in 1.35 pods name a Workload, 1.36 added
PodGroup, and 1.37 has other API versions and gangs of Jobs. What a release does not know is refused
or silently dropped. A group has one policy, basic or gang, and a name of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.names import dns_label_problem
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets import pod_sets
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest, words
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import numbered, text, whole
from policykit.model.severity import Severity
from policykit.targets.kubernetes.versions import parse

BAD = """\
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata:
  name: train
spec:
  schedulingPolicy:
    gang:
      minCount: 0
"""

GOOD = BAD.replace("minCount: 0", "minCount: 4")

_GROUP = "scheduling.k8s.io"
_KINDS = ("Workload", "PodGroup", "CompositePodGroup")
_SERVED: dict[str, tuple[int, int | None]] = {
    "v1alpha1": (35, 35),
    "v1alpha2": (36, 36),
    "v1alpha3": (37, None),
    "v1beta1": (37, None),
}
"""API version to the first and last minor release that serve it; None: the newest known still does."""
_REF, _GROUP_FIELD = "workloadRef", "schedulingGroup"
_TEMPLATES = 8


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Objects of the API, pods that join a gang, and Jobs that request one."""
    version = context.cluster.kubernetes_version if context.cluster else ""
    minor = parse(version).minor if version else None
    if manifest.group == _GROUP and manifest.kind in _KINDS:
        yield from _object(manifest, minor)
    elif (manifest.group, manifest.kind) == ("batch", "Job"):
        yield from _job(manifest, minor)
    if not words(manifest.data).keys.isdisjoint((_REF, _GROUP_FIELD)) and manifest.group != _GROUP:
        yield from _pods(manifest, minor)


def _object(manifest: Manifest, minor: int | None) -> Iterator[Violation]:
    served = _SERVED.get(manifest.api_version.rpartition("/")[2])
    if (
        minor is not None
        and served
        and not (served[0] <= minor and (served[1] is None or minor <= served[1]))
    ):
        yield Violation(
            ("apiVersion",),
            f"{manifest.api_version} {manifest.kind} requires Kubernetes {_span(*served)}, "
            f"but the cluster is 1.{minor}",
            _alternative(minor),
        )
    yield from _minimum(manifest, ("spec", "schedulingPolicy", "gang", "minCount"))
    yield from _policy(manifest, ("spec", "schedulingPolicy"))
    for field in ("podGroups", "podGroupTemplates"):
        templates = lookup(manifest.data, ("spec", field))
        if not isinstance(templates, list):
            continue
        if len(templates) > _TEMPLATES:
            yield Violation(
                ("spec", field),
                f"{len(templates)} groups, but a Workload has at most {_TEMPLATES}",
                "split it into several Workloads",
            )
        yield from _names(templates, ("spec", field))
        for position in range(len(templates)):
            for policy in ("policy", "schedulingPolicy"):
                yield from _policy(manifest, ("spec", field, position, policy))
                yield from _minimum(manifest, ("spec", field, position, policy, "gang", "minCount"))


def _policy(manifest: Manifest, path: Path) -> Iterator[Violation]:
    """Source: the union of `PodGroupSchedulingPolicy` (1.35 to 1.37)."""
    policy = lookup(manifest.data, path)
    if not isinstance(policy, dict) or any(map(is_placeholder, policy)):
        return
    there = [field for field in ("basic", "gang") if policy.get(field) is not None]
    if len(there) == 2:
        message = "the group has both basic and gang: only one is allowed"
        yield Violation((*path, "basic"), message, "keep gang if its pods start together", key=True)
    elif not there and not manifest.partial:
        message = "the group has neither basic nor gang"
        yield Violation(path, message, "write gang with minCount, or basic: {}", key=True)


def _names(templates: list[object], path: Path) -> Iterator[Violation]:
    seen: set[str] = set()
    for position, template in numbered(templates):
        name = text(template.get("name"))
        if not name or is_placeholder(name):
            continue
        where: Path = (*path, position, "name")
        if name in seen:
            yield Violation(where, f"group {name} is listed twice", "give each group a name of its own")
        elif fault := dns_label_problem(name):
            yield Violation(where, f"group {name!r} {fault}", "write another name")
        seen.add(name)


def _minimum(manifest: Manifest, path: Path) -> Iterator[Violation]:
    least = whole(lookup(manifest.data, path))
    if least is not None and least < 1:
        yield Violation(
            path,
            f"minCount is {least}, but must be at least 1",
            "write how many pods start together, or use basic",
        )


def _job(manifest: Manifest, minor: int | None) -> Iterator[Violation]:
    path = ("spec", "scheduling")
    if lookup(manifest.data, path) is None:
        return
    if minor is not None and minor < 37:
        yield Violation(
            path,
            "spec.scheduling of a Job requires Kubernetes 1.37 or later, "
            f"but the cluster is 1.{minor}: dropped",
            _alternative(minor),
            key=True,
        )
    yield from _minimum(manifest, (*path, "schedulingPolicy", "gang", "minCount"))


def _pods(manifest: Manifest, minor: int | None) -> Iterator[Violation]:
    for pod_set in pod_sets(manifest.data):
        has_ref, has_group = _REF in pod_set.spec, _GROUP_FIELD in pod_set.spec
        if has_ref and has_group:
            yield Violation(
                pod_set.place(_REF),
                f"the pods set {_REF} (1.35) and {_GROUP_FIELD} (1.36 or later): no release has both",
                f"keep {_GROUP_FIELD} for 1.36 or later",
                key=True,
            )
        elif has_ref and minor is not None and minor != 35:
            yield Violation(
                pod_set.place(_REF),
                f"{_REF} requires Kubernetes 1.35, but the cluster is 1.{minor}: dropped",
                _alternative(minor),
                key=True,
            )
        elif has_group and minor is not None and minor < 36:
            yield Violation(
                pod_set.place(_GROUP_FIELD),
                f"{_GROUP_FIELD} requires Kubernetes 1.36 or later, but the cluster is 1.{minor}: dropped",
                _alternative(minor),
                key=True,
            )


def _span(first: int, last: int | None) -> str:
    if last is None:
        return f"1.{first} or later"
    return f"1.{first}" if first == last else f"1.{first} to 1.{last}"


def _alternative(minor: int) -> str:
    if minor < 35:
        return "Kubernetes has gangs since 1.35: use Volcano, Koordinator or YuniKorn"
    if minor == 35:
        return "in 1.35 write scheduling.k8s.io/v1alpha1 Workload, and workloadRef in the pods"
    if minor == 36:
        return (
            "in 1.36 write scheduling.k8s.io/v1alpha2, and schedulingGroup in the pods (gate GangScheduling)"
        )
    return "write scheduling.k8s.io/v1beta1, and schedulingGroup in the pods (gate GenericWorkload)"


RULE = Rule(
    code="PK807",
    name="native-gang-version",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=("scheduling", "workloadRef"),
)
