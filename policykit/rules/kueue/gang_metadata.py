"""Metadata of Kueue's groups of plain pods."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Violation
from policykit.manifests.document import Manifest
from policykit.targets.kueue.names import POD_GROUP, POD_GROUP_TOTAL

_WHOLE = re.compile(r"[1-9][0-9]*\Z")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Source: `pkg/controller/jobs/pod/pod_webhook.go` of Kueue 0.19."""
    if (manifest.group, manifest.kind) != ("", "Pod"):
        return
    group, total = manifest.labels.get(POD_GROUP), manifest.annotations.get(POD_GROUP_TOTAL)
    if group and total is None and not manifest.partial:
        yield Violation(
            ("metadata", "labels", POD_GROUP),
            f"the pod is in group {group}, but its annotation {POD_GROUP_TOTAL} is missing",
            "set it to the number of pods in the group, quoted, the same in every pod",
        )
    elif total is not None and not group and not manifest.partial:
        yield Violation(
            ("metadata", "annotations", POD_GROUP_TOTAL),
            f"{POD_GROUP_TOTAL} is {total}, but the label {POD_GROUP} is missing",
            "set it to the name of the pod's group",
        )
    elif total is not None and not is_placeholder(total) and not _WHOLE.match(total):
        yield Violation(
            ("metadata", "annotations", POD_GROUP_TOTAL),
            f"{POD_GROUP_TOTAL} is {total!r}, not a whole number above 0",
            "write the number of pods in the group, quoted",
        )
