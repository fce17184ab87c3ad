"""Files of the host that flags name, and that no volume brings into the container."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policykit.kube.command_line import arguments, last_flag
from policykit.kube.placeholders import is_filled_in
from policykit.kube.podsets.podset import PodSet
from policykit.kube.requests import containers
from policykit.linter.rule import Violation
from policykit.manifests.shape import mappings, text
from policykit.model.severity import Severity
from policykit.targets.program_flags import CONFIGURATION_FLAGS

_ALWAYS = ("/var/run/secrets/", "/run/secrets/", "/dev/", "/proc/", "/etc/hosts")


def unmounted(pod_set: PodSet) -> Iterator[Violation]:
    """In a warning where the image may be one's own, with the file in it."""
    for field, position, container in containers(pod_set.spec):
        words = arguments(container)
        image = text(container.get("image")).partition("@")[0].rpartition("/")[2].partition(":")[0]
        run = {word.rpartition("/")[2] for word, _ in words[:3]} | {image}
        program = next((name for name in CONFIGURATION_FLAGS if name in run), "")
        if not program:
            continue
        mounts = [text(each.get("mountPath")) for each in mappings(container.get("volumeMounts"))]
        for flag in CONFIGURATION_FLAGS[program]:
            stated = last_flag(words, flag)
            if stated and is_missing(stated[0], mounts):
                yield Violation(
                    pod_set.place(field, position, *stated[1]),
                    f"{flag} names {stated[0]}, but no volume is mounted there: {program} does not start",
                    "mount the ConfigMap or the host's file there",
                    None if _is_stock(container) else Severity.WARNING,
                )


def _is_stock(container: Mapping[str, Any]) -> bool:
    return text(container.get("image")).startswith(
        ("registry.k8s.io/kube-scheduler:", "k8s.gcr.io/kube-sched")
    )


def is_missing(file: str, mounts: Iterable[str]) -> bool:
    """Whether an absolute path is below none of the mounts."""
    if not file.startswith("/") or is_filled_in(file) or file.startswith(_ALWAYS):
        return False
    for each in mounts:
        folder = each.rstrip("/")
        if not each.startswith("/") or file == folder or file.startswith(f"{folder}/"):
            return False
    return True
