"""Values of labels and annotations that Kueue's webhooks refuse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policykit.kube.names import dns_subdomain_problem
from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.manifests.shape import digits
from policykit.model.severity import Severity
from policykit.targets.kueue import versions
from policykit.targets.kueue.names import (
    ELASTIC,
    ELASTIC_KINDS,
    GATES,
    MANAGED,
    MAX_SECONDS,
    POD_GROUP,
    PREBUILT,
    QUEUE_NAME,
    TARGET_NAME,
    framework_of,
)

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster
    from policykit.model.release import Version

_QUEUE, _WORKLOAD, _GROUP = (QUEUE_NAME, "queue"), (PREBUILT, "workload"), (POD_GROUP, "group")


_SERVING = frozenset({"Deployment", "LeaderWorkerSet", "StatefulSet"})
"""Kinds of which the queue alone is checked."""


def check(manifest: Manifest, cluster: Cluster | None) -> Iterator[Violation]:
    """Of an object that Kueue may admit.

    Sources: `pkg/controller/jobframework/validation.go`, `pkg/controller/jobs` (0.9 to 0.19).
    """
    if not framework_of(manifest.group, manifest.kind):
        return
    serving = manifest.kind in _SERVING
    labels = {key: value for key, value in manifest.labels.items() if not is_placeholder(value)}
    jobs = (_QUEUE,) if serving else (_QUEUE, _WORKLOAD)
    for key, what in (*jobs, _GROUP) if manifest.kind == "Pod" else jobs:
        if fault := dns_subdomain_problem(labels[key]) if labels.get(key) else "":
            message = f"{what} {labels[key]!r} {fault}: Kueue's webhook refuses it"
            yield Violation(("metadata", "labels", key), message, f"write the name of a {what}")
    if labels.get(QUEUE_NAME) == "":
        # Where there is no Kueue it may be meant to say so.
        severity = None if cluster and TARGET_NAME in cluster.targets else Severity.WARNING
        message = f"{QUEUE_NAME} is empty: Kueue's webhook refuses the {manifest.kind}"
        yield Violation(
            ("metadata", "labels", QUEUE_NAME), message, "name a LocalQueue, or delete it", severity
        )
    have = versions.release_of(cluster)
    yield from _elastic(manifest, have)
    if not serving:
        yield from _gates(manifest.annotations.get(GATES, ""), have)
        yield from _prebuilt(manifest, have)
    seconds = labels.get(MAX_SECONDS)
    if seconds is not None and not digits(seconds) and not serving:
        message = f"{MAX_SECONDS} is {seconds!r}, not a number of seconds above 0"
        yield Violation(
            ("metadata", "labels", MAX_SECONDS), message, 'write seconds: "3600": Kueue refuses the job'
        )
    if manifest.kind != "Pod":
        return
    if labels.get(MANAGED, "true") != "true":
        message = f"{MANAGED} is {labels[MANAGED]!r}: Kueue's webhook takes only true"
        yield Violation(("metadata", "labels", MANAGED), message, "delete it: Kueue adds it to its pods")
    group, workload = labels.get(POD_GROUP), labels.get(PREBUILT)
    if group and workload and group != workload:
        message = f"the pod is in group {group}, but of workload {workload}: Kueue's webhook refuses it"
        yield Violation(("metadata", "labels", PREBUILT), message, f"write {group} in both")


_LONGEST_GATE = 63


def _gates(stated: str, have: Version | None) -> Iterator[Violation]:
    """Source: `validateAdmissionGatedByAnnotationFormat` (0.17 to 0.19)."""
    names = [each.strip() for each in stated.split(",")] if stated and not is_placeholder(stated) else []
    fault = ""
    for position, name in enumerate(names):
        domain, _, rest = name.partition("/")
        if not name:
            fault = "has an empty name"
        elif name in names[:position]:
            fault = f"has {name} twice"
        elif not domain or not rest or dns_subdomain_problem(domain):
            fault = f"has {name}, without a domain before a slash"
        elif len(name) > _LONGEST_GATE:
            fault = f"has a name of {len(name)} characters, more than {_LONGEST_GATE}"
    if fault and (have is None or have >= versions.GATES):
        yield Violation(
            ("metadata", "annotations", GATES),
            f"{GATES} {fault}: Kueue refuses the job since {versions.GATES}",
            "write names such as example.com/quota-approved, with commas between",
            Severity.WARNING if have is None else None,
        )
    elif names and have is not None and have < versions.GATES:
        what = f"Kueue {have} does not wait for {GATES} unless its feature gate AdmissionGatedBy is on"
        advice = f"turn the gate on, or use Kueue {versions.GATES}"
        yield Violation(("metadata", "annotations", GATES), what, advice, Severity.INFO, key=True)


_OWN_WORKLOAD = frozenset({"JAXJob", "SparkApplication"})
"""Kinds of jobs for which Kueue always makes the Workload itself."""


def _prebuilt(manifest: Manifest, have: Version | None) -> Iterator[Violation]:
    """Source: `validateCreateForPrebuiltWorkload` (0.9 to 0.19)."""
    stated = manifest.annotations.get(PREBUILT, "")
    at: Path = ("metadata", "annotations", PREBUILT)
    old = have is not None and have < versions.PREBUILT_ANNOTATION
    if old and stated and PREBUILT not in manifest.labels:
        what = f"{PREBUILT} is an annotation, which Kueue reads since {versions.PREBUILT_ANNOTATION}"
        yield Violation(at, what, "make it a label, in metadata.labels", Severity.WARNING, key=True)
    elif stated and not old and not is_placeholder(stated) and (fault := dns_subdomain_problem(stated)):
        message = f"workload {stated!r} {fault}: Kueue's webhook refuses it"
        yield Violation(at, message, "write the name of a workload", Severity.WARNING if not have else None)
    if manifest.kind in _OWN_WORKLOAD and (manifest.labels.get(PREBUILT) or (stated and not old)):
        where: Path = ("metadata", "labels", PREBUILT) if PREBUILT in manifest.labels else at
        what = f"a {manifest.kind} cannot have a prebuilt workload: Kueue's webhook refuses it"
        yield Violation(where, what, f"delete {PREBUILT}", Severity.WARNING, key=True)


def _elastic(manifest: Manifest, have: Version | None) -> Iterator[Violation]:
    """Source: `ValidateElasticJobAnnotation` (0.18 and 0.19)."""
    if manifest.kind in ELASTIC_KINDS or manifest.annotations.get(ELASTIC) != "true":
        return
    refused = have is not None and have >= versions.ELASTIC_CHECKED
    since = "" if refused else f": Kueue refuses that since {versions.ELASTIC_CHECKED}"
    yield Violation(
        ("metadata", "annotations", ELASTIC),
        f"{ELASTIC} is true, but a {manifest.kind} cannot be elastic{since}",
        f"delete it: elastic are {', '.join(ELASTIC_KINDS)}",
        None if refused else Severity.WARNING,
        key=True,
    )
