"""Facts about policies of the descheduler in ConfigMaps, and about the images that are started with them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from policykit.kube.command_line import configuration
from policykit.kube.podsets.podset import PodSet
from policykit.kube.requests import containers
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.shape import text
from policykit.model.scheduler_images import DeschedulerNeed, StartedDescheduler
from policykit.targets.kubernetes.descheduler import (
    FIRST_WITH_VERSION,
    FIRST_WITHOUT_OLD,
    OLD_VERSION,
    POLICY,
    READ_BEFORE,
    READ_SINCE,
    VERSION,
    dated,
    plugin_args,
)

_IMAGE = re.compile(r"/descheduler:v?0\.([0-9]{1,3})\.[0-9]+")


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterable[Fact]:
    """Of a policy that a ConfigMap holds, or of pods."""
    if manifest.partial:
        return
    holder = manifest.holder
    if holder is not None:
        if manifest.kind == POLICY and holder.kind == "ConfigMap" and len(manifest.held_at) > 1:
            yield from _needs(manifest, holder, context)
        return
    for pod_set in pod_sets:
        for _, _, container in containers(pod_set.spec):
            image = text(container.get("image"))
            found = _IMAGE.search(image)
            file = configuration(container, pod_set.spec, "--policy-config-file") if found else None
            if found and file:
                namespace, what = manifest.namespace or context.namespace, f"{manifest.kind} {manifest.name}"
                value = StartedDescheduler(namespace, file.name, file.key, image, int(found[1]), what)
                yield Fact(value, {})


def _needs(manifest: Manifest, holder: Manifest, context: Context) -> Iterator[Fact]:
    where = (holder.namespace or context.namespace, holder.name, str(manifest.held_at[-1]))
    if manifest.api_version == VERSION:
        yield Fact(DeschedulerNeed(*where, VERSION, FIRST_WITH_VERSION, 0), {"need": ("apiVersion",)})
    elif manifest.api_version == OLD_VERSION:
        yield Fact(DeschedulerNeed(*where, OLD_VERSION, 0, FIRST_WITHOUT_OLD), {"need": ("apiVersion",)})
    for entry in plugin_args(manifest.data):
        ends = dict(dated(entry, READ_BEFORE))
        for key, first in {**dict.fromkeys(ends, 0), **dict(dated(entry, READ_SINCE))}.items():
            what = f"{'.'.join(key[1:])} of {entry.plugin}"
            need = DeschedulerNeed(*where, what, first, ends.get(key, 0))
            yield Fact(need, {"need": (*entry.path, "args", *key[1:])})
