"""Jobs of Volcano, what carries the spec of one, and flows of jobs, as the webhooks admit them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.catalogue.volcano.argument import Release, release_text
from policykit.catalogue.volcano.job_plugins import JOB_PLUGINS
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import lookup
from policykit.manifests.shape import mapping, text, texts
from policykit.nearest import nearest
from policykit.targets.volcano.checks import ordering, policies, recurring, tasks, topology, volumes
from policykit.targets.volcano.checks.ordering import Waiting
from policykit.targets.volcano.checks.specs import Spec, specs
from policykit.targets.volcano.names import BATCH_GROUP, FLOW_GROUP

_LONGEST = 63
_TYPED = frozenset({"CronJob", "JobTemplate"})
"""Kinds whose schema lists the events in every release that has them."""


def faults(manifest: Manifest, have: Release | None) -> Iterator[Violation]:
    """Of a Job, a CronJob, a JobTemplate, a HyperJob or a JobFlow; `have`: the release, None the newest."""
    if manifest.group == BATCH_GROUP and manifest.kind == "CronJob":
        yield from recurring.faults(manifest)
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
    yield from tasks.faults(spec)
    yield from policies.faults(spec.data.get("policies"), (*spec.path, "policies"), have, typed=typed)
    listed = spec.data.get("tasks")
    for number, task in enumerate(listed if isinstance(listed, list) else ()):
        place = (*spec.path, "tasks", number, "policies")
        yield from policies.faults(mapping(task).get("policies"), place, have, typed=typed)
    for path, bound in topology.of_partitions(spec):
        yield from topology.both_tiers(bound, path)
    yield from _plugins(spec, have)
    yield from volumes.faults(spec)


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
    yield from ordering.faults(found)
