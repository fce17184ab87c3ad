"""Facts about fair sharing: whether Kueue's configuration enables it, and what depends on that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, text
from policykit.model.kueue import FairSharing, FairSharingField
from policykit.model.quantity import parse
from policykit.targets.kueue.names import CONFIGURATION, CONFIGURATION_GROUP, GROUP
from policykit.targets.kueue.objects.queues import CLUSTER_QUEUE, COHORT, LOCAL_QUEUE

_WEIGHT: Path = ("spec", "fairSharing", "weight")
_BORROW: Path = ("spec", "preemption", "borrowWithinCohort")
_MODE: Path = ("spec", "admissionScope", "admissionMode")
_BY_USAGE = "UsageBasedAdmissionFairSharing"


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterable[Fact]:
    """Source: `pkg/cache/scheduler/fair_sharing.go`, `pkg/util/admissionfairsharing` (0.11 to 0.19)."""
    if manifest.kind == CONFIGURATION and manifest.group == CONFIGURATION_GROUP:
        return (_enabled(manifest),)
    if manifest.group != GROUP or manifest.partial:
        return ()
    return _fields(manifest)


def _enabled(manifest: Manifest) -> Fact:
    """In v1beta1 by `enable: true`, since then by the section itself."""
    section = manifest.data.get("fairSharing")
    stated = mapping(section).get("enable", manifest.api_version != f"{CONFIGURATION_GROUP}/v1beta1")
    queues = section is not None and stated is not False
    unknown = is_placeholder(text(section)) or is_placeholder(text(stated))
    value = FairSharing(queues, manifest.data.get("admissionFairSharing") is not None, unknown)
    return Fact(value, {}, answers=True)


def _fields(manifest: Manifest) -> Iterator[Fact]:
    weight = lookup(manifest.data, _WEIGHT)
    # A weight of 1 is what a queue has anyway.
    found = parse(weight)
    if found is not None and found != parse(1):
        admission = manifest.kind == LOCAL_QUEUE
        if admission or manifest.kind in (CLUSTER_QUEUE, COHORT):
            yield _field(_WEIGHT, f"fairSharing.weight is {weight}", admission, True)
    if manifest.kind != CLUSTER_QUEUE:
        return
    policy = text(lookup(manifest.data, (*_BORROW, "policy")))
    if policy not in ("", "Never") and not is_placeholder(policy):
        yield _field(_BORROW, f"borrowWithinCohort is {policy}", False, False)
    if lookup(manifest.data, _MODE) == _BY_USAGE:
        yield _field(_MODE, f"admissionMode is {_BY_USAGE}", True, True)


def _field(path: Path, stated: str, admission: bool, needs: bool) -> Fact:
    return Fact(FairSharingField(str(path[1]), stated, admission, needs), {"field": path})
