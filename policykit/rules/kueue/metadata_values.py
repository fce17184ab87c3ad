"""Values of labels and annotations that Kueue's webhooks refuse."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.names import dns_subdomain_problem
from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.document import Manifest
from policykit.manifests.shape import digits
from policykit.targets.kueue.names import MANAGED, MAX_SECONDS, POD_GROUP, PREBUILT, QUEUE_NAME

_NAMES = ((QUEUE_NAME, "queue"), (PREBUILT, "workload"), (POD_GROUP, "group"))


def check(manifest: Manifest, *, serving: bool) -> Iterator[Violation]:
    """Of an object with pods; of those that serve, the queue alone is checked.

    Sources: `pkg/controller/jobframework/validation.go`, `pkg/controller/jobs` (0.9 to 0.19).
    """
    labels = {key: value for key, value in manifest.labels.items() if not is_placeholder(value)}
    for key, what in _NAMES[:1] if serving else _NAMES:
        fault = dns_subdomain_problem(labels.get(key, "")) if labels.get(key) else ""
        if fault:
            message = f"{what} {labels[key]!r} {fault}: Kueue's webhook refuses it"
            yield Violation(("metadata", "labels", key), message, f"write the name of a {what}")
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
