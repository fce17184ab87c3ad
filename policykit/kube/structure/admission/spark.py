"""SparkApplications: what the operator, its webhook and Spark itself refuse."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from policykit.kube.cron import problem as schedule_problem
from policykit.kube.placeholders import is_filled_in
from policykit.kube.structure.admission.checks import (
    Data,
    name_of,
    ordered,
    refused,
    service_name,
    time_zone,
)
from policykit.kube.structure.problem import INCONSISTENT
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping, whole
from policykit.model.quantity import parse
from policykit.model.severity import Severity


def spark_application(data: Data) -> Iterator[Problem]:
    """Sources: `ExecutorAllocationManager` and `KubernetesUtils.buildResourcesQuantities` of Spark (3.5)."""
    yield from service_name(data, _WHO)
    yield from _spark(data, ("spec",))
    yield from _in_queue(data)


_QUEUE, _ELASTIC = "kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/elastic-job"


def _in_queue(data: Data) -> Iterator[Problem]:
    """Source: the webhook for SparkApplications of Kueue (0.14 to 0.19)."""
    metadata = mapping(data.get("metadata"))
    if not mapping(metadata.get("labels")).get(_QUEUE):
        return
    mode: Path = ("spec", "mode")
    if lookup(data, mode) == "client":
        yield refused(mode, "is client, but Kueue admits only drivers in pods", "write mode: cluster")
    path: Path = ("spec", "dynamicAllocation", "enabled")
    if lookup(data, path) is True and mapping(metadata.get("annotations")).get(_ELASTIC) != "true":
        what = "is true, but Kueue admits only applications whose size is fixed"
        advice = f'delete it, or make it an elastic job where Kueue has those: annotation {_ELASTIC}: "true"'
        yield refused(path, what, advice)


def scheduled_spark_application(data: Data) -> Iterator[Problem]:
    """As of the applications that it makes, and `ScheduledSparkApplication`'s own controller (v2.5)."""
    yield from service_name(data, _WHO)
    schedule, zone = lookup(data, ("spec", "schedule")), ("spec", "timeZone")
    if isinstance(schedule, str) and not is_filled_in(schedule) and (wrong := schedule_problem(schedule)):
        advice = "write minute, hour, day of the month, month and day of the week, as in `0 2 * * *`"
        yield refused(("spec", "schedule"), wrong, f"{advice}: the operator runs nothing")
    yield from time_zone(lookup(data, zone), zone)
    yield from _spark(data, ("spec", "template"))


_SPARK_RESOURCE = re.compile(r"spark\.(driver|executor)\.resource\.([^.]+)\.amount")


def _spark(data: Data, base: Path) -> Iterator[Problem]:
    conf: Path = (*base, "sparkConf")
    settings = mapping(lookup(data, conf))
    for key in settings:
        found = _SPARK_RESOURCE.fullmatch(key) if isinstance(key, str) else None
        if found and (vendor := f"{key.removesuffix('amount')}vendor") not in settings:
            yield refused(
                (*conf, key),
                f"has no vendor beside it: Spark makes no {found.group(1)} of an amount without one",
                f"add {vendor}: the resource is <vendor>/{found.group(2)}, such as nvidia.com/gpu",
                key=True,
                kind=INCONSISTENT,
            )
    yield from _configured(data, base, settings)
    yield from _claimed(settings, conf, lookup(data, (*base, "executor", "instances")))
    yield from _pods(mapping(lookup(data, base)), base)
    path: Path = (*base, "dynamicAllocation")
    stated = lookup(data, path)
    if isinstance(stated, dict) and stated.get("enabled") is True:
        yield from ordered(stated, path, "minExecutors", "maxExecutors", "the driver does not start")


_CLAIM = re.compile(
    r"(spark\.kubernetes\.executor\.volumes\.persistentVolumeClaim\.[^.]+\.options\.)claimName"
)
_OF_EACH = ("OnDemand", "SPARK_EXECUTOR_ID")


def _claimed(settings: Data, conf: Path, executors: object) -> Iterator[Problem]:
    """Each executor makes the claim. Source: `MountVolumesFeatureStep` of Spark (3.1 to 4.0)."""
    for key, name in settings.items():
        found = _CLAIM.fullmatch(key) if isinstance(key, str) else None
        made = found and all(f"{found.group(1)}{each}" in settings for each in ("storageClass", "sizeLimit"))
        if not made or not isinstance(name, str) or is_filled_in(name) or any(map(name.count, _OF_EACH)):
            continue
        if whole(executors) == 1:
            continue
        what = f"is {name}: each executor makes a claim of this name, and only the first one can"
        yield refused((*conf, key), what, "write OnDemand, for a claim of each executor", Severity.WARNING)


_WHO = "the operator's webhook refuses it"
_PODS = ("driver", "executor")
_DENIED: Mapping[str, str] = {
    "spark.kubernetes.authenticate.driver.serviceAccountName": "serviceAccount of the driver",
    "spark.kubernetes.authenticate.executor.serviceAccountName": "serviceAccount of the executor",
    "spark.kubernetes.container.image": "image",
    "spark.kubernetes.driver.container.image": "image of the driver",
    "spark.kubernetes.executor.container.image": "image of the executor",
    "spark.kubernetes.driver.master": "",
    "spark.master": "",
}
"""Settings to the field that replaces each; empty: the operator's alone."""
_NAMESPACE = "spark.kubernetes.namespace"


def _configured(data: Data, base: Path, settings: Data) -> Iterator[Problem]:
    """Source: `validateSparkConf` of the operator's webhook (v2.5)."""
    conf: Path = (*base, "sparkConf")
    namespace = name_of(mapping(data.get("metadata")), "namespace")
    for key, value in settings.items():
        if key in _DENIED:
            field = _DENIED[key]
            advice = f"write {field} instead" if field else "delete it: the operator sets it"
            what = "may not be set in sparkConf"
            yield refused((*conf, key), what, f"{advice}; release 2.5 refuses it", Severity.WARNING, key=True)
        elif key == _NAMESPACE and namespace and str(value) != namespace and not is_filled_in(str(value)):
            what = f"is {value}, but the application is in {namespace}"
            yield refused((*conf, key), what, "delete it; release 2.5 refuses it", Severity.WARNING)


def _pods(spec: Data, base: Path) -> Iterator[Problem]:
    """Sources: `validateSpec` of the operator's webhook (v2.0 to 2.5), `JavaUtils.byteStringAs` of Spark
    (3.5), and the API server, which refuses a pod that requests more than its limit."""
    for field in _PODS:
        pod = mapping(spec.get(field))
        if spec.get("nodeSelector") is not None and pod.get("nodeSelector") is not None:
            what = "conflicts with nodeSelector of the application"
            yield refused((*base, field, "nodeSelector"), what, f"delete one of the two: {_WHO}", key=True)
            break
    for field in _PODS:
        pod, at = mapping(spec.get(field)), (*base, field)
        for name in ("memory", "memoryOverhead"):
            written = pod.get(name)
            if isinstance(written, str) and not is_filled_in(written) and not _SIZE.fullmatch(written):
                what = f"is {written}, no amount of memory that Spark reads"
                yield refused((*at, name), what, _size(written))
        yield from _limited(pod, at)


_SIZE = re.compile(r"\s*[0-9]+(?:[bkmgtp]|[kmgtp]b)?\s*", re.IGNORECASE)
_AMOUNT = re.compile(r"\s*([0-9]+)\s*([kmgtp])i?b?\s*", re.IGNORECASE)


def _size(written: str) -> str:
    found = _AMOUNT.fullmatch(written)
    return f"write {found.group(1)}{found.group(2).lower()}" if found else "write a whole number: 8g or 512m"


def _limited(pod: Data, at: Path) -> Iterator[Problem]:
    stated = "coreRequest" if pod.get("coreRequest") is not None else "cores"
    requested, limit = parse(pod.get(stated)), parse(pod.get("coreLimit"))
    if requested is not None and limit is not None and requested.nanos > limit.nanos:
        what = f"is {pod['coreLimit']}, below {stated} {pod[stated]}"
        yield refused((*at, "coreLimit"), what, "raise it: the API server refuses the pod")
