"""Jobs of Volcano, what carries the spec of one, and flows of jobs, as the webhooks admit them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from policykit.catalogue.volcano import job_plugins
from policykit.catalogue.volcano.wording import Release
from policykit.kube import cron
from policykit.kube.names import dns_subdomain_problem
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Violation, violation_of
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, text, texts
from policykit.rules.volcano.dependencies import Dependent, dependency_violations
from policykit.rules.volcano.job_policies import policy_violations
from policykit.rules.volcano.job_specs import Spec, both_tiers, partition_topologies, policy_lists, specs
from policykit.rules.volcano.task_admission import task_violations
from policykit.targets.volcano.names import BATCH_GROUP, FLOW_GROUP

_LONGEST = {"Job": 63, "CronJob": 52}
"""Characters of a name; the names of a CronJob's jobs have 11 more."""
_TYPED = frozenset({"CronJob", "JobTemplate"})
"""Kinds whose schema lists the events in every release that has them."""
_ZONE_PART = re.compile(r"[A-Za-z._0-9+-]{1,14}\Z")


def job_violations(manifest: Manifest, have: Release | None) -> Iterator[Violation]:
    """Of a Job, a CronJob, a JobTemplate, a HyperJob or a JobFlow; `have`: the release, None the newest."""
    if manifest.group == BATCH_GROUP:
        yield from _name(manifest)
        if manifest.kind == "CronJob":
            yield from _schedule(manifest)
    if manifest.group == FLOW_GROUP and manifest.kind == "JobFlow":
        yield from _flows(manifest)
    for spec in specs(manifest):
        yield from _job(spec, have, whole=not manifest.partial, typed=manifest.kind in _TYPED)


def _name(manifest: Manifest) -> Iterator[Violation]:
    longest = _LONGEST.get(manifest.kind)
    if longest and len(manifest.name) > longest and not is_placeholder(manifest.name):
        yield Violation(
            ("metadata", "name"),
            f"the name of the {manifest.kind} has {len(manifest.name)} characters, more than {longest}",
            "shorten it: Volcano appends to it to name what it creates",
        )


def _job(spec: Spec, have: Release | None, *, whole: bool, typed: bool) -> Iterator[Violation]:
    if whole and spec.data.get("tasks") in (None, []):
        yield Violation(spec.path, "the job has no tasks", "add at least one, with a pod template", key=True)
    yield from task_violations(spec)
    for listed, path in policy_lists(spec):
        yield from policy_violations(listed, path, have, typed=typed)
    for path, topology in partition_topologies(spec):
        yield from both_tiers(topology, path)
    yield from _plugins(spec, have)
    yield from _volumes(spec)


def _plugins(spec: Spec, have: Release | None) -> Iterator[Violation]:
    """Unknown ones; what others are told is a matter of PK515."""
    names = [name for name in mapping(spec.data.get("plugins")) if isinstance(name, str)]
    for problem in job_plugins.check({name: () for name in names if not is_placeholder(name)}, have):
        yield violation_of(problem, (*spec.path, "plugins"))


def _flows(manifest: Manifest) -> Iterator[Violation]:
    """Each flow depends on others of the list, by name."""
    listed = lookup(manifest.data, ("spec", "flows"))
    found = []
    for number, flow in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(flow, Mapping):
            path = ("spec", "flows", number, "dependsOn", "targets")
            targets = texts(mapping(flow.get("dependsOn")).get("targets"))
            found.append(Dependent("flow", text(flow.get("name")), path, targets))
    yield from dependency_violations(found)


def _schedule(manifest: Manifest) -> Iterator[Violation]:
    """Source: `webhooks/admission/cronjobs/validate/admit_cronjob.go` (1.13 to 1.15)."""
    spec = mapping(manifest.data.get("spec"))
    path, written = ("spec", "schedule"), spec.get("schedule")
    if isinstance(written, str) and not is_placeholder(written):
        if not written:
            yield Violation(path, "schedule is empty", "write five fields: 0 2 * * * is every night at 2")
        elif "TZ" in written:
            yield Violation(path, f"schedule {written!r} contains a time zone", "set timeZone instead")
        elif problem := cron.problem(written):
            advice = "write minute, hour, day of the month, month, day of the week"
            yield Violation(path, f"schedule {written!r} {problem}", advice)
    zone = spec.get("timeZone")
    if isinstance(zone, str) and not is_placeholder(zone) and not _is_zone(zone):
        yield Violation(
            ("spec", "timeZone"),
            f"timeZone {zone!r} is not a time zone",
            "write a name from the IANA list, such as Asia/Shanghai, or remove it",
        )


def _is_zone(name: str) -> bool:
    parts = name.split("/")
    named = all(_ZONE_PART.match(part) and part not in (".", "..") and part[0] != "-" for part in parts)
    return named and bool(name) and name.lower() != "local"


def _volumes(spec: Spec) -> Iterator[Violation]:
    """Source: `validateIO` in `webhooks/admission/jobs/validate/util.go` (1.8 to 1.15)."""
    listed = spec.data.get("volumes")
    seen: set[str] = set()
    for number, volume in enumerate(listed if isinstance(listed, list) else ()):
        if not isinstance(volume, Mapping):
            continue
        path = (*spec.path, "volumes", number)
        mount = text(volume.get("mountPath"))
        if mount and mount in seen:
            yield Violation((*path, "mountPath"), f"two volumes are mounted at {mount}", "use another path")
        seen.add(mount)
        yield from _claim(volume, path)


def _claim(volume: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    name, claim = text(volume.get("volumeClaimName")), volume.get("volumeClaim") is not None
    if claim and name:
        yield Violation(
            (*path, "volumeClaim"),
            f"the volume has both volumeClaimName {name} and volumeClaim: only one is allowed",
            "keep volumeClaimName for an existing claim, volumeClaim for a new one",
            key=True,
        )
    elif not claim and volume.get("volumeClaimName") in (None, ""):
        yield Violation(path, "the volume has neither volumeClaimName nor volumeClaim", "add one of them")
    elif name and not is_placeholder(name) and (problem := dns_subdomain_problem(name)):
        message = f"volumeClaimName {name!r} {problem}"
        yield Violation((*path, "volumeClaimName"), message, "correct the name")
