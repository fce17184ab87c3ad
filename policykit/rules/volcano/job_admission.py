"""Jobs of Volcano, what carries the spec of one, and flows of jobs, as the webhooks admit them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from policykit.catalogue.volcano.argument import Release, release_text
from policykit.catalogue.volcano.job_plugins import JOB_PLUGINS
from policykit.kube import cron
from policykit.kube.names import dns_subdomain_problem
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import lookup
from policykit.manifests.shape import mapping, text, texts
from policykit.nearest import nearest
from policykit.rules.volcano import dependencies, job_policies, job_specs, task_admission
from policykit.rules.volcano.dependencies import Waiting
from policykit.rules.volcano.job_specs import Spec, specs
from policykit.targets.volcano.names import BATCH_GROUP, FLOW_GROUP

_LONGEST = 63
_TYPED = frozenset({"CronJob", "JobTemplate"})
"""Kinds whose schema lists the events in every release that has them."""


def faults(manifest: Manifest, have: Release | None) -> Iterator[Violation]:
    """Of a Job, a CronJob, a JobTemplate, a HyperJob or a JobFlow; `have`: the release, None the newest."""
    if manifest.group == BATCH_GROUP and manifest.kind == "CronJob":
        yield from _cron_job(manifest)
    if manifest.group == FLOW_GROUP and manifest.kind == "JobFlow":
        yield from _flows(manifest)
    for spec in specs(manifest):
        yield from _job(spec, have, whole=not manifest.partial, typed=manifest.kind in _TYPED)
    if manifest.group == BATCH_GROUP and manifest.kind == "Job" and len(manifest.name) > _LONGEST:
        yield Violation(
            ("metadata", "name"),
            f"the name of the job has {len(manifest.name)} characters, the limit is {_LONGEST}",
            "give it a shorter one: its pods have more",
        )


def _job(spec: Spec, have: Release | None, *, whole: bool, typed: bool) -> Iterator[Violation]:
    if whole and spec.data.get("tasks") in (None, []):
        yield Violation(
            spec.path, "the job has no tasks", "write at least one, with a pod template", key=True
        )
    yield from task_admission.faults(spec)
    yield from job_policies.faults(spec.data.get("policies"), (*spec.path, "policies"), have, typed=typed)
    listed = spec.data.get("tasks")
    for number, task in enumerate(listed if isinstance(listed, list) else ()):
        place = (*spec.path, "tasks", number, "policies")
        yield from job_policies.faults(mapping(task).get("policies"), place, have, typed=typed)
    for path, bound in job_specs.of_partitions(spec):
        yield from job_specs.both_tiers(bound, path)
    yield from _plugins(spec, have)
    yield from _volumes(spec)


def _plugins(spec: Spec, have: Release | None) -> Iterator[Violation]:
    for name in mapping(spec.data.get("plugins")):
        if not isinstance(name, str) or is_placeholder(name):
            continue
        path, known = (*spec.path, "plugins", name), JOB_PLUGINS.get(name)
        if known is None:
            near = nearest(name, tuple(JOB_PLUGINS))
            advice = f"did you mean {near}?" if near else f"plugins are {', '.join(JOB_PLUGINS)}"
            yield Violation(path, f"Volcano has no job plugin {name}", advice, key=True)
        elif have and known.since and have < known.since:
            yield Violation(
                path,
                f"Volcano {release_text(have)} has no job plugin {name} (since {release_text(known.since)})",
                "take it out, or install a newer release",
                key=True,
            )


def _flows(manifest: Manifest) -> Iterator[Violation]:
    """Each flow waits for others of the list, by name."""
    listed = lookup(manifest.data, ("spec", "flows"))
    found = []
    for number, flow in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(flow, Mapping):
            path = ("spec", "flows", number, "dependsOn", "targets")
            targets = texts(mapping(flow.get("dependsOn")).get("targets"))
            found.append(Waiting("flow", text(flow.get("name")), path, targets))
    yield from dependencies.faults(found)


_LONGEST_CRON_JOB = 52
"""The Jobs' names have 11 characters more."""
_ZONE_PART = re.compile(r"[A-Za-z._0-9+-]{1,14}\Z")


def _cron_job(manifest: Manifest) -> Iterator[Violation]:
    """Source: `webhooks/admission/cronjobs/validate/admit_cronjob.go` (1.13 to 1.15)."""
    spec = mapping(manifest.data.get("spec"))
    yield from _schedule(spec.get("schedule"))
    yield from _zone(spec.get("timeZone"))
    if len(manifest.name) > _LONGEST_CRON_JOB and not is_placeholder(manifest.name):
        yield Violation(
            ("metadata", "name"),
            f"the name of the CronJob has {len(manifest.name)} characters, the limit is {_LONGEST_CRON_JOB}",
            "give it a shorter one: its jobs have 11 characters more",
        )


def _schedule(written: object) -> Iterator[Violation]:
    if not isinstance(written, str) or is_placeholder(written):
        return
    path = ("spec", "schedule")
    if not written:
        yield Violation(path, "schedule is empty", "write five fields: 0 2 * * * is every night at 2")
    elif "TZ" in written:
        yield Violation(path, f"schedule {written!r} has a time zone", "write it as timeZone")
    elif problem := cron.problem(written):
        yield Violation(
            path,
            f"schedule {written!r} {problem}",
            "write minute, hour, day of the month, month, day of the week",
        )


def _zone(written: object) -> Iterator[Violation]:
    if not isinstance(written, str) or is_placeholder(written):
        return
    parts = written.split("/")
    named = all(_ZONE_PART.match(part) and part not in (".", "..") and part[0] != "-" for part in parts)
    if not text(written) or written.lower() == "local" or not named:
        yield Violation(
            ("spec", "timeZone"),
            f"timeZone {written!r} is no name of a time zone",
            "write one of the IANA list, such as Asia/Shanghai, or leave it out",
        )


def _volumes(spec: Spec) -> Iterator[Violation]:
    """Source: `validateIO` in `webhooks/admission/jobs/validate/util.go` (1.8 to 1.15)."""
    listed = spec.data.get("volumes")
    seen: set[str] = set()
    for number, volume in enumerate(listed if isinstance(listed, list) else ()):
        if not isinstance(volume, Mapping):
            continue
        path = (*spec.path, "volumes", number)
        mount, name = text(volume.get("mountPath")), text(volume.get("volumeClaimName"))
        claim = volume.get("volumeClaim") is not None
        if mount and mount in seen:
            yield Violation(
                (*path, "mountPath"), f"two volumes are mounted at {mount}", "give each a path of its own"
            )
        seen.add(mount)
        if claim and name:
            yield Violation(
                (*path, "volumeClaim"),
                f"the volume names claim {name} and describes one too: it may have one of them",
                "keep volumeClaimName for a claim that exists, volumeClaim for a new one",
                key=True,
            )
        elif not claim and volume.get("volumeClaimName") in (None, ""):
            yield Violation(
                path, "the volume has neither volumeClaimName nor volumeClaim", "say which claim it is"
            )
        elif name and not is_placeholder(name) and (problem := dns_subdomain_problem(name)):
            yield Violation((*path, "volumeClaimName"), f"volumeClaimName {name!r} {problem}", "correct it")
